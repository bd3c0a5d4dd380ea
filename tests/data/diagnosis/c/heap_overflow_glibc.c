#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    (void)argv;
    char *small = malloc(8);
    char *next = malloc(8);
    memset(small, 'x', (size_t)argc * 60);
    char *large = malloc(40000);
    puts("filled");
    free(large);
    free(next);
    free(small);
    return 0;
}
