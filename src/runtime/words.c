#include "runtime/words.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"

void words_free(char **words)
{
    for (char **w = words; w && *w; w++)
        free(*w);
    free(words);
}

/* Takes one word from *at. Returns NULL, or a description of an accepted word. */
static const char *take_word(const char **at, char *out)
{
    char quote = '\0';
    const char *c = *at;
    if (*c == '#')
        return "a word that begins with # in quotes is";
    for (; *c && (quote || !isblank((unsigned char)*c)); c++) {
        if (quote ? *c == quote : *c == '\'' || *c == '"') {
            quote = quote ? '\0' : *c;
        } else if (*c == '\\' && quote != '\'') {
            if (!c[1])
                return "a backslash before another character is";
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
    return quote ? "a quote that is closed is" : NULL;
}

int words_split(const char *line, size_t max, char ***ret, const char **ret_wrong, struct err *e)
{
    char **words = calloc(max + 1, sizeof *words);
    autofree char *word = malloc(strlen(line) + 1);
    const char *wrong = NULL;
    bool memory = words && word;
    for (size_t n = 0; memory && !wrong;) {
        line += strspn(line, " \t");
        if (!*line)
            break;
        wrong = n == max ? "fewer words are" : take_word(&line, word);
        if (!wrong)
            memory = (words[n++] = strdup(word));
    }
    *ret_wrong = wrong;
    if (memory && !wrong) {
        *ret = words;
        return 0;
    }
    words_free(words);
    return wrong ? -1 : err_no_memory(e, "words");
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
