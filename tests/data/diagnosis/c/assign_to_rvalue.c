#include <stdio.h>

int main(void) {
    int a = 1;
    int b = 2;
    if (a + 1 = b)
        printf("equal\n");
    return 0;
}
