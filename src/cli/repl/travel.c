#include "cli/repl/travel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "cli/repl/asking.h"
#include "run/json.h"

enum { RENEW_MS = 10000, CELLS_MAX = 20 };

static long long number_of(const json_t *o, const char *key)
{
    return (long long)json_integer_value(json_object_get(o, key));
}

/* ---- requests ---- */

/* A number that stands alone; -1: there is none. */
static long number(const char *words)
{
    char *end;
    long n = strtol(words, &end, 10);
    return end != words && *end == '\0' && n >= 0 ? n : -1;
}

/* ":undo", ":undo N". */
static json_t *undo_body(const char *words, struct err *e)
{
    long n = *words ? number(words) : 1;
    if (n >= 1 && n <= CELLS_MAX)
        return json_pack("{s:i}", "cells", (int)n);
    (void)!err_set(e, ERR_USAGE, 0, "':undo %s' is no number of cells: 1 to %d are accepted",
                   QUOTED(words), CELLS_MAX);
    return NULL;
}

/* ":keep N" */
static json_t *keep_body(const char *words, struct err *e)
{
    long n = number(words);
    if (n >= 0 && n <= CELLS_MAX)
        return json_pack("{s:i}", "undo", (int)n);
    (void)!err_set(e, ERR_USAGE, 0, "':keep %s' is no number of cells: 0 to %d are accepted",
                   QUOTED(words), CELLS_MAX);
    return NULL;
}

/* ":back NAME", ":back CELL" */
static json_t *back_body(const char *words, struct err *e)
{
    long n = number(words);
    if (*words)
        return n >= 0 ? json_pack("{s:i}", "to", (int)n) : json_pack("{s:s}", "to", words);
    (void)!err_set(e, ERR_USAGE, 0,
                   "':back' needs a checkpoint or the number of a cell: ':tree' lists them");
    return NULL;
}

static json_t *checkpoint_body(const char *words, struct err *e)
{
    (void)e;
    return *words ? json_pack("{s:s}", "name", words) : json_object();
}

static json_t *fork_body(const char *words, struct err *e)
{
    (void)e;
    return *words ? json_pack("{s:[s]}", "names", words) : json_object();
}

/* ":wake", ":wake replay" */
static json_t *wake_body(const char *words, struct err *e)
{
    if (!*words || strcmp(words, "replay") == 0)
        return json_pack("{s:b}", "replay", *words != '\0');
    (void)!err_set(e, ERR_USAGE, 0, "':wake %s' is not known: ':wake' and ':wake replay' are",
                   QUOTED(words));
    return NULL;
}

static json_t *empty_body(const char *words, struct err *e)
{
    if (!*words)
        return json_object();
    (void)!err_set(e, ERR_USAGE, 0, "'%s' is one word too many", QUOTED(words));
    return NULL;
}

/* ---- answers ---- */

/* Names are words of clients: QUOTED() leaves no control character. */
static void print_place(const json_t *checkpoint)
{
    const char *name = json_get_text(checkpoint, "name");
    if (*name)
        (void)printf("checkpoint %s, ", QUOTED(name));
    (void)printf("the state after cell %lld\n", number_of(checkpoint, "cell"));
}

static void print_back(const json_t *o)
{
    (void)printf("The session is back at ");
    print_place(json_object_get(o, "to"));
}

static void print_keep(const json_t *o)
{
    long long n = number_of(o, "undo");
    if (n > 0)
        (void)printf("The states before the last %lld cells are kept: ':undo' goes back.\n", n);
    else
        (void)printf("No states are kept from now on.\n");
}

static void print_checkpoint(const json_t *o)
{
    (void)printf("Kept: ");
    print_place(o);
    (void)printf("It has %lld MiB on the disk. ':back %s' returns to it.\n",
                 number_of(o, "bytes") >> 20,
                 *json_get_text(o, "name") ? QUOTED(json_get_text(o, "name"))
                                           : QUOTED(json_get_text(o, "id")));
}

static void print_fork(const json_t *o)
{
    const json_t *copy = json_array_get(json_object_get(o, "sessions"), 0);
    size_t lost = json_array_size(json_object_get(o, "not_carried"));
    (void)printf("The copy is session %s.\n", QUOTED(json_get_text(copy, "id")));
    if (lost > 0)
        (void)printf(
            "It lacks %zu things, such as %s.\n", lost,
            QUOTED(json_string_value(json_array_get(json_object_get(o, "not_carried"), 0))));
}

static void print_sleep(const json_t *o)
{
    (void)o;
    (void)printf("The session sleeps on the disk. The next cell wakes it.\n");
}

static void print_wake(const json_t *o)
{
    const json_t *r = json_object_get(o, "replayed");
    if (!json_is_array(json_object_get(o, "replay"))) {
        (void)printf("The session is awake.\n");
        return;
    }
    (void)printf("The session could not wake, so %lld cells ran again: %zu failed, %zu differ.\n",
                 number_of(r, "cells"), json_array_size(json_object_get(r, "failed")),
                 json_array_size(json_object_get(r, "differs")));
}

static void print_tree(const json_t *o)
{
    const json_t *list = json_object_get(o, "sessions"), *s, *c;
    size_t i, j;
    json_array_foreach(list, i, s) {
        const char *parent = json_get_text(s, "parent");
        (void)printf("%s  %s, %lld cells", QUOTED(json_get_text(s, "id")),
                     QUOTED(json_get_text(s, "state")), number_of(s, "cells"));
        if (*parent)
            (void)printf(", from %s after cell %lld", QUOTED(parent), number_of(s, "parent_cell"));
        (void)printf("\n");
        json_array_foreach(json_object_get(s, "checkpoints"), j, c) {
            (void)printf("    %s: ", QUOTED(json_get_text(c, "kind")));
            print_place(c);
        }
    }
}

static const struct travel {
    const char *name, *method, *path;
    json_t *(*body)(const char *words, struct err *e); /* NULL: there is none */
    void (*print)(const json_t *answer);
} travels[] = {
    { "undo", "POST", "/undo", undo_body, print_back },
    { "keep", "PATCH", "", keep_body, print_keep },
    { "back", "POST", "/rollback", back_body, print_back },
    { "checkpoint", "POST", "/checkpoints", checkpoint_body, print_checkpoint },
    { "tree", "GET", "/tree", NULL, print_tree },
    { "fork", "POST", "/fork", fork_body, print_fork },
    { "sleep", "POST", "/sleep", empty_body, print_sleep },
    { "wake", "POST", "/wake", wake_body, print_wake },
};

/* A session keeps no states unless it is asked to. The refusal of the service names fields of requests. */
static void explain_undo(struct connections *c, const char *id, struct err *e)
{
    struct err ignored;
    json_auto_t *session = session_question(c->side, id, "GET", "", NULL, &ignored);
    if (session && number_of(session, "undo") == 0)
        (void)!err_set(e, ERR_CONFLICT, 0,
                       "no state before a cell is kept yet: ':keep 5' keeps the states before the "
                       "next 5 cells, and ':undo' then goes back to them");
}

static int ask(struct connections *c, const char *id, const struct travel *t, const char *words,
               struct err *e)
{
    json_t *body = t->body ? t->body(words, e) : NULL;
    if (t->body && !body)
        return -1;
    if (connections_renew(c, &c->side, RENEW_MS, e)) {
        json_decref(body);
        return -1;
    }
    json_auto_t *answer = session_question(c->side, id, t->method, t->path, body, e);
    if (answer) {
        t->print(answer);
        (void)fflush(stdout);
        return 0;
    }
    if (e->code == ERR_NOT_FOUND) /* a state that is missing, which is not the end of the session */
        e->code = ERR_CONFLICT;
    if (e->code == ERR_CONFLICT && t->body == undo_body)
        explain_undo(c, id, e);
    return -1;
}

int travel_answer(struct connections *c, const char *id, const struct buf *text, struct err *e)
{
    const char *all = buf_str(text), *words = strchr(all, '\n');
    size_t n = words ? (size_t)(words - all) : strlen(all);
    for (size_t i = 0; i < ARRAY_LEN(travels); i++)
        if (strlen(travels[i].name) == n && strncmp(all, travels[i].name, n) == 0)
            return ask(c, id, &travels[i], words ? words + 1 : "", e);
    return err_set(e, ERR_PROTOCOL, 0, "main asked for something else");
}
