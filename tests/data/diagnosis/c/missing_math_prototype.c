#include <stdio.h>

int clamp(int v, int lo, int hi);
int scale(int v);

int scale(int v)
{
    return v * 2;
}

int main(void)
{
    for (int i = -2; i < 3; i++)
        printf("%d\n", scale(clamp(i, 0, 1)));
    return 0;
}
