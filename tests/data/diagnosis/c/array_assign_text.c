#include <stdio.h>
int main(void) {
    char name[20];
    name = "Eve";
    printf("%s\n", name);
    return 0;
}
