#include <stdio.h>

enum op { ADD, SUB };

struct task { enum op op; int a, b; };

static int run(const struct task *t)
{
    switch (t) {
    case ADD: return t->a + t->b;
    case SUB: return t->a - t->b;
    }
    return 0;
}

int main(void)
{
    struct task t = { ADD, 1, 2 };
    printf("%d\n", run(&t));
    return 0;
}
