#include <stdio.h>
struct P { int x; };
int main(void) {
    struct P p = {1};
    printf("%d\n", p->x);
    return 0;
}
