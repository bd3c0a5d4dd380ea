/* The network of a session: made in its jar while its program runs, and made again when the porter or
 * the keeper has died. The porter has the list of the spec, or a network that is being closed.
 *
 *   wanted ── a porter is there ──► being made ── the warden has made the sockets ──► open
 *      ▲                                                                              │
 *      └──────────── the porter died, the list became wider, or a cap was met ◄───────┘
 *
 * A cell waits for its network, and its end waits for the records of its connections. Both waits are
 * bounded. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "run/json.h"
#include "session/session_impl.h"

enum { NETWORK_WAIT_MS = 10000 };

static bool is_wanted(const struct session *s)
{
    return s->spec.network.mode != NETWORK_NONE;
}

static bool is_open(const struct session_program *p)
{
    return p->jar.jar.network_fd >= 0 && p->jar.jar.network_open && p->jar.jar.plumbs == 0 &&
           !p->network_stale;
}

static void fail(struct session_program *p, const char *why)
{
    jar_run_close_network(&p->jar.jar);
    if (p->network_error[0] == '\0')
        (void)snprintf(p->network_error, sizeof p->network_error, "%s", why);
    text_end_whole(p->network_error);
}

/* Opens or closes it, as far as that is possible now. */
static void sync_network(struct session_program *p)
{
    struct session *s = p->session;
    struct jar_run *jar = &p->jar.jar;
    struct err e = { 0 };
    if (!s || p->aside || !p->ready || p->over)
        return;
    if (!is_wanted(s) || p->network_stale)
        jar_run_close_network(jar);
    if (!is_wanted(s) || jar->plumbs > 0 || jar->network_fd >= 0 || p->network_error[0] ||
        !engine_has_porter(s->all->engine))
        return;
    p->network_stale = p->network_exhausted = false;
    if (engine_jar_open_network(&p->jar, &s->spec.network, &e))
        fail(p, ERR_SHOWN(&e));
}

/* ---- cells ---- */

bool network_delays_cell(struct cell *c)
{
    struct session *s = c->session;
    struct session_program *p = s->program;
    uint64_t now = uv_now(s->all->loop);
    char note[256];
    if (!p || !is_wanted(s))
        return false;
    p->network_stale = p->network_stale || p->network_exhausted;
    sync_network(p);
    if (!is_open(p) && !p->network_error[0] && s->network_by_ms == 0) {
        s->network_by_ms = now + NETWORK_WAIT_MS;
        session_schedule(s);
    }
    if (!is_open(p) && !p->network_error[0] && now < s->network_by_ms)
        return true;
    if (!is_open(p)) {
        (void)snprintf(note, sizeof note, "the session has no network at the moment: %.180s",
                       p->network_error[0] ? p->network_error
                                           : "the process that connects it is being restarted");
        text_end_whole(note);
        cell_note(c, note);
        c->run->network.lost = true;
    }
    p->network_error[0] = '\0'; /* the next cell tries again */
    s->network_by_ms = 0;
    return false;
}

void network_on_late(struct session *s)
{
    s->refs++;
    cells_advance(s); /* it begins without a network */
    s->network_by_ms = 0;
    session_unref(s);
}

/* Connections between two cells belong to the second one. */
void network_begin_cell(struct cell *c)
{
    struct network_log *log = &c->session->program->jar.jar.network;
    bool lost = c->run->network.lost;
    if (c->run->network.n > 0)
        return;
    c->run->network = *log;
    c->run->network.lost = c->run->network.lost || lost;
    *log = (struct network_log){ 0 };
}

bool network_delays_end(struct cell *c, const struct cell_usage *usage)
{
    struct session *s = c->session;
    struct session_program *p = s->program;
    struct err e = { 0 };
    if (c->awaits_network)
        return true;
    if (c->network_told || !p || !is_wanted(s) || !is_open(p))
        return false;
    c->network_told = true;
    c->usage = *usage;
    if (engine_jar_change_network(&p->jar, &s->spec.network, &e)) {
        log_error(LOG_WARN, "session.network", &e);
        return false;
    }
    c->awaits_network = true;
    return true;
}

/* ---- events ---- */

static void end_cell_that_waited(struct session *s)
{
    struct cell *c = session_current(s);
    if (!c || !c->awaits_network || (s->program && s->program->jar.jar.changes > 0))
        return;
    c->awaits_network = false;
    struct cell_usage usage = c->usage;
    cells_on_measured(s, &usage);
}

static void note_loss(struct session *s, struct jar_run *jar)
{
    struct cell *c = session_current(s);
    if (!jar->network.lost)
        return;
    jar->network.lost = false;
    if (!c)
        return;
    c->run->network.lost = true;
    cell_note(c, "the process that connects the session to the network ended: its connections are "
                 "lost, and new ones are possible");
}

void network_on_event(struct session_program *p)
{
    struct session *s = p->session;
    struct jar_run *jar = &p->jar.jar;
    if (!s || p->aside || p->over)
        return;
    if (jar->plumb_err.code != ERR_NONE && jar->plumbs == 0)
        fail(p, ERR_SHOWN(&jar->plumb_err));
    if (jar->network_refused)
        fail(p, "its list is beyond the maximum of this service");
    jar->plumb_err = (struct err){ 0 };
    jar->network_refused = false;
    note_loss(s, jar);
    s->refs++;
    sync_network(p);
    end_cell_that_waited(s);
    if (network_is_settled(s))
        session_notify(s, SESSION_EVENT_NETWORK);
    cells_advance(s);
    session_unref(s);
}

void network_on_record(struct engine_jar *j, const struct porter_event *event)
{
    struct session_program *p = (struct session_program *)j;
    struct cell *c = p->session && !p->aside ? session_current(p->session) : NULL;
    const struct network_record *r = &event->record;
    jar_run_on_network(&j->jar, event, c ? &c->run->network : &j->jar.network);
    if (event->closed || event->changed)
        return;
    bool ends = r->cap == NETWORK_CAP_CONNECTIONS_TOTAL || r->cap == NETWORK_CAP_BYTES_IN ||
                r->cap == NETWORK_CAP_BYTES_OUT;
    p->network_exhausted = p->network_exhausted || (r->outcome == NETWORK_LIMIT && ends);
    if (c)
        run_on_network(c->run, r);
}

/* ---- changes ---- */

bool network_is_settled(const struct session *s)
{
    const struct session_program *p = s->program;
    if (!p || !p->ready || p->over)
        return true;
    if (p->jar.jar.changes > 0 || p->jar.jar.plumbs > 0)
        return false;
    if (!is_wanted(s))
        return !p->jar.jar.network_open;
    return is_open(p) || p->network_error[0] || !engine_has_porter(s->all->engine);
}

void session_set_network(struct session *s, struct network_policy *policy)
{
    struct session_program *p = s->program;
    const struct network_rule *outside;
    struct err e = { 0 };
    /* A list in place of the full network, and some ports in place of all, need other sockets: the kernel is to
     * refuse the rest. */
    bool narrower = policy->mode == NETWORK_LIST && s->spec.network.mode == NETWORK_LIST &&
                    network_policy_is_within(policy, &s->spec.network, &outside) &&
                    !network_policy_splits_host(policy, &s->spec.network);
    network_policy_done(&s->spec.network);
    s->spec.network = *policy;
    *policy = (struct network_policy){ 0 };
    if (!p)
        return;
    p->network_error[0] = '\0';
    if (narrower && p->jar.jar.network_fd >= 0 && !p->network_stale) {
        if (engine_jar_change_network(&p->jar, &s->spec.network, &e))
            p->network_stale = true; /* closed and opened anew, with the list as it is now */
    } else if (p->jar.jar.network_fd >= 0) {
        p->network_stale = true;
    }
    sync_network(p);
}

void network_take_over(struct session *s)
{
    if (s->program)
        sync_network(s->program);
}

void network_adopt(struct session *s, const struct network_policy *had)
{
    const struct network_rule *outside;
    const struct network_policy *has = &s->spec.network;
    s->program->network_stale = !network_policy_is_within(had, has, &outside) ||
                                !network_policy_is_within(has, had, &outside);
    network_take_over(s);
}

/* ---- for a next keeper ---- */

static json_t *injects_json(const struct network_policy *p)
{
    json_t *list = json_array();
    for (size_t i = 0; i < p->n_injects; i++) {
        const struct network_inject *x = &p->injects[i];
        char host[NETWORK_RULE_TEXT];
        (void)snprintf(host, sizeof host, "%s:%u", x->host, x->port);
        (void)json_array_append_new(
            list, json_pack("[s, s, s, s]", host, x->header, x->secret, x->prefix));
    }
    return list;
}

json_t *network_spec_json(const struct network_policy *p)
{
    char text[NETWORK_RULE_TEXT];
    if (p->mode == NETWORK_NONE)
        return NULL;
    json_t *rules = json_array(), *caps = json_array();
    for (size_t i = 0; i < p->n; i++)
        (void)json_array_append_new(rules, json_string(network_rule_text(&p->rules[i], text)));
    for (int i = 0; i < NETWORK_CAP_COUNT; i++)
        (void)json_array_append_new(caps, json_integer((json_int_t)p->caps.v[i]));
    json_t *o = json_pack("{s:o, s:o, s:b}", "allow", rules, "caps", caps, "full",
                          p->mode == NETWORK_FULL);
    if (p->n_injects > 0)
        json_put(o, "inject", injects_json(p));
    return o;
}

static int take_injects(const json_t *list, struct network_policy *p, struct err *e)
{
    const json_t *o;
    size_t i;
    json_array_foreach(list, i, o) {
        struct network_inject x;
        const char *words[4];
        for (size_t k = 0; k < ARRAY_LEN(words); k++)
            words[k] = json_string_value(json_array_get(o, k));
        if (!words[0] || !words[1] || !words[2] ||
            network_inject_make(words[0], words[1], words[2], words[3], &x, e) ||
            network_policy_add_inject(p, &x, e))
            return err_set(e, ERR_PROTOCOL, 0, "the secrets of a session cannot be read");
    }
    return 0;
}

int network_spec_take(const json_t *o, struct network_policy *ret, struct err *e)
{
    scoped(network_policy) p = { .caps = network_caps_default() };
    const json_t *caps = json_object_get(o, "caps"), *rule;
    size_t i;
    for (i = 0; i < NETWORK_CAP_COUNT && i < json_array_size(caps); i++)
        p.caps.v[i] = (uint64_t)json_integer_value(json_array_get(caps, i));
    json_array_foreach(json_object_get(o, "allow"), i, rule) {
        const char *text = json_string_value(rule);
        if (!text || network_policy_add(&p, NETWORK_TCP, text, e))
            return err_set(e, ERR_PROTOCOL, 0, "the network list of a session cannot be read");
    }
    if (network_caps_check(&p.caps, e))
        return -1;
    if (json_is_true(json_object_get(o, "full")))
        p.mode = NETWORK_FULL;
    if (take_injects(json_object_get(o, "inject"), &p, e))
        return -1;
    *ret = p;
    p = (struct network_policy){ 0 };
    return 0;
}
