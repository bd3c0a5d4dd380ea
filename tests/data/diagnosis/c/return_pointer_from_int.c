#include <stdio.h>

struct box { int w; };

static struct box make(int w) {
    return w;
}

int main(void) {
    printf("%d\n", make(3).w);
    return 0;
}
