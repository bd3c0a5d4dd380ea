#include <stdio.h>

int main(void) {
    int count = 0;
    for (int i = 0; i < 10; i++) {
        count += i;
    }
    printf("%d\n", cuont);
    return 0;
}
