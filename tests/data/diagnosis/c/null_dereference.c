#include <stdio.h>

struct node {
    int value;
    struct node *next;
};

int main(void) {
    struct node first = {1, NULL};
    struct node *volatile n = &first;
    while (1) {
        printf("%d\n", n->value);
        n = n->next;
    }
}
