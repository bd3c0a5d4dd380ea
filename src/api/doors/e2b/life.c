/* Sandboxes as sessions: finding them, their ends, and the facts of the door about them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/doors/e2b/e2b.h"
#include "api/runs/history_routes.h"
#include "api/sessions/session_find.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "run/json.h"

enum { LOOK_MS = 500 };
static const char facts_key[] = "e2b";

static bool are_texts(const json_t *object)
{
    const char *key;
    const json_t *value;
    json_object_foreach((json_t *)object, key, value)
        if (!json_is_string(value))
            return false;
    return json_is_object(object);
}

static bool is_context(const json_t *v)
{
    return json_is_string(json_object_get(v, "id")) && json_is_string(json_object_get(v, "cwd")) &&
           json_is_integer(json_object_get(v, "restarts"));
}

bool e2b_facts_fit(const json_t *facts)
{
    const json_t *contexts = json_object_get(facts, "contexts"),
                 *dropped = json_object_get(facts, "dropped"),
                 *hidden = json_object_get(facts, "private_ports"), *one;
    size_t i;
    if (!json_is_string(json_object_get(facts, "template")) ||
        !json_is_integer(json_object_get(facts, "end_ms")) ||
        !are_texts(json_object_get(facts, "metadata")) || !json_is_array(contexts) ||
        (hidden && !json_is_boolean(hidden)) || json_array_size(contexts) > E2B_CONTEXTS_MAX ||
        (dropped && !json_is_array(dropped)) || json_array_size(dropped) > E2B_DROPPED_MAX)
        return false;
    json_array_foreach(contexts, i, one)
        if (!is_context(one))
            return false;
    json_array_foreach(dropped, i, one)
        if (!json_is_string(one))
            return false;
    return true;
}

/* E2B-4 */
json_t *e2b_facts(const struct session *s)
{
    json_t *facts = json_object_get(s->spec.metadata, facts_key);
    bool is_ours = facts && strcmp(s->spec.language->name, "python") == 0 && e2b_facts_fit(facts);
    return is_ours ? facts : NULL;
}

void e2b_facts_changed(struct session *s)
{
    session_save(s);
}

json_t *e2b_facts_new(const char *template, const json_t *metadata, double timeout_s, bool pauses,
                      bool resumes)
{
    int64_t end = clock_unix_ms() + (int64_t)(timeout_s * 1000);
    json_t *o = json_pack("{s:s, s:I, s:b, s:b, s:[]}", "template", template, "end_ms",
                          (json_int_t)end, "auto_pause", pauses, "auto_resume", resumes,
                          "contexts");
    json_put(o, "metadata", metadata ? json_deep_copy(metadata) : json_object());
    return o;
}

void e2b_set_end(struct session *s, double timeout_s, bool only_later)
{
    json_t *facts = e2b_facts(s);
    int64_t end = clock_unix_ms() + (int64_t)(timeout_s * 1000);
    if (!facts || (only_later && json_integer_value(json_object_get(facts, "end_ms")) >= end))
        return;
    json_put(facts, "end_ms", json_integer(end));
    session_touch(s);
    session_set_idle(s, (uint64_t)(timeout_s * 1000));
    e2b_facts_changed(s);
}

bool e2b_is_plain_template(const char *name)
{
    static const char *const plain[] = { "base", "code-interpreter-v1", "code-interpreter" };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(name, plain[i]) == 0)
            return true;
    return false;
}

/* ---- the end of their time ---- */

static void end_or_pause(struct session *s, const json_t *facts)
{
    struct err e = { 0 };
    bool pauses = json_is_true(json_object_get(facts, "auto_pause"));
    if (s->state == SESSION_SLEEPING || s->sleep)
        return;
    if (!pauses) {
        session_end(s, "the timeout of the sandbox is over");
        return;
    }
    if (session_sleep(s, false, NULL, &e) && e.code != ERR_CONFLICT)
        log_error(LOG_WARN, "e2b.pause", &e);
}

static void look(uv_timer_t *timer)
{
    const struct e2b *d = timer->data;
    struct session *next;
    int64_t now = clock_unix_ms();
    for (struct session *s = sessions_first(d->api->sessions); s; s = next) {
        const json_t *facts = e2b_facts(s);
        next = s->next;
        if (facts && json_integer_value(json_object_get(facts, "end_ms")) <= now)
            end_or_pause(s, facts);
    }
}

void e2b_watch_ends(struct api *api)
{
    struct e2b *d = e2b_of(api);
    if (!d || d->timer || !(d->timer = calloc(1, sizeof *d->timer)))
        return;
    (void)uv_timer_init(api->loop, d->timer);
    d->timer->data = d;
    (void)uv_timer_start(d->timer, look, LOOK_MS, LOOK_MS);
    uv_unref((uv_handle_t *)d->timer);
}

static void free_timer(uv_handle_t *timer)
{
    free(timer);
}

void e2b_unwatch_ends(struct e2b *d)
{
    if (d->timer)
        uv_close((uv_handle_t *)d->timer, free_timer);
    d->timer = NULL;
}

/* ---- finding them ---- */

static struct session *find(const struct api_call *c, const char *id)
{
    struct session *s = session_find(c->api->sessions, id);
    bool ours = s && history_may_see(c, s->spec.key, s->created_ms) &&
                (history_is_own(c, s->spec.key, s->created_ms) ||
                 (c->who.scopes & SCOPE_BIT(SCOPE_ADMIN)));
    return ours && e2b_facts(s) ? s : NULL;
}

struct session *e2b_control(struct api_call *c)
{
    char message[160];
    struct session *s = find(c, c->params[0]);
    e2b_watch_ends(c->api);
    if (s)
        return s;
    (void)snprintf(message, sizeof message, "sandbox '%s' not found", QUOTED(c->params[0]));
    e2b_fail(c, 404, "not_found", message);
    return NULL;
}

/* Other ports of a sandbox are not served. */
static bool is_served_port(const struct api_call *c)
{
    const char *port = http_request_header(&c->http->request, "E2b-Sandbox-Port");
    return !port || strcmp(port, "49983") == 0 || strcmp(port, "49999") == 0;
}

/* The header names the sandbox. A URL with a signature has no header, and one sandbox whose token signed
 * it. */
static struct session *find_for_data(struct api_call *c)
{
    struct err ignored = { 0 };
    const struct http_request *q = &c->http->request;
    const char *id = http_request_header(q, "E2b-Sandbox-Id");
    const struct session *by_url = id ? NULL : e2b_signed_for(c->api, q, &ignored);
    (void)snprintf(c->params[0], sizeof c->params[0], "%s", id ? id : by_url ? by_url->id : "");
    return find(c, c->params[0]);
}

struct session *e2b_data(struct api_call *c)
{
    char message[160] = "The sandbox is paused: Sandbox.connect() resumes it";
    /* A sandbox that sleeps is woken, and then its handler is called again, with both parameters. */
    if (!c->params[1][0])
        (void)snprintf(c->params[1], sizeof c->params[1], "%s", c->params[0]);
    struct session *s = find_for_data(c);
    e2b_watch_ends(c->api);
    if (!is_served_port(c))
        (void)snprintf(message, sizeof message,
                       "this port of a sandbox has a host name of its own, PORT-ID.DOMAIN "
                       "(getHost()); here are "
                       "49983 (processes and files) and 49999 (code)");
    else if (!s)
        (void)snprintf(message, sizeof message, "The sandbox '%s' was not found: it ended",
                       QUOTED(c->params[0]));
    else if (!session_must_wake(s))
        return s;
    else if (json_is_true(json_object_get(e2b_facts(s), "auto_resume")))
        return session_to_use(c);
    e2b_fail(c, 502, "unavailable", message);
    return NULL;
}

json_t *e2b_sandbox_json(struct api_call *c, const struct session *s)
{
    char token[E2B_TOKEN_SIZE];
    struct err e = { 0 };
    const char *host = c->http ? http_request_header(&c->http->request, "Host") : NULL;
    char domain[600];
    const char *template = json_string_value(json_object_get(e2b_facts(s), "template"));
    if (e2b_token(c->api, s->id, token, &e)) {
        log_error(LOG_ERROR, "e2b.token", &e);
        return NULL;
    }
    e2b_domain(c->api->settings, host, domain, sizeof domain);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s?}", "sandboxID", s->id, "templateID",
                     template ? template : "base", "clientID", "belljar", "envdVersion",
                     E2B_ENVD_VERSION, "envdAccessToken", token, "trafficAccessToken", token,
                     "domain", domain[0] ? domain : NULL);
}
