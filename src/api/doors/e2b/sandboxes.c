/* The control plane: creating, finding, listing, changing and ending sandboxes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/doors/e2b/e2b.h"
#include "api/kernel/storage.h"
#include "api/runs/history_routes.h"
#include "api/runs/network_request.h"
#include "api/sessions/network_change.h"
#include "api/sessions/session_find.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/text.h"
#include "run/json.h"
#include "run/result.h"

/* A sandbox has room for tables and figures beside an image of its program. */
enum { MEMORY_BYTES = 1 << 30, LISTED_MAX = 1024 };

/* ---- network options ---- */

static const struct api_field egress_fields[] = {
    { "allowOut", FIELD_STRINGS, .max = 200 },
    { "denyOut", FIELD_STRINGS, .max = 200 },
    { "allowPublicTraffic", FIELD_BOOL, .help = "as E2B has it" },
    { "maskRequestHost", FIELD_ANY, .help = "as E2B has it" },
    { "egressProxy", FIELD_ANY, .help = "as E2B has it" },
    { "rules", FIELD_ANY, .help = "as E2B has it" },
    { "httpsPorts", FIELD_ANY, .help = "as E2B has it" },
    { 0 },
};

static bool is_all_traffic(const char *host)
{
    return strcmp(host, "0.0.0.0/0") == 0 || strcmp(host, "*") == 0;
}

/* The widest list that the operator allows; NULL: none. */
static json_t *widest(const struct api *api)
{
    scoped(network_policy) most = { 0 };
    struct err e = { 0 };
    if (settings_network_max(api->settings, &most, &e) || most.mode == NETWORK_NONE)
        return NULL;
    return network_to_json(&most);
}

static int check_unserved(const json_t *egress, struct err *e)
{
    static const char *const keys[] = { "egressProxy", "rules", "maskRequestHost", "httpsPorts" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *v = json_object_get(egress, keys[i]);
        if (v && !json_is_null(v) && !(json_is_object(v) && json_object_size(v) == 0))
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "network.%s is not served: Belljar has lists of hosts (allowOut)",
                           keys[i]);
    }
    return 0;
}

/* E2B denies hosts that would be allowed; Belljar has only the hosts of a list. So a list of denied hosts
 * may say nothing but "all others". */
static int check_denied(const json_t *denied, bool has_allowed, struct err *e)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(denied, i, entry)
        if (!is_all_traffic(json_string_value(entry)))
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "network.denyOut '%s' is not served: '0.0.0.0/0' is, with allowOut",
                           QUOTED(json_string_value(entry)));
    (void)has_allowed;
    return 0;
}

static json_t *allow_list(const json_t *allowed, bool *all)
{
    size_t i;
    const json_t *entry;
    json_t *list = json_array();
    json_array_foreach(allowed, i, entry) {
        if (is_all_traffic(json_string_value(entry)))
            *all = true;
        else
            (void)json_array_append(list, (json_t *)entry);
    }
    return list;
}

/* The field "network" of a session; *ret NULL: none. *ret_asked: the client wants a network. */
static int take_network(const struct api_call *c, const json_t *egress, json_t **ret,
                        bool *ret_asked, struct err *e)
{
    const json_t *internet = json_object_get(c->body, "allow_internet_access");
    const json_t *allowed = json_object_get(egress, "allowOut");
    const json_t *denied = json_object_get(egress, "denyOut");
    bool all = false;
    *ret = NULL;
    *ret_asked = json_is_true(internet) || json_array_size(allowed) > 0;
    if (check_unserved(egress, e) || check_denied(denied, json_array_size(allowed) > 0, e))
        return -1;
    if (json_is_false(internet) || (json_array_size(denied) > 0 && json_array_size(allowed) == 0)) {
        *ret_asked = false;
        return 0;
    }
    json_auto_t *list = allow_list(allowed, &all);
    if (json_array_size(allowed) > 0 && !all) {
        *ret = json_pack("{s:O}", "allow", list);
        return 0;
    }
    *ret = widest(c->api);
    if (!*ret && *ret_asked)
        return err_set(e, ERR_DENIED, 0,
                       "this service allows no network: the operator sets network.max, or create "
                       "the sandbox with allowInternetAccess: false");
    return 0;
}

/* ---- create ---- */

static const struct api_field create_fields[] = {
    { "templateID", FIELD_STRING, .min = 1, .max = 200 },
    { "timeout", FIELD_NUMBER, .min = 1, .max = E2B_TIMEOUT_MAX_S },
    { "metadata", FIELD_STRING_MAP, .max = 200 },
    { "envVars", FIELD_STRING_MAP, .max = 500 },
    { "allow_internet_access", FIELD_BOOL, .help = "as E2B has it" },
    { "network", FIELD_OBJECT, .fields = egress_fields },
    { "autoPause", FIELD_BOOL, .help = "as E2B has it" },
    { "autoResume", FIELD_ANY, .help = "as E2B has it" },
    { "mcp", FIELD_ANY, .help = "as E2B has it" },
    { "iam", FIELD_ANY, .help = "as E2B has it" },
    { "volumeMounts", FIELD_ANY, .help = "as E2B has it" },
    { 0 },
};

static int check_create(const json_t *body, struct err *e)
{
    static const char *const refused[] = { "mcp", "iam", "volumeMounts" };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (json_object_get(body, refused[i]))
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "'%s' is not served: create the sandbox without it (docs/doors.md)",
                           refused[i]);
    return 0;
}

/* A copy of a snapshot has the variables and the network of its original, and may have no network. */
static int check_copy(const json_t *body, struct err *e)
{
    static const char *const fixed[] = { "envVars", "network" };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (json_object_size(json_object_get(body, fixed[i])) > 0)
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "'%s' is not served with a snapshot: the sandbox has that of its "
                           "original; allowInternetAccess: false and updateNetwork() are served",
                           fixed[i]);
    return 0;
}

static double timeout_of(const struct api_call *c)
{
    const json_t *v = json_object_get(c->body, "timeout");
    return v ? json_number_value(v) : E2B_TIMEOUT_S;
}

static json_t *facts_of(const struct api_call *c)
{
    const char *template = api_text(c, "templateID");
    const json_t *resume = json_object_get(c->body, "autoResume");
    bool resumes = json_is_true(resume) || json_is_true(json_object_get(resume, "enabled"));
    const json_t *network = json_object_get(c->body, "network");
    json_t *facts = e2b_facts_new(template ? template : "base",
                                  json_object_get(c->body, "metadata"), timeout_of(c),
                                  json_is_true(json_object_get(c->body, "autoPause")), resumes);
    if (json_is_false(json_object_get(network, "allowPublicTraffic")))
        json_put(facts, "private_ports", json_true());
    return facts;
}

/* The body of POST /v1/sessions. Takes over the references of network and facts. */
static json_t *session_body(const struct api_call *c, json_t *network, json_t *facts)
{
    const json_t *env = json_object_get(c->body, "envVars");
    bool pauses = json_is_true(json_object_get(c->body, "autoPause"));
    uint64_t most = c->api->settings->limit_max.v[LIMIT_MEMORY];
    json_t *o = json_pack("{s:s, s:i, s:f, s:s, s:{s:I}, s:{s:o}}", "language", "python", "ttl_s",
                          E2B_TIMEOUT_MAX_S, "idle_s", timeout_of(c), "idle",
                          pauses ? "sleep" : "end", "cell_limits", limit_defs[LIMIT_WALL_MS].key,
                          (json_int_t)c->api->settings->limit_max.v[LIMIT_WALL_MS], "metadata",
                          "e2b", facts);
    json_put(o, "limits",
             json_pack("{s:I}", limit_defs[LIMIT_MEMORY].key,
                       (json_int_t)(most < MEMORY_BYTES ? most : MEMORY_BYTES)));
    if (env)
        json_put(o, "env", json_deep_copy(env));
    if (network)
        json_put(o, "network", network);
    return o;
}

struct create_waiter {
    struct session_watch watch;
    struct api_call *call;
};

static void on_created(struct session_watch *watch, struct session *s, enum session_event event)
{
    struct create_waiter *w = (struct create_waiter *)watch;
    struct err e = { 0 };
    if (s->state == SESSION_STARTING || (s->state == SESSION_ENDED && event != SESSION_EVENT_ENDED))
        return;
    if (s->state == SESSION_ENDED) {
        (void)!err_set(&e, ERR_UNAVAILABLE, 0, "the sandbox did not start: %s", s->reason);
        api_fail(w->call, &e, NULL);
    } else {
        struct api *api = w->call->api;
        api_reply(w->call, 201, e2b_sandbox_json(w->call, s));
        helper_start(api, s);
    }
    session_watch_remove(s, watch);
    free(w);
}

/* Without a wish of the client, a network that is refused is left out. */
static int make_spec(struct api_call *c, json_t *network, bool asked, struct session_spec *ret,
                     struct err *e)
{
    char field[128] = "";
    json_auto_t *wanted = network;
    json_auto_t *body = session_body(c, json_incref(wanted), facts_of(c));
    if (!body)
        return err_no_memory(e, "a sandbox");
    if (session_spec_from_json(c, body, ret, field, sizeof field, e) == 0)
        return 0;
    if (asked || !wanted)
        return -1;
    *e = (struct err){ 0 };
    (void)json_object_del(body, "network");
    json_put(json_object_get(body, "metadata"), "e2b", facts_of(c));
    return session_spec_from_json(c, body, ret, field, sizeof field, e);
}

static void post_sandbox(struct api_call *c)
{
    struct err e = { 0 };
    scoped(session_spec) spec = { 0 };
    struct session *s;
    json_t *network = NULL;
    bool asked = false;
    const char *template = api_text(c, "templateID");
    e2b_watch_ends(c->api);
    if (check_create(c->body, &e) ||
        take_network(c, json_object_get(c->body, "network"), &network, &asked, &e)) {
        api_fail(c, &e, NULL);
        return;
    }
    if (template && !e2b_is_plain_template(template)) {
        json_decref(network);
        if (check_copy(c->body, &e))
            api_fail(c, &e, NULL);
        else
            e2b_create_from_snapshot(c, template, facts_of(c));
        return;
    }
    struct create_waiter *w = calloc(1, sizeof *w);
    if (!w) {
        json_decref(network);
        api_fail_no_memory(c);
        return;
    }
    *w = (struct create_waiter){ { .on_event = on_created }, c };
    if (make_spec(c, network, asked, &spec, &e) || storage_check(c->api, &e) ||
        session_new(c->api->sessions, &spec, &w->watch, &s, &e)) {
        free(w);
        api_fail(c, &e, NULL);
    }
}

/* ---- one sandbox, and the list ---- */

static bool is_paused(const struct session *s)
{
    return s->state == SESSION_SLEEPING;
}

static json_t *info_of(struct api_call *c, const struct session *s)
{
    const json_t *facts = e2b_facts(s);
    bool pauses = json_is_true(json_object_get(facts, "auto_pause"));
    json_t *o = e2b_sandbox_json(c, s);
    (void)json_object_del(o, "envdAccessToken");
    (void)json_object_del(o, "trafficAccessToken");
    json_put(o, "state", json_string(is_paused(s) ? "paused" : "running"));
    json_put(o, "startedAt", result_time((uint64_t)s->created_ms));
    json_put(o, "endAt",
             result_time((uint64_t)json_integer_value(json_object_get(facts, "end_ms"))));
    json_put(o, "cpuCount", json_integer(1));
    json_put(o, "memoryMB", json_integer((json_int_t)(s->spec.limits.v[LIMIT_MEMORY] >> 20)));
    json_put(o, "diskSizeMB", json_integer((json_int_t)(s->spec.limits.v[LIMIT_DISK] >> 20)));
    json_put(o, "metadata", json_deep_copy(json_object_get(facts, "metadata")));
    json_put(o, "allowInternetAccess", json_boolean(s->spec.network.mode != NETWORK_NONE));
    json_put(o, "volumeMounts", json_array());
    json_put(o, "lifecycle",
             json_pack("{s:s, s:b}", "onTimeout", pauses ? "pause" : "kill", "autoResume",
                       json_is_true(json_object_get(facts, "auto_resume"))));
    return o;
}

static void get_sandbox(struct api_call *c)
{
    const struct session *s = e2b_control(c);
    if (s)
        api_reply(c, 200, info_of(c, s));
}

struct filter {
    bool running, paused;
    char metadata[1024];
    int64_t limit, from, after_ms;
    char template[200];
    bool oldest_first;
};

/* Percent-decodes a part of a query, twice: clients encode each name and each value, and then all of them
 * once more. */
static int decode_twice(const char *part, size_t n, char *out, size_t size)
{
    char once[1100];
    struct err e;
    const char *given = NULL;
    if (n >= size)
        return -1;
    (void)snprintf(out, size, "%.*s", (int)n, part);
    for (int i = 0; i < 2; i++) {
        (void)snprintf(once, sizeof once, "x=%s", out);
        const struct http_request as_query = { .query = once };
        if (http_query_get(&as_query, "x", out, size, &given, &e))
            return -1;
    }
    return 0;
}

/* "user%2520name=a%2520b&...": all of them. */
static bool has_metadata(const json_t *facts, const char *wanted)
{
    const json_t *all = json_object_get(facts, "metadata");
    char name[1024], value[1024];
    for (const char *at = wanted; *at;) {
        size_t pair = strcspn(at, "&"), n = strcspn(at, "=&");
        const char *behind = n < pair ? at + n + 1 : at + n;
        if (decode_twice(at, n, name, sizeof name) ||
            decode_twice(behind, (size_t)(at + pair - behind), value, sizeof value))
            return false;
        const char *is = json_string_value(json_object_get(all, name));
        if (!is || strcmp(is, value) != 0)
            return false;
        at += pair + (at[pair] == '&');
    }
    return true;
}

static int take_states(const struct api_call *c, struct filter *f, struct err *e)
{
    char text[64] = "", *rest = text;
    const char *given = NULL;
    if (api_query(c, "state", text, sizeof text, &given, e))
        return -1;
    if (!given)
        f->running = f->paused = true;
    for (char *word; given && (word = strsep(&rest, ","));) {
        if (strcmp(word, "running") != 0 && strcmp(word, "paused") != 0)
            return err_set(e, ERR_BAD_REQUEST, 0,
                           "state '%s' is not accepted: running, paused or both", QUOTED(word));
        *(word[0] == 'r' ? &f->running : &f->paused) = true;
    }
    return 0;
}

static int take_filter(const struct api_call *c, struct filter *f, struct err *e)
{
    const char *given = NULL;
    char order[8] = "", moment[64] = "", token[32] = "";
    f->limit = 100;
    if (take_states(c, f, e) ||
        api_query(c, "metadata", f->metadata, sizeof f->metadata, &given, e) ||
        api_query(c, "template", f->template, sizeof f->template, &given, e) ||
        api_query(c, "order", order, sizeof order, &given, e) ||
        api_query_number(c, "limit", 1, 1000, &f->limit, e) ||
        api_query(c, "startedAfter", moment, sizeof moment, &given, e) ||
        (moment[0] && api_moment("startedAfter", moment, clock_unix_ms(), &f->after_ms, e)) ||
        api_query(c, "nextToken", token, sizeof token, &given, e))
        return -1;
    f->oldest_first = strcmp(order, "asc") == 0;
    char *end;
    f->from = strtoll(token, &end, 10);
    if (token[0] && (*end || f->from < 0 || f->from > LISTED_MAX))
        return err_set(e, ERR_BAD_REQUEST, 0, "nextToken '%s' is not one of this service",
                       QUOTED(token));
    return 0;
}

static bool is_listed(const struct api_call *c, const struct session *s, const struct filter *f)
{
    const json_t *facts = e2b_facts(s);
    const char *template = json_string_value(json_object_get(facts, "template"));
    return facts && (is_paused(s) ? f->paused : f->running) && s->state != SESSION_STARTING &&
           s->created_ms > f->after_ms &&
           (history_is_own(c, s->spec.key, s->created_ms) ||
            (c->who.scopes & SCOPE_BIT(SCOPE_ADMIN))) &&
           (!f->template[0] || (template && strcmp(template, f->template) == 0)) &&
           (!f->metadata[0] || has_metadata(facts, f->metadata));
}

static int by_start(const void *a, const void *b)
{
    const struct session *x = *(struct session *const *)a, *y = *(struct session *const *)b;
    return x->created_ms < y->created_ms ? 1 : x->created_ms > y->created_ms ? -1 : 0;
}

static void get_sandboxes(struct api_call *c)
{
    struct filter f = { 0 };
    struct err e = { 0 };
    struct session *found[LISTED_MAX];
    size_t n = 0, at;
    char next[32];
    e2b_watch_ends(c->api);
    if (take_filter(c, &f, &e)) {
        api_fail(c, &e, NULL);
        return;
    }
    for (struct session *s = sessions_first(c->api->sessions); s && n < LISTED_MAX; s = s->next)
        if (is_listed(c, s, &f))
            found[n++] = s;
    qsort(found, n, sizeof(struct session *), by_start); // NOLINT(bugprone-sizeof-expression)
    json_t *list = json_array();
    for (at = (size_t)f.from; at < n && at < (size_t)(f.from + f.limit); at++)
        (void)json_array_append_new(list, info_of(c, found[f.oldest_first ? n - 1 - at : at]));
    (void)snprintf(next, sizeof next, "%zu", at);
    if (at < n)
        http_answer_header(c->http, "x-next-token", next);
    api_reply(c, 200, list);
}

/* ---- changes ---- */

static void reply_none(struct api_call *c)
{
    api_reply_text(c, 204, "application/json", "", 0);
}

static void delete_sandbox(struct api_call *c)
{
    char reason[KEY_NAME_MAX + 64];
    struct session *s = e2b_control(c);
    if (!s)
        return;
    (void)snprintf(reason, sizeof reason, "it was killed by %s", c->who.name);
    session_end(s, reason);
    reply_none(c);
}

static const struct api_field timeout_fields[] = {
    { "timeout", FIELD_NUMBER, .min = 0, .max = E2B_TIMEOUT_MAX_S },
    { "duration", FIELD_NUMBER, .min = 0, .max = E2B_TIMEOUT_MAX_S },
    { "memory", FIELD_BOOL, .help = "as E2B has it" },
    { "autoPause", FIELD_BOOL, .help = "as E2B has it" },
    { 0 },
};

static void post_timeout(struct api_call *c)
{
    struct session *s = e2b_control(c);
    const json_t *duration = json_object_get(c->body, "duration");
    if (!s)
        return;
    double wanted = duration ? json_number_value(duration) : timeout_of(c);
    e2b_set_end(s, wanted < 1 ? 1 : wanted, false);
    reply_none(c);
}

struct wait_call {
    struct session_wait wait;
    struct api_call *call;
};

static struct wait_call *wait_new(struct api_call *c,
                                  void (*done)(struct session_wait *, struct session *,
                                               const struct err *))
{
    struct wait_call *l = calloc(1, sizeof *l);
    if (l)
        *l = (struct wait_call){ .wait.on_done = done, .call = c };
    else
        api_fail_no_memory(c);
    return l;
}

/* For an SDK, 409 means that the sandbox is paused already. The usual reason of a failure is want of
 * room for the image. */
static int pause_status(const struct err *e)
{
    int status = err_http_status(e->code);
    return e->code == ERR_CONFLICT ? 400 : status == 500 ? 507 : status;
}

static void on_paused(struct session_wait *w, struct session *s, const struct err *e)
{
    struct wait_call *l = (struct wait_call *)w;
    (void)s;
    if (e)
        e2b_fail(l->call, pause_status(e), "failed_precondition", ERR_SHOWN(e));
    else
        reply_none(l->call);
    json_decref(w->not_carried);
    free(l);
}

static void post_pause(struct api_call *c)
{
    struct err e = { 0 };
    struct session *s = e2b_control(c);
    if (!s)
        return;
    if (is_paused(s)) {
        e2b_fail(c, 409, "already_exists", "the sandbox is paused already");
        return;
    }
    if (helper_wait(c, s))
        return;
    struct wait_call *l = wait_new(c, on_paused);
    if (!l)
        return;
    if (storage_check(c->api, &e) || session_sleep(s, false, &l->wait, &e)) {
        free(l);
        e2b_fail(c, pause_status(&e), "failed_precondition", ERR_SHOWN(&e));
    }
}

static void reply_connected(struct api_call *c, struct session *s, int status)
{
    struct api *api = c->api;
    e2b_set_end(s, timeout_of(c), true);
    api_reply(c, status, e2b_sandbox_json(c, s));
    helper_start(api, s);
}

static void on_resumed(struct session_wait *w, struct session *s, const struct err *e)
{
    struct wait_call *l = (struct wait_call *)w;
    if (e)
        api_fail(l->call, e, NULL);
    else
        reply_connected(l->call, s, 201);
    free(l);
}

static void post_connect(struct api_call *c)
{
    struct err e = { 0 };
    struct session *s = e2b_control(c);
    if (!s)
        return;
    if (json_is_false(json_object_get(c->body, "memory"))) {
        e2b_fail(c, 400, "unimplemented",
                 "a resume without memory ('reboot') is not served: Belljar restores the memory");
        return;
    }
    if (!session_must_wake(s)) {
        reply_connected(c, s, 200);
        return;
    }
    /* Its time is over while it sleeps, and begins anew. */
    e2b_set_end(s, timeout_of(c), true);
    struct wait_call *l = wait_new(c, on_resumed);
    if (l && session_wake(s, &l->wait, &e)) {
        free(l);
        api_fail(c, &e, NULL);
    }
}

static const struct api_field update_fields[] = {
    { "allowOut", FIELD_STRINGS, .max = 200 },
    { "denyOut", FIELD_STRINGS, .max = 200 },
    { "egressProxy", FIELD_ANY, .help = "as E2B has it" },
    { "rules", FIELD_ANY, .help = "as E2B has it" },
    { "allow_internet_access", FIELD_BOOL, .help = "as E2B has it" },
    { 0 },
};

static void put_network(struct api_call *c)
{
    struct err e = { 0 };
    char field[128] = "";
    json_t *network = NULL;
    struct network_policy policy = { 0 };
    bool asked = false;
    struct session *s = e2b_control(c);
    if (!s)
        return;
    if (take_network(c, c->body, &network, &asked, &e)) {
        api_fail(c, &e, NULL);
        return;
    }
    json_put(c->body, "network", network ? network : json_string("none"));
    if (network_change_parse(c, s, &policy, field, sizeof field, &e)) {
        api_fail(c, &e, NULL);
        return;
    }
    session_set_network(s, &policy);
    e2b_facts_changed(s);
    reply_none(c);
}

/* ---- metrics ---- */

struct metrics_call {
    struct helper_call helper;
    struct api_call *call;
    struct session *session;
    struct session_watch watch; /* so that the session lives until the answer */
};

static void ignore_event(struct session_watch *w, struct session *s, enum session_event event)
{
    (void)w;
    (void)s;
    (void)event;
}

static json_t *number_or_zero(const json_t *of, const char *key)
{
    const json_t *v = json_object_get(of, key);
    return json_is_number(v) ? json_deep_copy(v) : json_integer(0);
}

static void on_metrics(struct helper_call *x, const json_t *message, const char *bytes, size_t n)
{
    struct metrics_call *m = (struct metrics_call *)x;
    const struct session *s = m->session;
    const json_t *found = json_object_get(message, "reply");
    int64_t now = clock_unix_ms();
    json_t *o = json_pack(
        "{s:o, s:I, s:o, s:i, s:I, s:I, s:i, s:o, s:o}", "timestamp", result_time((uint64_t)now),
        "timestampUnix", (json_int_t)(now / 1000), "cpuUsedPct",
        number_or_zero(found, "cpuUsedPct"), "cpuCount", 1, "memUsed", (json_int_t)s->memory_bytes,
        "memTotal", (json_int_t)s->spec.limits.v[LIMIT_MEMORY], "memCache", 0, "diskUsed",
        number_or_zero(found, "diskUsed"), "diskTotal", number_or_zero(found, "diskTotal"));
    (void)bytes;
    (void)n;
    helper_drop(x, true);
    api_reply(m->call, 200, json_pack("[o]", o));
    session_watch_remove(m->session, &m->watch);
    free(m);
}

static const struct api_field metrics_query[] = {
    { "start", FIELD_INT, .min = 0, .max = 1e15 },
    { "end", FIELD_INT, .min = 0, .max = 1e15 },
    { 0 },
};

static void get_metrics(struct api_call *c)
{
    struct err e = { 0 };
    struct session *s = e2b_control(c);
    if (!s)
        return;
    if (is_paused(s)) {
        api_reply(c, 200, json_array());
        return;
    }
    struct metrics_call *m = calloc(1, sizeof *m);
    if (!m) {
        api_fail_no_memory(c);
        return;
    }
    *m = (struct metrics_call){
        .helper.on_message = on_metrics, .call = c, .session = s, .watch.on_event = ignore_event
    };
    (void)session_measure(s);
    session_watch_add(s, &m->watch);
    if (helper_send(c->api, s, &m->helper, json_pack("{s:s}", "method", "metrics"), NULL, 0, &e)) {
        session_watch_remove(s, &m->watch);
        free(m);
        api_fail(c, &e, NULL);
    }
}

static const struct api_field list_query[] = {
    { "metadata", FIELD_STRING, .help = "as E2B has it" },
    { "state", FIELD_STRING, .help = "as E2B has it" },
    { "startedAfter", FIELD_STRING, .help = "as E2B has it" },
    { "template", FIELD_STRING, .help = "as E2B has it" },
    { "order", FIELD_STRING, .help = "as E2B has it" },
    { "limit", FIELD_INT, .min = 1, .max = 1000 },
    { "nextToken", FIELD_STRING, .help = "as E2B has it" },
    { 0 },
};

#define OPEN ROUTE_LENIENT
#define EASY ROUTE_LENIENT | ROUTE_BODY_OPTIONAL
#define NOT_SERVED(method, path, words)                                               \
    {                                                                                 \
        method, path, SCOPE_NONE, STYLE_E2B, .flags = OPEN, .handle = e2b_not_served, \
                                             .summary = words                         \
    }
const struct api_route e2b_sandbox_routes[] = {
    { METHOD_POST, "/v2/sandboxes", SCOPE_RUN, STYLE_E2B, .flags = OPEN, .body = create_fields,
      .handle = post_sandbox, .summary = "Create a sandbox" },
    { METHOD_POST, "/sandboxes", SCOPE_RUN, STYLE_E2B, .flags = OPEN, .body = create_fields,
      .handle = post_sandbox, .summary = "Create a sandbox" },
    { METHOD_GET, "/v2/sandboxes", SCOPE_RUN, STYLE_E2B, .flags = OPEN, .query = list_query,
      .handle = get_sandboxes, .summary = "The sandboxes of a key" },
    { METHOD_GET, "/sandboxes", SCOPE_RUN, STYLE_E2B, .flags = OPEN, .query = list_query,
      .handle = get_sandboxes, .summary = "The sandboxes of a key" },
    { METHOD_GET, "/sandboxes/{id}", SCOPE_RUN, STYLE_E2B, .flags = OPEN, .handle = get_sandbox,
      .summary = "One sandbox" },
    { METHOD_DELETE, "/sandboxes/{id}", SCOPE_RUN, STYLE_E2B, .flags = OPEN,
      .handle = delete_sandbox, .summary = "Kill a sandbox" },
    { METHOD_POST, "/sandboxes/{id}/timeout", SCOPE_RUN, STYLE_E2B, .flags = OPEN,
      .body = timeout_fields, .handle = post_timeout, .summary = "Set the end of a sandbox" },
    { METHOD_POST, "/sandboxes/{id}/refreshes", SCOPE_RUN, STYLE_E2B, .flags = EASY,
      .body = timeout_fields, .handle = post_timeout, .summary = "Set the end of a sandbox" },
    { METHOD_POST, "/sandboxes/{id}/pause", SCOPE_RUN, STYLE_E2B, .flags = EASY,
      .body = timeout_fields, .handle = post_pause, .summary = "Pause a sandbox" },
    { METHOD_POST, "/v2/sandboxes/{id}/connect", SCOPE_RUN, STYLE_E2B, .flags = EASY,
      .body = timeout_fields, .handle = post_connect, .summary = "Connect to a sandbox" },
    { METHOD_POST, "/sandboxes/{id}/connect", SCOPE_RUN, STYLE_E2B, .flags = EASY,
      .body = timeout_fields, .handle = post_connect, .summary = "Connect to a sandbox" },
    { METHOD_POST, "/sandboxes/{id}/resume", SCOPE_RUN, STYLE_E2B, .flags = EASY,
      .body = timeout_fields, .handle = post_connect, .summary = "Resume a sandbox" },
    { METHOD_PUT, "/sandboxes/{id}/network", SCOPE_RUN, STYLE_E2B, .flags = OPEN,
      .body = update_fields, .handle = put_network, .summary = "Change the network" },
    { METHOD_GET, "/sandboxes/{id}/metrics", SCOPE_RUN, STYLE_E2B, .flags = OPEN,
      .query = metrics_query, .handle = get_metrics, .summary = "Numbers of a sandbox" },
    NOT_SERVED(METHOD_GET, "/sandboxes/{id}/logs", "logs of sandboxes"),
    NOT_SERVED(METHOD_GET, "/volumes", "volumes"),
    NOT_SERVED(METHOD_POST, "/volumes", "volumes"),
    NOT_SERVED(METHOD_GET, "/volumes/{rest...}", "volumes"),
    NOT_SERVED(METHOD_POST, "/volumes/{rest...}", "volumes"),
    NOT_SERVED(METHOD_DELETE, "/volumes/{rest...}", "volumes"),
    NOT_SERVED(METHOD_GET, "/secrets", "secrets"),
    NOT_SERVED(METHOD_POST, "/secrets", "secrets"),
    NOT_SERVED(METHOD_GET, "/secrets/{rest...}", "secrets"),
    NOT_SERVED(METHOD_DELETE, "/secrets/{rest...}", "secrets"),
    NOT_SERVED(METHOD_GET, "/templates", "templates"),
    NOT_SERVED(METHOD_POST, "/templates", "builds of templates"),
    NOT_SERVED(METHOD_GET, "/templates/{rest...}", "templates"),
    NOT_SERVED(METHOD_POST, "/templates/{rest...}", "builds of templates"),
    NOT_SERVED(METHOD_POST, "/v2/templates", "builds of templates"),
    NOT_SERVED(METHOD_POST, "/v3/templates", "builds of templates"),
    { 0 },
};
