#include <stdio.h>

static int count_lines(const char *path)
{
    FILE *f = fopen(path, "r");
    int lines = 0, c;
    while ((c = fgetc(f)) != EOF)
        lines += c == '\n';
    fclose(f);
    return lines;
}

int main(void)
{
    printf("%d\n", count_lines("data.txt"));
    return 0;
}
