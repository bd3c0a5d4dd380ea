#include <stdio.h>
#include <stdlib.h>

static int **make_matrix(int rows, int cols)
{
    int **m = calloc((size_t) rows, sizeof(int *));
    for (int r = 0; r < rows - 1; r++)
        m[r] = calloc((size_t) cols, sizeof(int));
    return m;
}

static void fill(int **m, int rows, int cols)
{
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++)
            m[r][c] = r * c;
}

int main(void)
{
    int **m = make_matrix(4, 5);
    fill(m, 4, 5);
    printf("%d\n", m[3][4]);
    return 0;
}
