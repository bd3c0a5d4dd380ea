#include <stdio.h>

int mian(void) {
    printf("hello\n");
    return 0;
}
