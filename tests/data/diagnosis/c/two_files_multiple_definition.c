#include <stdio.h>

int counter = 0;
int next(void);

int main(void) {
    printf("%d\n", next() + counter);
    return 0;
}
