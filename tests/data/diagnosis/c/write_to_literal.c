#include <stdio.h>

int main(void) {
    char *name = "belljar";
    name[0] = 'B';
    puts(name);
    return 0;
}
