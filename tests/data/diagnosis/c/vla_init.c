#include <stdio.h>
int main(void) {
    int rows = 3;
    int m[rows][rows] = {0};
    printf("%d\n", m[0][0]);
    return 0;
}
