#include <stdio.h>
#ifdef DEBUG
int main(void) { puts("x"); return 0; }
