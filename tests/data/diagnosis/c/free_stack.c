#include <stdlib.h>
int main(void) { int a[3] = {1,2,3}; int *p = a; free(p); return 0; }
