#include <stdio.h>
int main(void) {
    int *p = NULL;
    *p = 5;
    printf("%d\n", *p);
    return 0;
}
