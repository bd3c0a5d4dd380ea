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

/* A choice is set through a pointer to its index. */
_Static_assert(sizeof(enum table_format) == sizeof(unsigned), "an enum is an unsigned int");

#define AT(member) offsetof(struct run_options, member)
const struct run_option_def run_option_defs[RUN_OPTION_COUNT] = {
    { "compiler_args", "compiler_options,compile_args,compiler_flags", "compiler-arg", "ARG",
      RUN_OPTION_LIST, AT(compiler_args), .max = 100, .help = "arguments for the compiler",
      .example = "-O3" },
    { "compile_limits", NULL, "compile-limit", "LIMIT=N", RUN_OPTION_LIMITS, AT(compile_limits),
      .help = "limits of the compiler", .example = "timeout=60s" },
    { "no_cache", NULL, "no-cache", NULL, RUN_OPTION_BOOL, AT(no_cache),
      .help = "compile again even if the program is cached, and store nothing in the cache" },
    { "check_types", NULL, "check-types", NULL, RUN_OPTION_BOOL, AT(check_types),
      .help = "TypeScript: type errors are compile errors" },
    { "allow_commands", "allowed_commands,commands", "allow-command", "NAME", RUN_OPTION_LIST,
      AT(allow_commands), .max = 200,
      .help = "bash and zsh: the only commands that the program may execute", .example = "ls" },
    { "format", NULL, "format", "FORMAT", RUN_OPTION_CHOICE, AT(format), .words = table_formats,
      .help = "SQL: the format of printed tables" },
    { "profile", NULL, "profile", NULL, RUN_OPTION_BOOL, AT(profile),
      .help = "report where time and memory go" },
};
#undef AT

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

static int parse_limit(struct run_options *o, const struct run_option_def *d, const char *value,
                       struct err *e)
{
    char known[160];
    const char *equals = strchr(value, '=');
    for (int i = 0; equals && i < LIMIT_COUNT; i++) {
        const char *name = limit_defs[i].option;
        if (strlen(name) != (size_t)(equals - value) || strncmp(name, value, strlen(name)) != 0)
            continue;
        o->compile_limits_given |= LIMIT_BIT(i);
        return limit_parse((enum limit_id)i, equals + 1, run_option_of(o, d), e);
    }
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "--%s '%s' is not LIMIT=VALUE such as timeout=60s: %s are the limits", d->option,
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
        return parse_limit(o, d, value, e);
    }
}
