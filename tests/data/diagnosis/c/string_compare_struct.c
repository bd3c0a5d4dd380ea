#include <stdio.h>
#include <string.h>

struct date { int day, month, year; };

static int earlier(struct date a, struct date b)
{
    if (a.year != b.year)
        return a.year < b.year;
    return a < b;
}

int main(void)
{
    struct date a = { 1, 2, 2020 }, b = { 3, 4, 2021 };
    printf("%d\n", earlier(a, b));
    return 0;
}
