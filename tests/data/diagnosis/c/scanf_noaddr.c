#include <stdio.h>
int main(void) {
    int n;
    char buf[] = "12";
    sscanf(buf, "%d", n);
    printf("%d\n", n);
    return 0;
}
