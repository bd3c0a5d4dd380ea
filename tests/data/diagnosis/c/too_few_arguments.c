#include <stdio.h>

static int power(int base, int exponent) {
    return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

int main(void) {
    printf("%d\n", power(2));
    return 0;
}
