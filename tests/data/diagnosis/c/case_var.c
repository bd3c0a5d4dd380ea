#include <stdio.h>
int main(void) {
    int a = 1, x = 1;
    switch (x) {
    case a: puts("one"); break;
    }
    return 0;
}
