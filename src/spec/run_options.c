#include "spec/run_options.h"

#include <stdio.h>
#include <string.h>

#include "base/strv.h"
#include "base/text.h"

const char *const table_formats[] = {
#define X(id, word) word,
    TABLE_FORMAT_TABLE(X)
#undef X
        NULL,
};

const char *const test_runners[] = {
#define X(id, word) word,
    TEST_RUNNER_TABLE(X)
#undef X
        NULL,
};

const char *const values_words[] = {
#define X(id, word) word,
    VALUES_TABLE(X)
#undef X
        NULL,
};

const char *const fixes_words[] = {
#define X(id, word) word,
    FIXES_TABLE(X)
#undef X
        NULL,
};

/* A choice is set through a pointer to its index. */
_Static_assert(sizeof(enum table_format) == sizeof(unsigned), "an enum is an unsigned int");
_Static_assert(sizeof(enum fixes) == sizeof(unsigned), "an enum is an unsigned int");
_Static_assert(sizeof(enum test_runner) == sizeof(unsigned), "an enum is an unsigned int");

const struct run_option_def run_option_defs[RUN_OPTION_COUNT] = {
#define X(key, aliases, option, metavar, kind, member, words, max, help, example)               \
    { key,   aliases, option, metavar, RUN_OPTION_##kind, offsetof(struct run_options, member), \
      words, max,     help,   example },
    RUN_OPTION_TABLE(X)
#undef X
};

void run_options_done(struct run_options *o)
{
    strv_free(o->allow_commands);
    strv_free(o->compiler_args);
    *o = (struct run_options){ 0 };
}

void *run_option_of(struct run_options *o, const struct run_option_def *d)
{
    return (char *)o + d->offset;
}

const void *run_option_of_const(const struct run_options *o, const struct run_option_def *d)
{
    return (const char *)o + d->offset;
}

bool run_option_is_given(const struct run_options *o, const struct run_option_def *d)
{
    const void *value = run_option_of_const(o, d);
    switch (d->kind) {
    case RUN_OPTION_BOOL:
        return *(const bool *)value;
    case RUN_OPTION_LIST:
        return *(char *const *const *)value != NULL;
    case RUN_OPTION_CHOICE:
        return *(const unsigned *)value != 0;
    default:
        return o->compile_limits_given != 0;
    }
}

/* "a, b, c" of the i-th names up to NULL. */
static const char *list_names(const char *(*name_at)(const void *, int), const void *names,
                              char *out, size_t size)
{
    const char *name;
    out[0] = '\0';
    for (int i = 0; (name = name_at(names, i)); i++) {
        size_t used = strlen(out);
        (void)snprintf(out + used, size - used, "%s%s", i ? ", " : "", name);
    }
    return out;
}

static const char *word_at(const void *words, int i)
{
    return ((const char *const *)words)[i];
}

static const char *limit_at(const void *ignored, int i)
{
    (void)ignored;
    return i < LIMIT_COUNT ? limit_defs[i].option : NULL;
}

static int parse_choice(const struct run_option_def *d, const char *value, unsigned *ret,
                        struct err *e)
{
    char known[160];
    for (unsigned i = 0; d->words[i]; i++)
        if (strcmp(d->words[i], value) == 0) {
            *ret = i;
            return 0;
        }
    return err_set(e, ERR_BAD_REQUEST, 0, "--%s '%s' is not known: one of %s is accepted",
                   d->option, QUOTED(value), list_names(word_at, d->words, known, sizeof known));
}

int run_limit_parse(const char *option, const char *value, struct limits *limits, limit_set *given,
                    struct err *e)
{
    char known[160];
    const char *equals = strchr(value, '=');
    for (int i = 0; equals && i < LIMIT_COUNT; i++) {
        const char *name = limit_defs[i].option;
        if (strlen(name) != (size_t)(equals - value) || strncmp(name, value, strlen(name)) != 0)
            continue;
        *given |= LIMIT_BIT(i);
        return limit_parse((enum limit_id)i, equals + 1, limits, e);
    }
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "--%s '%s' is not LIMIT=VALUE such as timeout=60s: %s are the limits", option,
                   QUOTED(value), list_names(limit_at, NULL, known, sizeof known));
}

int run_option_parse(struct run_options *o, const struct run_option_def *d, const char *value,
                     struct err *e)
{
    switch (d->kind) {
    case RUN_OPTION_BOOL:
        *(bool *)run_option_of(o, d) = true;
        return 0;
    case RUN_OPTION_LIST:
        return strv_add(run_option_of(o, d), value, e);
    case RUN_OPTION_CHOICE:
        return parse_choice(d, value, run_option_of(o, d), e);
    default:
        return run_limit_parse(d->option, value, run_option_of(o, d), &o->compile_limits_given, e);
    }
}
