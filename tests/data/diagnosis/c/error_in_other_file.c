#include <stdio.h>

int sum(const int *values, int n);

int main(void) {
    int values[] = {1, 2, 3};
    printf("%d\n", sum(values, 3));
    return 0;
}
