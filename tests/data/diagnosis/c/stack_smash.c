#include <stdio.h>
#include <string.h>

static void greet(const char *name)
{
    char buffer[8];
    strcpy(buffer, "Hello, ");
    strcat(buffer, name);
    puts(buffer);
}

int main(void)
{
    const char *names[] = { "Bartholomew the Magnificent", "Bob" };
    for (int i = 0; i < 2; i++)
        greet(names[i]);
    return 0;
}
