#include <stdio.h>
#include <stdlib.h>

typedef struct Stack {
    int *items;
    int top;
    int capacity;
} Stack;

Stack *createStack(int capacity) {
    Stack *s = malloc(sizeof(Stack));
    s->items = malloc(capacity * sizeof(int));
    s->top = -1;
    s->capacity = capacity;
    return s;
}

void push(stack *s, int x) {
    s->items[++s->top] = x;
}

int main() {
    Stack *s = createStack(10);
    push(s, 3);
    printf("%d\n", s->items[0]);
    return 0;
}
