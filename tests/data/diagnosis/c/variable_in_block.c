#include <stdio.h>

int main(void) {
    for (int i = 0; i < 3; i++) {
        int square = i * i;
    }
    printf("%d\n", square);
    return 0;
}
