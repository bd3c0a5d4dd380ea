#include <stdio.h>
#include <string.h>
int main(void) {
    char *name;
    strcpy(name, "Bob");
    printf("%s\n", name);
    return 0;
}
