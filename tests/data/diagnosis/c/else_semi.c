#include <stdio.h>
int main(void) {
    int n = 3;
    if (n > 2);
        printf("big\n");
    else
        printf("small\n");
    return 0;
}
