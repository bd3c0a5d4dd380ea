#include <stdlib.h>
#include <string.h>

int main(void) {
    char *volatile copy = strdup("hello");
    free(copy);
    free(copy);
    return 0;
}
