#include <stdio.h>
#include <string.h>

static void reverse(char *s)
{
    size_t len = strlen(s);
    for (size_t i = 0; i < lenght / 2; i++) {
        char t = s[i];
        s[i] = s[len - 1 - i];
        s[len - 1 - i] = t;
    }
}

int main(void)
{
    char word[] = "stressed";
    reverse(word)
    printf("%s\n", word);
    return 0;
}
