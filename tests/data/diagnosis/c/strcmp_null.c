#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
    char *home = getenv("NO_SUCH_VAR");
    printf("%zu\n", strlen(home));
    return 0;
}
