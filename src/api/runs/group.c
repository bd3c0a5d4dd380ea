/* Groups of runs: starting, checking and answering them. See batch.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runs/batch.h"
#include "api/runs/checker.h"
#include "api/runs/run_spec.h"
#include "api/runs/spec_work.h"
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
    *g = (struct group){
        .ops = ops, .call = c, .n = n, .parallel = 1, .is_large = c->prepared != NULL
    };
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

static void set_again(struct group *g, struct group_item *item)
{
    item->again = true;
    g->again++;
}

static void report(struct group *g, struct group_item *item, const struct run *x,
                   const struct err *e)
{
    if (g->ops->finished(g, (size_t)(item - g->items), x, e))
        set_again(g, item);
}

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
    report(g, item, lost ? NULL : x, lost ? &x->record_err : NULL);
    run_watch_remove(x, w);
    g->busy--;
    advance(g);
}

/* Takes over the spec. */
static int submit_spec(struct group *g, struct group_item *item, const json_t *request,
                       struct run_spec *spec, struct err *e)
{
    spec->batch = strdup(g->id);
    if (!spec->batch) {
        run_spec_done(spec);
        return err_no_memory(e, "a run");
    }
    item->watch.on_event = on_run_event;
    return api_submit(g->call->api, spec,
                      json_string_value(json_object_get(request, "permission_mode")),
                      SUBMIT_UNBOUNDED, &item->watch, &item->run, e);
}

/* ---- a spec that a thread makes ---- */

struct item_work {
    struct spec_work work; /* first: on_made() gets it */
    struct group_item *item;
    json_t *request;
};

static void item_work_free(struct item_work *w)
{
    json_decref(w->request);
    free(w);
}

/* The run is one of those in flight since its work began. */
static void on_made(struct spec_work *work)
{
    struct item_work *w = (struct item_work *)work;
    struct group *g = w->item->group;
    size_t i = (size_t)(w->item - g->items);
    struct err e = work->err;
    g->busy++;
    bool made = e.code == ERR_NONE;
    if (g->stopped) {
        if (made)
            run_spec_done(&work->spec);
        g->in_flight--;
        g->ops->skipped(g, i);
    } else if (!made || submit_spec(g, w->item, w->request, &work->spec, &e)) {
        g->in_flight--;
        if (made && e.code == ERR_BUSY && g->in_flight > 0)
            set_again(g, w->item); /* the end of a run in flight will make room */
        else
            report(g, w->item, NULL, &e);
    }
    item_work_free(w);
    g->busy--;
    advance(g);
}

static const char *surface_of(const struct group_item *item)
{
    return item->is_checker ? CHECKER_SURFACE : "v1";
}

static int make_in_thread(struct group *g, struct group_item *item, json_t *request, struct err *e)
{
    struct item_work *w = calloc(1, sizeof *w);
    if (!w)
        return err_no_memory(e, "a run");
    *w = (struct item_work){ .work = { .api = g->call->api,
                                       .who = &g->call->who,
                                       .request = request,
                                       .surface = surface_of(item),
                                       .done = on_made },
                             .item = item,
                             .request = json_incref(request) };
    if (spec_work_start(&w->work, e) == 0)
        return 0;
    item_work_free(w);
    return -1;
}

static int submit(struct group *g, struct group_item *item, json_t *request, struct err *e)
{
    struct api_call *c = g->call;
    struct run_spec spec = { 0 };
    char field[128];
    if (g->is_large || item->is_large)
        return make_in_thread(g, item, request, e);
    if (run_spec_from_json(c->api, &c->who, request, surface_of(item), &spec, field, sizeof field,
                           e))
        return -1;
    return submit_spec(g, item, request, &spec, e);
}

/* An item whose turn comes again, or the next one. */
static size_t take_item(struct group *g)
{
    if (g->again == 0)
        return g->next++;
    size_t i = 0;
    while (!g->items[i].again)
        i++;
    g->items[i].again = false;
    g->again--;
    return i;
}

/* False if the queue is full now: the end of a run in flight will make room. */
static bool start_next(struct group *g)
{
    struct err e = { 0 };
    bool is_next = g->again == 0;
    size_t i = take_item(g);
    json_t *request = g->ops->request(g, i);
    int failed = request ? submit(g, &g->items[i], request, &e) : err_no_memory(&e, "a run");
    json_decref(request);
    if (failed && e.code == ERR_BUSY && g->in_flight > 0) {
        if (is_next)
            g->next = i;
        else
            set_again(g, &g->items[i]);
        return false;
    }
    if (failed)
        report(g, &g->items[i], NULL, &e);
    else
        g->in_flight++;
    return true;
}

static bool are_left(const struct group *g)
{
    return g->next < g->n || g->again > 0;
}

/* Starts runs up to the bound; ends the group when no run is left. A caller of functions that may
 * call this one increments `busy`, so that the group is not freed meanwhile. */
static void advance(struct group *g)
{
    if (g->busy > 0)
        return;
    g->busy++;
    while (!g->stopped && g->in_flight < g->parallel && are_left(g) && start_next(g))
        ;
    while (g->stopped && g->in_flight == 0 && are_left(g))
        g->ops->skipped(g, take_item(g));
    g->busy--;
    if (g->in_flight == 0 && !are_left(g))
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

struct checked_run {
    json_t *request;
    struct run_spec spec;
    char prefix[32];
};

void group_check_done(struct group_check *k)
{
    for (size_t i = 0; i < k->n; i++) {
        run_spec_done(&k->runs[i].spec);
        json_decref(k->runs[i].request);
    }
    free(k->runs);
    k->runs = NULL;
    k->n = 0;
}

/* Without its files, which take most of its memory. */
static int keep_checked(struct group_check *k, const json_t *request, const char *prefix,
                        struct run_spec *spec, struct err *e)
{
    struct checked_run *runs = realloc(k->runs, (k->n + 1) * sizeof *runs);
    if (!runs)
        return err_no_memory(e, "the runs");
    k->runs = runs;
    buf_done(&spec->bundle);
    buf_done(&spec->stdin_bytes);
    struct checked_run *r = &k->runs[k->n++];
    *r = (struct checked_run){ .request = json_incref((json_t *)request), .spec = *spec };
    (void)snprintf(r->prefix, sizeof r->prefix, "%s", prefix);
    *spec = (struct run_spec){ 0 };
    return 0;
}

int group_check_run(struct group_check *k, const json_t *request, const char *prefix,
                    char ret_field[128], struct err *e)
{
    struct run_spec spec = { 0 };
    ret_field[0] = '\0';
    if (check_not_inside(request, ret_field, e) ||
        run_spec_from_json(k->api, k->who, request, "v1", &spec, ret_field, 128, e))
        return name_the_run(prefix, ret_field, e);
    int rc = k->in_thread ? keep_checked(k, request, prefix, &spec, e) : 0;
    run_spec_done(&spec);
    return rc;
}

int group_check_here(const struct api *api, const struct group_check *k, char ret_field[128],
                     struct err *e)
{
    for (size_t i = 0; i < k->n; i++) {
        struct checked_run *r = &k->runs[i];
        ret_field[0] = '\0';
        if (run_spec_check_here(api, r->request, &r->spec, ret_field, 128, e))
            return name_the_run(r->prefix, ret_field, e);
    }
    return 0;
}

static void check_free(void *prepared)
{
    group_check_done(prepared);
    free(prepared);
}

struct group_check *group_check_in_thread(struct api_call *c, const struct api *here)
{
    struct group_check *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    *k = (struct group_check){ .api = here, .who = &c->who, .in_thread = true };
    c->prepared = k;
    c->prepared_free = check_free;
    return k;
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

/* An input asks for nothing of the machine, so it is not kept. */
static int check_input(const struct group_check *k, const json_t *request, const char *prefix,
                       char ret_field[128], struct err *e)
{
    struct group_check alone = { .api = k->api, .who = k->who };
    return group_check_run(&alone, request, prefix, ret_field, e);
}

int group_check_inputs(struct group_check *k, const json_t *run, const json_t *inputs,
                       char ret_field[128], struct err *e)
{
    struct run_spec spec = { 0 };
    if (run_spec_from_json(k->api, k->who, run, "v1", &spec, ret_field, 128, e))
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
        rc = request ? check_input(k, request, prefix, ret_field, e)
                     : err_no_memory(e, "the inputs");
        json_decref(request);
    }
    json_decref(small);
    return rc;
}

int group_check_count(const struct api *api, const char *noun, size_t n, struct err *e)
{
    uint64_t max = api->settings->batch_max_runs;
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
