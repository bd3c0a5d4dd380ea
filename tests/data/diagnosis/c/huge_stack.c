#include <stdio.h>
int main(void) {
    double grid[4000][4000];
    for (int i = 0; i < 4000; i++) for (int j = 0; j < 4000; j++) grid[i][j] = i + j;
    printf("%f\n", grid[3][3]);
    return 0;
}
