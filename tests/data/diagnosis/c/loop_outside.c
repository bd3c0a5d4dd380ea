#include <stdio.h>

int total = 0;

for (int i = 0; i < 3; i++)
    total += i;

int main(void) {
    printf("%d\n", total);
    return 0;
}
