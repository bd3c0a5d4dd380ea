#include <stdio.h>
#define SIZE = 10
int main(void) { int a[SIZE]; a[0] = 1; printf("%d\n", a[0]); return 0; }
