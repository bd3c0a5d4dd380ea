/* The list of checks. */
#include "cli/verify/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/id.h"

#define X(id, word) [id] = (word),
const char *check_kind_word(enum check_kind k)
{
    static const char *const words[] = { CHECK_KIND_TABLE(X) };
    return words[k];
}

const char *outcome_word(enum outcome o)
{
    static const char *const words[] = { OUTCOME_TABLE(X) };
    return words[o];
}
#undef X

static void step_done(struct step *s)
{
    buf_done(&s->command);
    buf_done(&s->expected);
    buf_done(&s->got);
}

static void check_done(struct check *c)
{
    free(c->file);
    buf_done(&c->code);
    words_done(&c->words);
    for (size_t i = 0; i < c->n_steps; i++)
        step_done(&c->steps[i]);
    free(c->steps);
    json_decref(c->result);
    json_decref(c->diff);
}

void checks_done(struct checks *c)
{
    for (size_t i = 0; i < c->n; i++)
        check_done(&c->at[i]);
    free(c->at);
    *c = (struct checks){ 0 };
}

struct step *check_add_step(struct check *c, struct err *e)
{
    struct step *grown = realloc(c->steps, (c->n_steps + 1) * sizeof *grown);
    if (!grown) {
        (void)!err_no_memory(e, "a check");
        return NULL;
    }
    c->steps = grown;
    grown[c->n_steps] = (struct step){ .line = c->line };
    return &grown[c->n_steps++];
}

struct check *checks_add(struct checks *c, enum check_kind kind, const char *file, size_t line,
                         struct err *e)
{
    if (c->n == CHECKS_MAX) {
        (void)!err_set(e, ERR_TOO_LARGE, 0,
                       "'%s' has one check too many: up to %d are accepted at a time", file,
                       CHECKS_MAX);
        return NULL;
    }
    struct check *grown = realloc(c->at, (c->n + 1) * sizeof *grown);
    char *name = strdup(file);
    if (grown)
        c->at = grown;
    if (!grown || !name) {
        free(name);
        (void)!err_no_memory(e, "a check");
        return NULL;
    }
    grown[c->n] = (struct check){ .file = name, .line = line, .kind = kind, .prior = NO_CHECK };
    struct check *added = &grown[c->n++];
    id_make("cut", added->marker);
    return kind == CHECK_CONSOLE || check_add_step(added, e) ? added : NULL;
}

void checks_keep_selected(struct checks *c)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (!c->at[i].selected) {
            check_done(&c->at[i]);
            continue;
        }
        /* Its new index, for the checks after it that continue it. */
        for (size_t k = i + 1; k < c->n; k++)
            if (c->at[k].prior == (int)i)
                c->at[k].prior = (int)kept;
        c->at[kept++] = c->at[i];
    }
    c->n = kept;
}

const char *check_place(const struct check *c, char *out, size_t size)
{
    if (c->line)
        (void)snprintf(out, size, "%s:%zu", c->file, c->line);
    else
        (void)snprintf(out, size, "%s", c->file);
    return out;
}
