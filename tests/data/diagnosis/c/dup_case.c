#include <stdio.h>
int main(void) {
    int x = 1;
    switch (x) { case 1: puts("a"); break; case 1: puts("b"); }
    return 0;
}
