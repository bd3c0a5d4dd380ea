#include <stdio.h>

struct point {
    int x;
    int y;
};

int main(void) {
    struct point p = {1, 2};
    int n;
    n = p;
    printf("%d\n", n);
    return 0;
}
