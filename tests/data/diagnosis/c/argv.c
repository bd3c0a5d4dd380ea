#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) { int n = atoi(argv[1]); printf("%d", n); return 0; }
