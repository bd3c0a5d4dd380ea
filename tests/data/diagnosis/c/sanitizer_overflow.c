#include <limits.h>
#include <stdio.h>

static int twice(int n) {
    return n * 2;
}

int main(void) {
    printf("%d\n", twice(INT_MAX));
    return 0;
}
