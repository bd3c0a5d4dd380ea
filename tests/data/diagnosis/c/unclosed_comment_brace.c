#include <stdio.h>

static int count_digits(const char *s)
{
    int n = 0;
    for (; *s; s++) {
        if (*s >= '0' && *s <= '9') {
            n++;
        }
    return n;
}

int main(void)
{
    printf("%d\n", count_digits("a1b2"));
    return 0;
}
