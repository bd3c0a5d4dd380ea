#include <stdio.h>

int main(void) {
    const int limit = 10;
    limit = 20;
    printf("%d\n", limit);
    return 0;
}
