#include <stdlib.h>
#include <stdio.h>

struct stop {
    int number;
    struct stop *after;
};

struct stop *add(struct stop *first, int number) {
    struct stop *made = calloc(1, sizeof *made);
    made->number = number;
    struct stop *last = first;
    while (last->after != NULL)
        last = last->after;
    last->after = made;
    return first;
}

int main(void) {
    struct stop *line = NULL;
    line = add(line, 12);
    line = add(line, 15);
    printf("%d\n", line->number);
    return 0;
}
