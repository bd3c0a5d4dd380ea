#include <stdio.h>

static int depth(const int *parent) {
    volatile int pad[1024];
    int n = *parent + 1;
    pad[n & 1023] = n;
    return depth(&n) + pad[n & 1023];
}

int main(void) {
    int start = 0;
    printf("%d\n", depth(&start));
    return 0;
}
