#include <stdio.h>

static int gcd(int a, int b)
{
    while (a != b) {
        int r = a % b;
        a = b;
        b = r;
    }
    return a;
}

int main(void)
{
    printf("%d\n", gcd(12, 18));
    return 0;
}
