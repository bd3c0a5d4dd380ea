#include <stdio.h>

struct point {
    int x;
    int y;
}

int distance(struct point a, struct point b)
{
    return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
}

int main(void)
{
    struct point p = { 1, 2 }, q = { 4, 6 };
    printf("%d\n", distance(p, q));
    return 0;
}
