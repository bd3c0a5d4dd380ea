#include "run/command_line.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/buf.h"
#include "base/place.h"
#include "base/strv.h"
#include "base/text.h"

/* The variables of every program. At level process the warden sets the directories, since it makes
 * them. */
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

/* Of a run whose connections get secrets. Its authority is in the trust store of the jar
 * (jar/trust.h), where most programs look. These bring authorities of their own. */
static const char *const of_secrets[] = {
    "NODE_EXTRA_CA_CERTS=/etc/ssl/certs/belljar-run.pem",    /* Node */
    "REQUESTS_CA_BUNDLE=/etc/ssl/certs/ca-certificates.crt", /* Python's requests, with certifi */
    "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt",      /* Python's httpx, with certifi */
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
            "accepted; files and stdin take more",
            WIRE_MAX_STRINGS, WIRE_MAX_TEXT);
    l->items[l->n] = strdup(text);
    if (!l->items[l->n])
        return err_no_memory(e, "a job");
    l->n++;
    return 0;
}

/* A later K=V replaces an earlier one. */
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

int env_check(const char *entry, struct err *e)
{
    const char *equals = strchr(entry, '=');
    bool good = equals && equals > entry && !isdigit((unsigned char)entry[0]);
    for (const char *p = entry; good && p < equals; p++)
        good = isalnum((unsigned char)*p) || *p == '_';
    if (!good)
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "environment entry '%s' is not NAME=VALUE: a name of letters, digits and _ that "
            "does not start with a digit is accepted",
            QUOTED(entry));
    return 0;
}

const char *guest_dir(enum level level, char *out, size_t size)
{
    struct err e;
    if (level != LEVEL_PROCESS || place_find(GUEST_DIR, out, size, &e))
        (void)snprintf(out, size, "%s", GUEST_ROOT);
    return out;
}

/* A name in a command that is replaced by a value (runtime/language.h). */
struct placeholder {
    const char *name;
    char value[4200];
};
enum { PLACEHOLDERS = 6 };

/* A name without its extension: src/Main.java is src/Main. */
static int stem_len(const char *name)
{
    const char *slash = strrchr(name, '/'), *dot = strrchr(name, '.');
    return (int)(dot && dot > (slash ? slash + 1 : name) ? (size_t)(dot - name) : strlen(name));
}

static void fill_placeholders(struct placeholder p[PLACEHOLDERS], const struct jar_request *q,
                              enum level level)
{
    static const char *const names[PLACEHOLDERS] = { FILE_ARGUMENT, "{guest}",      "{program}",
                                                     "{format}",    "{memory_mib}", "{stem}" };
    bool special = q->main_name[0] == '-' || q->main_name[0] == '@';
    const char *dashed = special ? "./" : "";
    for (int i = 0; i < PLACEHOLDERS; i++)
        p[i].name = names[i];
    /* "./" keeps the program from reading a name with a leading dash as an option, and a name with
     * a leading @ as a file of options. */
    (void)snprintf(p[0].value, sizeof p[0].value, "%s%s", dashed, q->main_name);
    (void)guest_dir(level, p[1].value, sizeof p[1].value);
    (void)snprintf(p[2].value, sizeof p[2].value, "%s", JOB_PROGRAM);
    (void)snprintf(p[3].value, sizeof p[3].value, "%s",
                   table_formats[q->options ? q->options->format : TABLE_ALIGNED]);
    (void)snprintf(p[4].value, sizeof p[4].value, "%" PRIu64,
                   (q->limits.v[LIMIT_MEMORY] >> 20) * 7 / 10);
    (void)snprintf(p[5].value, sizeof p[5].value, "%s%.*s", dashed, stem_len(q->main_name),
                   q->main_name);
}

static int expand(struct buf *text, const char *word, const struct placeholder p[PLACEHOLDERS],
                  struct err *e)
{
    while (*word) {
        size_t plain = 1 + strcspn(word + 1, "{");
        int found = -1;
        for (int i = 0; i < PLACEHOLDERS && found < 0; i++)
            if (strncmp(word, p[i].name, strlen(p[i].name)) == 0)
                found = i;
        const char *piece = found < 0 ? word : p[found].value;
        if (buf_add(text, piece, found < 0 ? plain : strlen(piece), e))
            return -1;
        word += found < 0 ? plain : strlen(p[found].name);
    }
    return 0;
}

static int add_word(struct list *l, const char *word, const struct placeholder p[PLACEHOLDERS],
                    struct err *e)
{
    scoped(buf) text = { 0 };
    return expand(&text, word, p, e) || add(l, buf_str(&text), e) ? -1 : 0;
}

static int add_list(struct list *l, char *const *words, struct err *e)
{
    for (; words && *words; words++)
        if (add(l, *words, e))
            return -1;
    return 0;
}

static int fill_argv(struct list *l, const struct jar_request *q,
                     const struct placeholder p[PLACEHOLDERS], struct err *e)
{
    bool has_place = false; /* the command has a place for the arguments */
    for (const char *const *word = q->command ? q->command : q->language->command; *word; word++) {
        bool args = strcmp(*word, "{args}") == 0, sources = strcmp(*word, "{sources}") == 0;
        has_place = has_place || args;
        if (args || sources ? add_list(l, args ? q->args : q->sources, e)
                            : add_word(l, *word, p, e))
            return -1;
    }
    return has_place ? 0 : add_list(l, q->args, e);
}

static int fill_envp(struct list *l, const struct jar_request *q, enum level level,
                     const struct placeholder p[PLACEHOLDERS], struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(built_in); i++)
        if (!(built_in[i].needs_root && level == LEVEL_PROCESS) && add_env(l, built_in[i].entry, e))
            return -1;
    for (size_t i = 0; q->network && q->network->n_injects > 0 && i < ARRAY_LEN(of_secrets); i++)
        if (add_env(l, of_secrets[i], e))
            return -1;
    const char *const *own = q->language_env ? q->language_env : q->language->env;
    for (; own && *own; own++) {
        scoped(buf) text = { 0 };
        if (expand(&text, *own, p, e) || add_env(l, buf_str(&text), e))
            return -1;
    }
    for (char *const *entry = q->env; entry && *entry; entry++)
        if (env_check(*entry, e) || add_env(l, *entry, e))
            return -1;
    return 0;
}

int command_line_build(struct command_line *ret, const struct jar_request *request,
                       enum level level, struct err *e)
{
    struct list argv = { .max = WIRE_MAX_STRINGS }, envp = { .max = WIRE_MAX_STRINGS };
    argv.items = calloc(argv.max + 1, sizeof *argv.items);
    envp.items = calloc(envp.max + 1, sizeof *envp.items);
    struct command_line j = { .argv = argv.items, .envp = envp.items };
    autofree struct placeholder *p = calloc(PLACEHOLDERS, sizeof *p);
    int failed = !j.argv || !j.envp || !p ? err_no_memory(e, "a job") : 0;
    if (!failed)
        fill_placeholders(p, request, level);
    failed = failed || fill_argv(&argv, request, p, e);
    envp.bytes = argv.bytes;
    failed = failed || fill_envp(&envp, request, level, p, e);
    if (failed) {
        command_line_done(&j);
        return -1;
    }
    *ret = j;
    return 0;
}

void command_line_done(struct command_line *j)
{
    strv_free(j->argv);
    strv_free(j->envp);
    *j = (struct command_line){ 0 };
}
