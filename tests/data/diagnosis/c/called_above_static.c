#include <stdio.h>

int main(void) {
    printf("%d\n", twice(4));
    return 0;
}

static int twice(int n) {
    return 2 * n;
}
