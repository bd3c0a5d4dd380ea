#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    (void)argv;
    int *values = malloc((size_t)(argc + 2) * sizeof *values);
    for (int i = 0; i <= argc + 2; i++)
        values[i] = i;
    printf("%d\n", values[0] + values[argc]);
    free(values);
    return 0;
}
