#include <stdio.h>

#define N 6

static int sum(const int *values, int n)
{
    int total = 0;
    for (int i = 0; i <= n; i++)
        total += values[i];
    return total;
}

int main(void)
{
    int marks[N] = { 4, 8, 15, 16, 23, 42 };
    printf("sum: %d\n", sum(marks, N));
    return 0;
}
