#include <stdio.h>
#include <string.h>
int main(void) {
    char *msg = "hello ";
    strcat(msg, "world");
    puts(msg);
    return 0;
}
