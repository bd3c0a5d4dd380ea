#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char *label = malloc(8);
    for (int i = 0; i < 60; i++)
        strcpy(label + i, "x");
    char *text = malloc(40000);
    snprintf(text, 40000, "%s", label);
    puts(text);
    free(text);
    free(label);
    return 0;
}
