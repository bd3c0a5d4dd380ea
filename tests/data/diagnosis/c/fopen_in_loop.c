#include <stdio.h>

int main(void) {
    FILE *log = fopen("visits.log", "r");
    int c, lines = 0;
    while ((c = fgetc(log)) != EOF) {
        if (c == '\n')
            lines++;
    }
    printf("%d\n", lines);
    return 0;
}
