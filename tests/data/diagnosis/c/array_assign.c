#include <stdio.h>
int main(void) {
    int a[3] = {1, 2, 3}, b[3];
    b = a;
    printf("%d\n", b[0]);
    return 0;
}
