#include <stdio.h>

struct node {
    int value;
    struct node *next;
};

static struct node *push(struct node *head, int value)
{
    struct node *n = malloc(sizeof *n);
    n->value = value;
    n->next = head;
    return n;
}

int main(void)
{
    struct node *list = NULL;
    for (int i = 0; i < 5; i++)
        list = push(list, i);
    for (struct node *n = list; n; n = n->next)
        printf("%d\n", n->value);
    return 0;
}
