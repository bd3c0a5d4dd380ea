/* Copies of sandboxes: forks, snapshots (checkpoints of a session), and sandboxes that begin in one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/doors/e2b/e2b.h"
#include "api/kernel/storage.h"
#include "api/runs/history_routes.h"
#include "api/sessions/session_find.h"
#include "base/text.h"
#include "run/json.h"

static double timeout_of(const struct api_call *c)
{
    const json_t *v = json_object_get(c->body, "timeout");
    return v ? json_number_value(v) : E2B_TIMEOUT_S;
}

/* ---- forks ---- */

struct fork_call {
    struct session_fork fork;
    struct api_call *call;
    json_t *facts; /* of the copies */
    bool one;      /* the answer is that of `create` */
    bool offline;  /* the copy has no network, also if its original has one */
};

static void fork_call_free(struct fork_call *f)
{
    json_decref(f->fork.not_carried);
    json_decref(f->facts);
    free(f);
}

/* A copy has facts of its own: those of its original are shared with it until here. */
static void give_facts(struct session *s, const json_t *facts)
{
    json_t *metadata = json_is_object(s->spec.metadata) ? json_copy(s->spec.metadata)
                                                        : json_object();
    const json_t *contexts = json_object_get(e2b_facts(s), "contexts");
    json_t *own = json_deep_copy(facts);
    if (contexts)
        json_put(own, "contexts", json_deep_copy(contexts));
    json_put(metadata, "e2b", own);
    json_decref(s->spec.metadata);
    s->spec.metadata = metadata;
    int64_t end = json_integer_value(json_object_get(facts, "end_ms"));
    int64_t left = end - s->created_ms;
    session_set_idle(s, left > 1000 ? (uint64_t)left : 1000);
    e2b_facts_changed(s);
}

static void on_forked(struct session_fork *fork, const struct err *e)
{
    struct fork_call *f = (struct fork_call *)fork;
    struct api *api = f->call->api;
    if (e) {
        api_fail(f->call, e, NULL);
        fork_call_free(f);
        return;
    }
    json_t *list = json_array();
    for (unsigned i = 0; i < fork->count; i++) {
        struct network_policy none = { .mode = NETWORK_NONE };
        give_facts(fork->copies[i], f->facts);
        if (f->offline)
            session_set_network(fork->copies[i], &none);
        json_t *copy = e2b_sandbox_json(f->call, fork->copies[i]);
        (void)json_array_append_new(list, f->one ? copy : json_pack("{s:o}", "sandbox", copy));
    }
    api_reply(f->call, 201, f->one ? json_incref(json_array_get(list, 0)) : json_incref(list));
    for (unsigned i = 0; i < fork->count; i++)
        helper_start(api, fork->copies[i]);
    json_decref(list);
    fork_call_free(f);
}

static struct fork_call *fork_new(struct api_call *c, json_t *facts, unsigned count)
{
    struct fork_call *f = calloc(1, sizeof *f);
    if (!f) {
        json_decref(facts);
        api_fail_no_memory(c);
        return NULL;
    }
    *f = (struct fork_call){ .fork = { .on_done = on_forked, .count = count },
                             .call = c,
                             .facts = facts };
    return f;
}

static void fork_begin(struct fork_call *f, struct session *s)
{
    struct err e = { 0 };
    struct api_call *c = f->call;
    if (storage_check(c->api, &e) || session_fork(s, &f->fork, &e)) {
        fork_call_free(f);
        api_fail(c, &e, NULL);
    }
}

static const struct api_field fork_fields[] = {
    { "count", FIELD_INT, .min = 1, .max = FORKS_MAX },
    { "timeout", FIELD_NUMBER, .min = 1, .max = E2B_TIMEOUT_MAX_S },
    { 0 },
};

static void post_fork(struct api_call *c)
{
    struct session *s = e2b_control(c);
    if (!s || (session_must_wake(s) && !(s = session_to_use(c))) || helper_wait(c, s))
        return;
    const json_t *of = e2b_facts(s), *count = json_object_get(c->body, "count");
    json_t *facts = e2b_facts_new(json_string_value(json_object_get(of, "template")),
                                  json_object_get(of, "metadata"), timeout_of(c),
                                  json_is_true(json_object_get(of, "auto_pause")),
                                  json_is_true(json_object_get(of, "auto_resume")));
    struct fork_call *f = fork_new(c, facts, count ? (unsigned)json_integer_value(count) : 1);
    if (f)
        fork_begin(f, s);
}

/* ---- snapshots ---- */

static json_t *snapshot_json(const struct checkpoint *x)
{
    json_t *names = x->name ? json_pack("[s]", x->name) : json_array();
    return json_pack("{s:s, s:o}", "snapshotID", x->id, "names", names);
}

struct snapshot_call {
    struct checkpoint_request request;
    struct api_call *call;
    struct session_watch watch; /* so that the session lives until the answer */
    struct session *session;
};

static void ignore_event(struct session_watch *w, struct session *s, enum session_event event)
{
    (void)w;
    (void)s;
    (void)event;
}

static void on_taken(struct checkpoint_request *r, const struct err *failed)
{
    struct snapshot_call *x = (struct snapshot_call *)r;
    struct checkpoint found;
    struct err e = { 0 };
    if (failed)
        e = *failed;
    if (!failed && checkpoint_find(x->session, r->id, &found, &e) == 0)
        api_reply(x->call, 201, snapshot_json(&found));
    else
        api_fail(x->call, &e, NULL);
    session_watch_remove(x->session, &x->watch);
    free(x);
}

static const struct api_field snapshot_fields[] = {
    { "name", FIELD_STRING, .min = 1, .max = CHECKPOINT_NAME_MAX },
    { 0 },
};

static void post_snapshot(struct api_call *c)
{
    struct err e = { 0 };
    struct session *s = e2b_control(c);
    if (!s || (session_must_wake(s) && !(s = session_to_use(c))) || helper_wait(c, s))
        return;
    struct snapshot_call *x = calloc(1, sizeof *x);
    if (!x) {
        api_fail_no_memory(c);
        return;
    }
    *x = (struct snapshot_call){
        .request = { .on_done = on_taken, .name = api_text(c, "name"), .actor = c->who.name },
        .call = c,
        .watch.on_event = ignore_event,
        .session = s
    };
    if (storage_check(c->api, &e) || session_checkpoint(s, &x->request, &e)) {
        free(x);
        api_fail(c, &e, NULL);
        return;
    }
    session_watch_add(s, &x->watch);
}

struct snapshot_list {
    json_t *list;
    char sandbox[200], name[CHECKPOINT_NAME_MAX + 1];
};

static bool add_snapshot(void *context, struct checkpoint *x)
{
    struct snapshot_list *l = context;
    bool wanted = !x->before && (!l->name[0] || (x->name && strcmp(x->name, l->name) == 0));
    if (wanted)
        (void)json_array_append_new(l->list, snapshot_json(x));
    return false;
}

static bool is_ours(const struct api_call *c, const struct session *s)
{
    return e2b_facts(s) && (history_is_own(c, s->spec.key, s->created_ms) ||
                            (c->who.scopes & SCOPE_BIT(SCOPE_ADMIN)));
}

static const struct api_field list_query[] = {
    { "sandboxID", FIELD_STRING, .help = "as E2B has it" },
    { "name", FIELD_STRING, .help = "as E2B has it" },
    { "limit", FIELD_INT, .min = 1, .max = 1000 },
    { "nextToken", FIELD_STRING, .help = "as E2B has it" },
    { 0 },
};

static void get_snapshots(struct api_call *c)
{
    struct snapshot_list l = { .list = json_array() };
    struct err e = { 0 };
    const char *given = NULL;
    int64_t limit = 100;
    if (api_query(c, "sandboxID", l.sandbox, sizeof l.sandbox, &given, &e) ||
        api_query(c, "name", l.name, sizeof l.name, &given, &e) ||
        api_query_number(c, "limit", 1, 1000, &limit, &e)) {
        json_decref(l.list);
        api_fail(c, &e, NULL);
        return;
    }
    for (const struct session *s = sessions_first(c->api->sessions); s; s = s->next)
        if (is_ours(c, s) && (!l.sandbox[0] || strcmp(s->id, l.sandbox) == 0))
            (void)checkpoints_each(s, add_snapshot, &l);
    while (json_array_size(l.list) > (size_t)limit)
        (void)json_array_remove(l.list, (size_t)limit);
    api_reply(c, 200, l.list);
}

/* The sandbox that has the snapshot, by id or by name. */
static struct session *find_snapshot(const struct api_call *c, const char *id,
                                     struct checkpoint *ret)
{
    struct err ignored;
    for (struct session *s = sessions_first(c->api->sessions); s; s = s->next)
        if (is_ours(c, s) && checkpoint_find(s, id, ret, &ignored) == 0 && !ret->before)
            return s;
    return NULL;
}

static void delete_snapshot(struct api_call *c)
{
    struct checkpoint found;
    struct session *s = find_snapshot(c, c->params[0], &found);
    char message[160];
    if (!s) {
        (void)snprintf(message, sizeof message, "snapshot '%s' not found", QUOTED(c->params[0]));
        e2b_fail(c, 404, "not_found", message);
        return;
    }
    checkpoint_remove(s, found.id);
    api_reply_text(c, 204, "application/json", "", 0);
}

void e2b_create_from_snapshot(struct api_call *c, const char *snapshot, json_t *facts)
{
    struct checkpoint found = { 0 };
    char message[240];
    struct session *s = find_snapshot(c, snapshot, &found);
    if (!s) {
        json_decref(facts);
        (void)snprintf(message, sizeof message,
                       "template '%s' not found: 'base', 'code-interpreter-v1' and the ids of "
                       "snapshots of sandboxes that live are accepted",
                       QUOTED(snapshot));
        e2b_fail(c, 404, "not_found", message);
        return;
    }
    struct fork_call *f = fork_new(c, facts, 1);
    if (!f)
        return;
    f->one = true;
    f->offline = json_is_false(json_object_get(c->body, "allow_internet_access"));
    f->fork.from = found;
    fork_begin(f, s);
}

const struct api_route e2b_snapshot_routes[] = {
    { METHOD_POST, "/sandboxes/{id}/fork", SCOPE_RUN, STYLE_E2B,
      .flags = ROUTE_LENIENT | ROUTE_BODY_OPTIONAL, .body = fork_fields, .handle = post_fork,
      .summary = "Copies of a sandbox" },
    { METHOD_POST, "/sandboxes/{id}/snapshots", SCOPE_RUN, STYLE_E2B,
      .flags = ROUTE_LENIENT | ROUTE_BODY_OPTIONAL, .body = snapshot_fields,
      .handle = post_snapshot, .summary = "A snapshot of a sandbox" },
    { METHOD_GET, "/snapshots", SCOPE_RUN, STYLE_E2B, .flags = ROUTE_LENIENT, .query = list_query,
      .handle = get_snapshots, .summary = "The snapshots of a key" },
    { METHOD_DELETE, "/templates/{id}", SCOPE_RUN, STYLE_E2B, .flags = ROUTE_LENIENT,
      .handle = delete_snapshot, .summary = "Remove a snapshot" },
    { 0 },
};
