#include <stdio.h>
#include <stdlib.h>

struct node { int value; struct node *next; };

static int sum(struct node *head)
{
    int total = 0;
    while (head != NULL) {
        total += head.value;
        head = head->next;
    }
    return total;
}

int main(void)
{
    struct node b = { 2, NULL }, a = { 1, &b };
    printf("%d\n", sum(&a));
    return 0;
}
