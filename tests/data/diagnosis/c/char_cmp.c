#include <stdio.h>
#include <string.h>
int main(void) { char c = 'a'; if (strcmp(c, "a") == 0) puts("x"); return 0; }
