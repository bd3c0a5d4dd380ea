#include <stdio.h>

int main(int argc, char **argv) {
    (void)argv;
    int people = argc - 1;
    printf("%d\n", 100 / people);
    return 0;
}
