#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int32_t bit(int32_t n)
{
    return 1 << n;
}

int main(int argc, char **argv)
{
    (void) argv;
    for (int32_t i = 0; i < 30 + argc * 4; i++)
        printf("%d\n", bit(i));
    return EXIT_SUCCESS;
}
