#include <stdio.h>
#include <string.h>
int main(void) {
    char *name = "alice";
    name[0] = 'A';
    puts(name);
    return 0;
}
