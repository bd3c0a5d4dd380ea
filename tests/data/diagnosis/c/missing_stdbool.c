#include <stdio.h>

static bool is_even(int n) {
    return n % 2 == 0;
}

int main(void) {
    printf("%d\n", is_even(4));
    return 0;
}
