#include <stdio.h>
#include <stdlib.h>

int main(void) {
    fprintf(stderr, "config is missing\n");
    abort();
}
