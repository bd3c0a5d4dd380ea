#include <stdio.h>
enum Color { RED, GREEN };
int main(void) { enum Color c = "RED"; printf("%d", c); return 0; }
