#include <stdio.h>

int main(void) {
    pritnf("hello\n");
    return 0;
}
