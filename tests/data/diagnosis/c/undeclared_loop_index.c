#include <stdio.h>

static int find(const int *v, int n, int wanted)
{
    for (int i = 0; i < n; i++) {
        if (v[i] == wanted)
            break;
    }
    return i < n ? i : -1;
}

int main(void)
{
    int v[] = { 4, 5, 6 };
    printf("%d\n", find(v, 3, 6));
    return 0;
}
