#include <stdio.h>
/* main program
int main(void) { puts("x"); return 0; }
