/* Reads the words after the language of a fence. */
#include "cli/verify/words.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/nearest.h"
#include "base/text.h"

struct word_def {
    const char *name;
    const char *const *aliases; /* words of other tools with the same meaning */
    const char *term, *help;
    enum { VALUE_NONE, VALUE_OPTIONAL, VALUE_NEEDED } value;
};

static const struct word_def defs[WORD_COUNT] = {
    [WORD_SKIP] = { "skip", WORDS("ignore", "no_run", "no-run", "notest"), "skip[=REASON]",
                    "the block is not run; the report has the reason", VALUE_OPTIONAL },
    [WORD_EXPECT_ERROR] = { "expect-error", WORDS("should_panic", "should-fail", "raises"),
                            "expect-error[=TEXT]",
                            "the program must fail; TEXT is its verdict or a part of its error "
                            "output",
                            VALUE_OPTIONAL },
    [WORD_EXIT] = { "exit", NO_WORDS, "exit=N", "the program must end with this exit status",
                    VALUE_NEEDED },
    [WORD_SESSION] = { "session", NO_WORDS, "session=NAME",
                       "the block continues the last block with this name", VALUE_NEEDED },
    [WORD_CONTINUE] = { "continue", NO_WORDS, "continue",
                        "the block continues the last block in its language", VALUE_NONE },
};

const char *word_term(size_t i)
{
    return i < WORD_COUNT ? defs[i].term : NULL;
}

const char *word_help(size_t i)
{
    return i < WORD_COUNT ? defs[i].help : NULL;
}

void words_done(struct words *w)
{
    for (int i = 0; i < WORD_COUNT; i++)
        free(w->value[i]);
    for (int i = 0; i < LIMIT_COUNT; i++)
        free(w->limits[i]);
    *w = (struct words){ 0 };
}

/* One word: "name", "name=value", "name='value'". */
struct token {
    char *name, *value;
};

static void token_done(struct token *t)
{
    free(t->name);
    free(t->value);
}

static bool separates(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == '{' || c == '}' || c == '\r';
}

/* False at the end, or if memory ran out. */
static bool next_token(const char *text, size_t len, size_t *at, struct token *ret)
{
    size_t i = *at;
    while (i < len && (separates(text[i]) || text[i] == '.' || text[i] == '='))
        i++;
    size_t name = i;
    while (i < len && !separates(text[i]) && text[i] != '=')
        i++;
    if (i == name)
        return false;
    ret->name = strndup(text + name, i - name);
    ret->value = NULL;
    if (i < len && text[i] == '=') {
        char quote = ++i < len && (text[i] == '"' || text[i] == '\'') ? text[i++] : '\0';
        size_t value = i;
        while (i < len && (quote ? text[i] != quote : !separates(text[i])))
            i++;
        ret->value = strndup(text + value, i - value);
        i += quote && i < len;
    }
    *at = i;
    return ret->name != NULL;
}

static bool is_one_of(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(name, *words) == 0)
            return true;
    return false;
}

static int read_exit(struct words *w, struct err *e)
{
    uint64_t n;
    const char *text = w->value[WORD_EXIT];
    if (unit_parse(UNIT_COUNT, text, &n) || n > 255)
        return err_set(e, ERR_BAD_REQUEST, 0, "exit=%s: a number from 0 to 255 is accepted",
                       QUOTED(text));
    w->exit_status = (int)n;
    return 0;
}

static int take_word(struct words *w, enum word_id id, struct token *t, struct err *e)
{
    if (defs[id].value == VALUE_NEEDED && (!t->value || !*t->value))
        return err_set(e, ERR_BAD_REQUEST, 0, "'%s' needs a value: %s", defs[id].name,
                       defs[id].term);
    w->given[id] = true;
    free(w->value[id]);
    w->value[id] = t->value;
    t->value = NULL;
    return id == WORD_EXIT ? read_exit(w, e) : 0;
}

static int take_limit(struct words *w, enum limit_id id, struct token *t, struct err *e)
{
    struct limits ignored = limits_default();
    if (!t->value)
        return err_set(e, ERR_BAD_REQUEST, 0, "'%s' needs a value: %s=%s", t->name, t->name,
                       limit_defs[id].metavar);
    if (limit_parse(id, t->value, &ignored, e))
        return -1;
    free(w->limits[id]);
    w->limits[id] = t->value;
    t->value = NULL;
    return 0;
}

static int take(struct words *w, struct token *t, struct err *e)
{
    for (int i = 0; i < WORD_COUNT; i++)
        if (strcmp(t->name, defs[i].name) == 0 || is_one_of(t->name, defs[i].aliases))
            return take_word(w, (enum word_id)i, t, e);
    for (int i = 0; t->value && i < LIMIT_COUNT; i++)
        if (strcmp(t->name, limit_defs[i].option) == 0)
            return take_limit(w, (enum limit_id)i, t, e);
    for (int i = 0; i < WORD_COUNT; i++)
        if (strlen(t->name) > 3 && nearest_distance(t->name, defs[i].name) == 1)
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "the word '%s' after the fence is unknown: did you mean '%s'?",
                           QUOTED(t->name), defs[i].name);
    return 0;
}

int words_read(const char *text, size_t len, struct words *ret, struct err *e)
{
    scoped(words) w = { 0 };
    size_t at = 0;
    for (;;) {
        scoped(token) t = { 0 };
        if (!next_token(text, len, &at, &t))
            break;
        if (take(&w, &t, e))
            return -1;
    }
    *ret = w;
    w = (struct words){ 0 };
    return 0;
}
