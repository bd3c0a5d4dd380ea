#include <string.h>

int main(void) {
    struct { int a; } s = {1};
    return (int)strlen(s);
}
