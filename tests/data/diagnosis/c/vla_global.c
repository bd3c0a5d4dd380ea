#include <stdio.h>
int size = 10;
int values[size];
int main(void) { printf("%d\n", values[0]); return 0; }
