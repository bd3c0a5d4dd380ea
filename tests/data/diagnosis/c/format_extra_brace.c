#include <stdio.h>

static int largest(const int *v, int n)
{
    int best = v[0];
    for (int i = 1; i < n; i++) {
        if (v[i] > best)
            best = v[i];
        }
    }
    return best;
}

int main(void)
{
    int v[] = { 3, 8, 1 };
    printf("%d\n", largest(v, 3));
    return 0;
}
