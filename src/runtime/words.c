#include "runtime/words.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/strv.h"

/* Takes one word from *at. Returns NULL, or a description of an accepted word. */
static const char *take_word(const char **at, char *out)
{
    char quote = '\0';
    const char *c = *at;
    if (*c == '#')
        return "quotes around a word that begins with #";
    for (; *c && (quote || !isblank((unsigned char)*c)); c++) {
        if (quote ? *c == quote : *c == '\'' || *c == '"') {
            quote = quote ? '\0' : *c;
        } else if (*c == '\\' && quote != '\'') {
            if (!c[1])
                return "a character after the backslash";
            /* within "..." only these two are escaped, as in a shell */
            if (quote && c[1] != '"' && c[1] != '\\')
                *out++ = *c;
            *out++ = *++c;
        } else {
            *out++ = *c;
        }
    }
    *out = '\0';
    *at = c;
    return quote ? "a closing quote" : NULL;
}

int words_split(const char *line, size_t max, char ***ret, const char **ret_expected, struct err *e)
{
    char **words = strv_copy(NULL);
    autofree char *word = malloc(strlen(line) + 1);
    const char *expected = NULL;
    int result = words && word ? 0 : err_no_memory(e, "words");
    for (size_t n = 0; result == 0; n++) {
        line += strspn(line, " \t");
        if (!*line)
            break;
        expected = n == max ? "fewer words" : take_word(&line, word);
        result = expected ? -1 : strv_add(&words, word, e);
    }
    *ret_expected = expected;
    if (result == 0)
        *ret = words;
    else
        strv_free(words);
    return result;
}

int words_quote(const char *word, struct buf *b, struct err *e)
{
    bool plain = *word != '\0';
    for (const char *c = word; *c && plain; c++)
        plain = isalnum((unsigned char)*c) || strchr("_@%+=:,./{}-^", *c);
    if (plain)
        return buf_add(b, word, strlen(word), e);
    if (buf_add(b, "'", 1, e))
        return -1;
    for (; *word; word++)
        if (*word == '\'' ? buf_add(b, "'\\''", 4, e) : buf_add(b, word, 1, e))
            return -1;
    return buf_add(b, "'", 1, e);
}
