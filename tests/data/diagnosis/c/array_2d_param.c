#include <stdio.h>
void show(int m[][]) { printf("%d", m[0][0]); }
int main(void) { int m[2][2] = {{1,2},{3,4}}; show(m); return 0; }
