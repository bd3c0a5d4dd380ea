#include <stdio.h>

static int scale(int n) {
    return n * 2;
}

static double scale(double n) {
    return n * 2;
}

int main(void) {
    printf("%d\n", scale(2));
    return 0;
}
