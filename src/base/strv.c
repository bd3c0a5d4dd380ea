#include "base/strv.h"

#include <stdlib.h>
#include <string.h>

size_t strv_len(char *const *strv)
{
    size_t n = 0;
    while (strv && strv[n])
        n++;
    return n;
}

char **strv_copy(char *const *strv)
{
    size_t n = strv_len(strv);
    char **copy = calloc(n + 1, sizeof *copy);
    for (size_t i = 0; copy && i < n; i++) {
        copy[i] = strdup(strv[i]);
        if (!copy[i]) {
            strv_free(copy);
            return NULL;
        }
    }
    return copy;
}

int strv_add(char ***strv, const char *word, struct err *e)
{
    size_t n = strv_len(*strv);
    char *copy = strdup(word);
    char **grown = copy ? realloc(*strv, (n + 2) * sizeof *grown) : NULL;
    if (!grown) {
        free(copy);
        return err_no_memory(e, "a list of words");
    }
    grown[n] = copy;
    grown[n + 1] = NULL;
    *strv = grown;
    return 0;
}

void strv_free(char **strv)
{
    for (char **s = strv; s && *s; s++)
        free(*s);
    free(strv);
}

void strv_wipe(char ***strv)
{
    for (char **s = *strv; s && *s; s++)
        explicit_bzero(*s, strlen(*s));
    strv_free(*strv);
    *strv = NULL;
}
