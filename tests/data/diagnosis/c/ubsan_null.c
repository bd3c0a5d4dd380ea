#include <stdio.h>
#include <stdlib.h>

struct account {
    int id;
    double balance;
};

static struct account *find(struct account *all, size_t n, int id)
{
    for (size_t i = 0; i < n; i++)
        if (all[i].id == id)
            return &all[i];
    return NULL;
}

int main(void)
{
    struct account all[] = { { 1, 10.0 }, { 2, 20.0 } };
    struct account *a = find(all, 2, 3);
    printf("%.2f\n", a->balance);
    return 0;
}
