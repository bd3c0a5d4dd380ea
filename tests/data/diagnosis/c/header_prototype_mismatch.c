#include <stdio.h>
#include "stats.h"

double mean(const int *values, int n) {
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += values[i];
    return (double) sum / n;
}

int main(void) {
    int v[] = {1, 2, 3};
    printf("%f\n", mean(v, 3));
    return 0;
}
