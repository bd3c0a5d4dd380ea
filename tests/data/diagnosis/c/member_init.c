#include <stdio.h>
struct P { int width = 3; };
int main(void) { struct P p; printf("%d", p.width); return 0; }
