#include <stdio.h>
int main(void) {
    int id = 7;
    printf("name: %s\n", id);
    return 0;
}
