/* Groups of runs: starting, checking and answering them. See batch.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runs/batch.h"
#include "api/runs/run_spec.h"
#include "api/runs/submit.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/text.h"

enum {
    FEW_RUNS = 16,
    INLINE_FEW = 1 << 20,   /* bytes of each stream, for few runs */
    INLINE_MANY = 64 << 10, /* for many runs, unless all together exceed: */
    INLINE_ALL = 16 << 20,
    PIECE_MAX = 400, /* bytes of a piece of output that differs */
    GROUPS_MAX = 64, /* current groups: they outlive their clients */
};

const char *const group_event_words[] = { "result", "done", NULL };

int group_init(struct group *g, const struct group_ops *ops, struct api_call *c, const char *prefix,
               size_t n, struct err *e)
{
    unsigned others = 0;
    *g = (struct group){ .ops = ops, .call = c, .n = n, .parallel = 1 };
    for (const struct group *other = c->api->groups; other; other = other->next_group)
        others++;
    if (others >= GROUPS_MAX)
        return err_set(e, ERR_BUSY, 0, "%u batches are running already: try again later", others);
    id_make(prefix, g->id);
    g->items = calloc(n, sizeof *g->items);
    if (!g->items)
        return err_no_memory(e, "the runs");
    for (size_t i = 0; i < n; i++)
        g->items[i].group = g;
    return 0;
}

void group_done(struct group *g)
{
    for (struct group **p = &g->call->api->groups; *p; p = &(*p)->next_group) {
        if (*p == g) {
            *p = g->next_group;
            break;
        }
    }
    free(g->items);
    g->items = NULL;
}

int group_set_parallel(struct group *g, struct err *e)
{
    uint64_t max = settings_runs_max(g->call->api->settings);
    const json_t *asked = json_object_get(g->call->body, "parallel");
    if (!asked) {
        g->parallel = max / 2 > 0 ? (unsigned)(max / 2) : 1;
        return 0;
    }
    json_int_t n = json_integer_value(asked);
    if (n < 1 || (uint64_t)n > max)
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "parallel %lld is out of bounds: 1 to %llu is accepted, the number of runs at a "
            "time",
            (long long)n, (unsigned long long)max);
    g->parallel = (unsigned)n;
    return 0;
}

const struct group *group_find(const struct api *api, const char *id)
{
    const struct group *g = api->groups;
    while (g && strcmp(g->id, id) != 0)
        g = g->next_group;
    return g;
}

double group_wall_ms(const struct group *g)
{
    return (double)(clock_us() - g->started_us) / 1000;
}

uint64_t group_inline_max(const struct group *g)
{
    uint64_t share = INLINE_ALL / g->n;
    if (g->n <= FEW_RUNS)
        return INLINE_FEW;
    return share < INLINE_MANY ? share : INLINE_MANY;
}

/* ---- running ---- */

static void advance(struct group *g);

static void on_run_event(struct run_watch *w, struct run *x, enum run_event event)
{
    struct group_item *item = (struct group_item *)w; /* its first member */
    struct group *g = item->group;
    if (event != RUN_EVENT_DONE)
        return;
    g->busy++;
    item->run = NULL;
    g->in_flight--;
    /* A run that is not in the history has no result. */
    bool lost = x->record_err.code != ERR_NONE;
    g->ops->finished(g, (size_t)(item - g->items), lost ? NULL : x, lost ? &x->record_err : NULL);
    run_watch_remove(x, w);
    g->busy--;
    advance(g);
}

static int submit(struct group *g, struct group_item *item, const json_t *request, struct err *e)
{
    struct api_call *c = g->call;
    struct run_spec spec = { 0 };
    char field[128];
    if (run_spec_from_json(c->api, &c->who, request, "v1", &spec, field, sizeof field, e))
        return -1;
    spec.batch = strdup(g->id);
    if (!spec.batch) {
        run_spec_done(&spec);
        return err_no_memory(e, "a run");
    }
    item->watch.on_event = on_run_event;
    return api_submit(c->api, &spec, json_string_value(json_object_get(request, "permission_mode")),
                      SUBMIT_UNBOUNDED, &item->watch, &item->run, e);
}

/* False if the queue is full now: the end of a run in flight will make room. */
static bool start_next(struct group *g)
{
    struct err e = { 0 };
    size_t i = g->next++;
    json_t *request = g->ops->request(g, i);
    int failed = request ? submit(g, &g->items[i], request, &e) : err_no_memory(&e, "a run");
    json_decref(request);
    if (failed && e.code == ERR_BUSY && g->in_flight > 0) {
        g->next = i;
        return false;
    }
    if (failed)
        g->ops->finished(g, i, NULL, &e);
    else
        g->in_flight++;
    return true;
}

/* Starts runs up to the bound; ends the group when no run is left. A caller of functions that may
 * call this one increments `busy`, so that the group is not freed meanwhile. */
static void advance(struct group *g)
{
    if (g->busy > 0)
        return;
    g->busy++;
    while (!g->stopped && g->in_flight < g->parallel && g->next < g->n && start_next(g))
        ;
    while (g->stopped && g->in_flight == 0 && g->next < g->n)
        g->ops->skipped(g, g->next++);
    g->busy--;
    if (g->in_flight == 0 && g->next == g->n)
        g->ops->done(g);
}

void group_start(struct group *g)
{
    g->started_us = clock_us();
    g->next_group = g->call->api->groups;
    g->call->api->groups = g;
    advance(g);
}

void group_stop(struct group *g)
{
    g->busy++;
    g->stopped = true;
    for (size_t i = 0; i < g->next; i++) {
        struct group_item *item = &g->items[i];
        if (item->run && !item->cancelled) {
            item->cancelled = true;
            run_cancel(item->run);
        }
    }
    g->busy--;
    advance(g);
}

/* ---- checking ---- */

/* Fields of a run that only the group may have. */
static const struct {
    const char *name;
    int harmless; /* the value that has no effect; -1: none */
    const char *why;
} not_inside[] = {
    { "wait", true, "a batch always waits for its runs" },
    { "stream", false, "the batch streams: set \"stream\" beside \"runs\"" },
    { "cancel_on_disconnect", false,
      "the field holds for the whole batch: set it beside \"runs\"" },
    { "stdin_open", false, "give all of \"stdin\" with the run" },
    { "thread_id", -1, "runs of a batch belong to no session; send this one to /v1/runs" },
};

static int check_not_inside(const json_t *request, char ret_field[128], struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(not_inside); i++) {
        const json_t *value = json_object_get(request, not_inside[i].name);
        if (!value || (json_is_boolean(value) && json_is_true(value) == not_inside[i].harmless))
            continue;
        (void)snprintf(ret_field, 128, "%s", not_inside[i].name);
        return err_set(e, ERR_BAD_REQUEST, 0, "%s is not accepted inside a batch: %s",
                       not_inside[i].name, not_inside[i].why);
    }
    return 0;
}

/* "limits.memory '5x' is …" becomes "runs[3].limits.memory '5x' is …". */
static int name_the_run(const char *prefix, char field[128], struct err *e)
{
    char full[128];
    bool named = field[0] && strncmp(e->text, field, strlen(field)) == 0;
    (void)snprintf(full, sizeof full, "%s%s%s", prefix, field[0] ? "." : "", field);
    memcpy(field, full, sizeof full);
    if (!named)
        return err_wrap(e, "%s", prefix);
    struct err inner = *e;
    return err_set(e, inner.code, 0, "%s.%s", prefix, inner.text);
}

int group_check(const struct group *g, const json_t *request, const char *prefix,
                char ret_field[128], struct err *e)
{
    const struct api_call *c = g->call;
    struct run_spec spec = { 0 };
    ret_field[0] = '\0';
    if (check_not_inside(request, ret_field, e) ||
        run_spec_from_json(c->api, &c->who, request, "v1", &spec, ret_field, 128, e))
        return name_the_run(prefix, ret_field, e);
    run_spec_done(&spec);
    return 0;
}

json_t *request_with_input(const json_t *run, const json_t *input)
{
    static const char *const keys[] = { "stdin", "stdin_encoding", "args" };
    json_t *request = json_copy((json_t *)run);
    for (size_t i = 0; request && i < ARRAY_LEN(keys); i++) {
        json_t *value = json_object_get(input, keys[i]);
        if (value)
            (void)json_object_set(request, keys[i], value);
    }
    return request;
}

int group_check_inputs(const struct group *g, const json_t *run, const json_t *inputs,
                       char ret_field[128], struct err *e)
{
    struct run_spec spec = { 0 };
    const struct api_call *c = g->call;
    if (run_spec_from_json(c->api, &c->who, run, "v1", &spec, ret_field, 128, e))
        return -1;
    json_t *small = json_pack("{s:s, s:s}", "language", spec.language->name, "code", "0");
    run_spec_done(&spec);
    json_t *encoding = json_object_get(run, "stdin_encoding");
    if (encoding)
        (void)json_object_set(small, "stdin_encoding", encoding);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < json_array_size(inputs); i++) {
        char prefix[32];
        json_t *request = small ? request_with_input(small, json_array_get(inputs, i)) : NULL;
        (void)snprintf(prefix, sizeof prefix, "inputs[%zu]", i);
        rc = request ? group_check(g, request, prefix, ret_field, e)
                     : err_no_memory(e, "the inputs");
        json_decref(request);
    }
    json_decref(small);
    return rc;
}

int group_check_count(const struct api_call *c, const char *noun, size_t n, struct err *e)
{
    uint64_t max = c->api->settings->batch_max_runs;
    if (n == 0)
        return err_set(e, ERR_BAD_REQUEST, 0, "%s: none are given; 1 to %llu are accepted", noun,
                       (unsigned long long)max);
    if (n > max)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "%s: %zu are too many: up to %llu are accepted in one request; send the "
                       "rest in another",
                       noun, n, (unsigned long long)max);
    return 0;
}

/* ---- answering ---- */

void group_answer_begin(struct group_answer *a, struct api_call *c)
{
    *a = (struct group_answer){ .call = c };
    a->streamed = stream_asked(c, json_is_true(json_object_get(c->body, "stream")), &a->format);
    if (a->streamed)
        api_stream_begin(c, stream_content_type(a->format));
}

void group_answer_event(struct group_answer *a, const char *name, json_t *fields)
{
    if (a->streamed) {
        json_t *event = json_object();
        json_put(event, "event", json_string(name));
        json_put(event, "seq", json_integer(++a->seq));
        (void)json_object_update(event, fields);
        stream_send(a->call, a->format, a->seq, name, event);
    }
    json_decref(fields);
}

void group_answer_end(struct group_answer *a, json_t *object)
{
    if (!a->streamed) {
        api_reply(a->call, 200, object);
        return;
    }
    group_answer_event(a, "done", object);
    api_stream_end(a->call);
}

json_t *output_json(struct output_piece p)
{
    struct err e;
    scoped(buf) b = { 0 };
    if (!p.bytes)
        return json_null();
    if (text_add_utf8(&b, p.bytes, p.len < PIECE_MAX ? p.len : PIECE_MAX, &e))
        return NULL;
    return json_stringn(buf_str(&b), b.len);
}

json_t *name_or_number(const json_t *object, const char *prefix, size_t i)
{
    json_t *name = json_object_get(object, "name");
    return name ? json_incref(name) : json_sprintf("%s-%zu", prefix, i + 1);
}
