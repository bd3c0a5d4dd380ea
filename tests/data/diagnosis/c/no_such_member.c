#include <stdio.h>

struct text {
    int length;
    char *data;
};

int main(void) {
    struct text t = {3, "abc"};
    printf("%d\n", t.lenght);
    return 0;
}
