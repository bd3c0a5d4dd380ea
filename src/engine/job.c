#include "engine/job.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* What every program gets. At level process the places are named by the warden, which makes them. */
static const struct {
    const char *entry;
    bool needs_root;
} built_in[] = {
    { "PATH=/usr/local/bin:/usr/bin:/bin", false },
    { "HOME=/sandbox", true },
    { "PWD=/sandbox", true },
    { "TMPDIR=/tmp", true },
    { "USER=sandbox", false },
    { "LOGNAME=sandbox", false },
    { "LANG=C.UTF-8", false },
};

struct list {
    char **items;
    size_t n, max;
    size_t bytes;
};

static int add(struct list *l, const char *text, struct err *e)
{
    l->bytes += strlen(text) + 1;
    if (l->n == l->max || l->bytes > WIRE_MAX_TEXT)
        return err_set(
            e, ERR_TOO_LARGE, 0,
            "the arguments and environment are too large: up to %d strings and %d bytes are "
            "accepted",
            WIRE_MAX_STRINGS, WIRE_MAX_TEXT);
    l->items[l->n] = strdup(text);
    if (!l->items[l->n])
        return err_set(e, ERR_NO_MEMORY, 0, "no memory for a job");
    l->n++;
    return 0;
}

/* A later K=V takes the place of an earlier one. */
static int add_env(struct list *l, const char *entry, struct err *e)
{
    size_t name = strcspn(entry, "=") + 1;
    for (size_t i = 0; i < l->n; i++) {
        if (strncmp(l->items[i], entry, name) == 0) {
            l->bytes -= strlen(l->items[i]) + 1;
            free(l->items[i]);
            l->items[i] = l->items[--l->n];
            l->items[l->n] = NULL;
            break;
        }
    }
    return add(l, entry, e);
}

int job_env_check(const char *entry, struct err *e)
{
    char quoted[96];
    const char *equals = strchr(entry, '=');
    bool good = equals && equals > entry && !isdigit((unsigned char)entry[0]);
    for (const char *p = entry; good && p < equals; p++)
        good = isalnum((unsigned char)*p) || *p == '_';
    if (!good)
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "environment entry '%s' is not NAME=VALUE: a name of letters, digits and _ that "
            "does not start with a digit is accepted",
            text_quote(entry, quoted, sizeof quoted));
    return 0;
}

static int fill_argv(struct list *l, const struct run_request *q, struct err *e)
{
    for (const char *const *word = q->language->command; *word; word++) {
        char file[1100];
        bool is_file = strcmp(*word, FILE_ARGUMENT) == 0;
        /* "./" keeps a name that starts with a dash from being taken for an option */
        (void)snprintf(file, sizeof file, "%s%s", q->main_name[0] == '-' ? "./" : "", q->main_name);
        if (add(l, is_file ? file : *word, e))
            return -1;
    }
    for (char *const *arg = q->args; arg && *arg; arg++)
        if (add(l, *arg, e))
            return -1;
    return 0;
}

static int fill_envp(struct list *l, const struct run_request *q, enum level level, struct err *e)
{
    for (size_t i = 0; i < sizeof built_in / sizeof built_in[0]; i++)
        if (!(built_in[i].needs_root && level == LEVEL_PROCESS) && add_env(l, built_in[i].entry, e))
            return -1;
    for (const char *const *entry = q->language->env; *entry; entry++)
        if (add_env(l, *entry, e))
            return -1;
    for (char *const *entry = q->env; entry && *entry; entry++)
        if (job_env_check(*entry, e) || add_env(l, *entry, e))
            return -1;
    return 0;
}

int job_build(struct job *ret, const struct run_request *request, enum level level, struct err *e)
{
    struct list argv = { .max = WIRE_MAX_STRINGS }, envp = { .max = WIRE_MAX_STRINGS };
    argv.items = calloc(argv.max + 1, sizeof *argv.items);
    envp.items = calloc(envp.max + 1, sizeof *envp.items);
    struct job j = { .argv = argv.items, .envp = envp.items };
    int failed = !j.argv || !j.envp ? err_set(e, ERR_NO_MEMORY, 0, "no memory for a job") : 0;
    failed = failed || fill_argv(&argv, request, e);
    envp.bytes = argv.bytes;
    failed = failed || fill_envp(&envp, request, level, e);
    if (failed) {
        job_done(&j);
        return -1;
    }
    *ret = j;
    return 0;
}

void job_done(struct job *j)
{
    char **const lists[] = { j->argv, j->envp };
    for (int i = 0; i < 2; i++) {
        for (char **s = lists[i]; s && *s; s++)
            free(*s);
        free(lists[i]);
    }
    *j = (struct job){ 0 };
}
