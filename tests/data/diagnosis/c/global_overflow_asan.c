#include <stdio.h>

static const char *const days[7] = { "mon", "tue", "wed", "thu", "fri", "sat", "sun" };

static const char *day_name(int n)
{
    return days[n];
}

int main(void)
{
    for (int i = 1; i <= 7; i++)
        puts(day_name(i));
    return 0;
}
