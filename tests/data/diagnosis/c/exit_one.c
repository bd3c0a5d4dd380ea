#include <stdio.h>

int main(void) {
    fprintf(stderr, "cannot read input\n");
    return 1;
}
