#include <stdio.h>
#include <curl/curl.h>

int main(void) {
    printf("hello\n");
    return 0;
}
