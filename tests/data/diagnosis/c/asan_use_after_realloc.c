#include <stdio.h>
#include <stdlib.h>

typedef struct { int *data; size_t n, cap; } vec;

static void push(vec *v, int x)
{
    if (v->n == v->cap) {
        v->cap = v->cap ? v->cap * 4 : 2;
        v->data = realloc(v->data, v->cap * sizeof *v->data);
    }
    v->data[v->n++] = x;
}

int main(void)
{
    vec v = { 0 };
    push(&v, 10);
    int *first = &v.data[0];
    for (int i = 0; i < 100; i++)
        push(&v, i);
    printf("%d\n", *first);
    free(v.data);
    return 0;
}
