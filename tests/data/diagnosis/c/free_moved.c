#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char *path = strdup("///srv/data");
    while (*path == '/')
        path++;
    puts(path);
    free(path);
    return 0;
}
