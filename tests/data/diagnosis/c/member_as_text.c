#include <stdio.h>

struct city {
    const char *name;
    long people;
};

int main(void) {
    struct city cities[] = {{"Oulu", 215}, {"Turku", 202}};
    for (int i = 0; i < 2; i++)
        printf("%s: %s thousand\n", cities[i].name, cities[i].people);
    return 0;
}
