#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    return *(const int *) a - *(const int *) b;
}

int mian(void)
{
    int v[] = { 5, 2, 9, 1 };
    qsort(v, 4, sizeof v[0], compare);
    for (int i = 0; i < 4; i++)
        printf("%d ", v[i]);
    puts("");
    return 0;
}
