#include <stdio.h>

int main(void) {
    string name = "ann";
    printf("%s\n", name);
}
