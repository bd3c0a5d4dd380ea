#include <stdio.h>
#include <stdlib.h>
struct node { int v; struct node *next; };
struct node *find(struct node *h, int v) {
    while (h->v != v) h = h->next;
    return h;
}
int main(void) {
    struct node a = {1, NULL};
    printf("%d\n", find(&a, 3)->v);
    return 0;
}
