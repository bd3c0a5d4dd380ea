#include <stdio.h>
#include <stdlib.h>

static int state_after(int state, char c)
{
    if (state == 0 && c == 'a')
        return 1;
    if (state == 1 && c == 'b')
        return 2;
    fprintf(stderr, "bad transition from %d on '%c'\n", state, c);
    abort();
}

int main(void)
{
    int s = 0;
    for (const char *p = "abc"; *p; p++)
        s = state_after(s, *p);
    return s;
}
