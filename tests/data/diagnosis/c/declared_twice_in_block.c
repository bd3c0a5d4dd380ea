#include <stdio.h>

int main(void) {
    int total = 1;
    int total = 2;
    printf("%d\n", total);
}
