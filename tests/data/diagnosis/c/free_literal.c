#include <stdio.h>
#include <stdlib.h>

int main(void) {
    char *greeting = "good morning";
    puts(greeting);
    free(greeting);
    return 0;
}
