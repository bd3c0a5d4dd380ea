#include "api/approvals/approvals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/approvals/approvals_impl.h"
#include "api/approvals/preview.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "run/json.h"
#include "spec/bundle.h"
#include "spec/permission.h"
#include "store/audit_log.h"

static int mode_asks(const char *mode, bool *ret, struct err *e)
{
    if (permission_asks(mode, ret) == 0)
        return 0;
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "permission_mode '%s' is unknown: default, manual, acceptEdits, plan, "
                   "bypassPermissions or auto is accepted",
                   QUOTED(mode));
}

/* ---- rules ---- */

/* In any file of the program: a rule against a word is not evaded by putting it beside the main file. */
static bool bundle_contains(const struct buf *bundle, const char *text)
{
    struct bundle_entry entry;
    struct err e;
    bool more = true;
    for (size_t pos = 0; bundle_next(bundle, &pos, &entry, &more, &e) == 0 && more;)
        if (memmem(entry.bytes, entry.head.size, text, strlen(text)))
            return true;
    return false;
}

static bool list_contains(char *const *list, const char *text)
{
    for (; list && *list; list++)
        if (strstr(*list, text))
            return true;
    return false;
}

/* What is run is also told by arguments: a compiler's start programs, a program's and its input can be code (eval "$1"). */
static bool words_contain(const struct run_spec *s, const char *text)
{
    const struct buf *in = &s->stdin_bytes;
    return list_contains(s->options.compiler_args, text) || list_contains(s->args, text) ||
           list_contains(s->env, text) ||
           (in->len > 0 && memmem(in->data, in->len, text, strlen(text)));
}

/* Of the file itself: of a program that is no text, nothing else is known. */
static bool main_begins(const struct run_spec *s, const char *text)
{
    struct bundle_entry f;
    struct err e;
    bool more = true;
    for (size_t pos = 0; bundle_next(&s->bundle, &pos, &f, &more, &e) == 0 && more;)
        if (bundle_is_named(&f, s->main_name))
            return f.head.size >= strlen(text) && memcmp(f.bytes, text, strlen(text)) == 0;
    return false;
}

/* A rule that denies looks at more than one that allows, and never at less. */
static bool text_matches(const struct rule_row *r, const struct run_spec *s)
{
    bool denies = strcmp(r->action, "deny") == 0;
    /* Whoever allowed the code did not see what the compiler is told to do with it. */
    if (!denies && s->options.compiler_args && s->options.compiler_args[0])
        return false;
    if (strcmp(r->match, "contains") == 0)
        return bundle_contains(&s->bundle, r->text) || (denies && words_contain(s, r->text));
    return main_begins(s, r->text);
}

static bool rule_matches(const struct rule_row *r, const struct run_spec *s)
{
    if (strcmp(r->tool, "execute") != 0 ||
        (r->thread && (!s->thread || strcmp(r->thread, s->thread) != 0)) ||
        (r->language && strcmp(r->language, s->language->name) != 0))
        return false;
    return strcmp(r->match, "any") == 0 || text_matches(r, s);
}

static const struct rule_row *rule_for(const struct approvals *a, const char *action,
                                       const struct run_spec *s)
{
    for (size_t i = 0; i < a->rules.n; i++)
        if (strcmp(a->rules.rows[i].action, action) == 0 && rule_matches(&a->rules.rows[i], s))
            return &a->rules.rows[i];
    return NULL;
}

const struct rule_row *rules_denying(const struct approvals *a, const struct run_spec *s)
{
    return rule_for(a, "deny", s);
}

int rules_add(struct approvals *a, struct rule_row *r, struct err *e)
{
    struct rule_row *rows = realloc(a->rules.rows, (a->rules.n + 1) * sizeof *rows);
    if (!rows) {
        rule_row_done(r);
        return err_no_memory(e, "a rule");
    }
    a->rules.rows = rows;
    rows[a->rules.n++] = *r;
    *r = (struct rule_row){ 0 };
    return 0;
}

void rules_remove(struct approvals *a, const char *id)
{
    for (size_t i = 0; i < a->rules.n; i++)
        if (strcmp(a->rules.rows[i].id, id) == 0) {
            rule_row_done(&a->rules.rows[i]);
            a->rules.rows[i] = a->rules.rows[--a->rules.n];
            return;
        }
}

/* ---- what waits ---- */
struct held *held_find(const struct api *api, const char *id)
{
    struct held *h = api->approvals ? api->approvals->held : NULL;
    while (h && strcmp(h->id, id) != 0)
        h = h->next;
    return h;
}

static void held_free(struct held *h)
{
    if (h->exec)
        run_watch_remove(h->exec, &h->watch);
    free(h->decided_by);
    free(h->reason);
    free(h);
}

/* Those that are over, a turn of the loop later: whoever watched the same run could still look. */
static void sweep(struct approvals *a)
{
    for (struct held **at = &a->held; *at;) {
        struct held *h = *at;
        if (h->over) {
            *at = h->next;
            held_free(h);
        } else {
            at = &h->next;
        }
    }
}

/* A decision the service makes by itself; nobody waits for the answer. */
static void service_decided(struct decide *d, const struct err *e, const char *field)
{
    (void)field;
    struct held *h = held_find(d->api, d->id);
    if (!e)
        return;
    if (e->code != ERR_CONFLICT) /* a person was faster: fine */
        log_error(LOG_WARN, "approval.undecided", e);
    if (h && e->code != ERR_CONFLICT)
        h->deciding = false;
}

static void decide_by_service(struct held *h, enum decision decision, const char *reason)
{
    struct decide *d = decide_new(h->api, decision, "service");
    if (!d)
        return; /* the next tick tries again */
    d->id = strdup(h->id);
    d->reason = strdup(reason);
    d->done = service_decided;
    h->deciding = true;
    decide_start(d);
}

static void expire(uv_timer_t *t);

/* Once more in a second when something could not be done now. */
static void rearm(const struct api *api)
{
    const struct approvals *a = api->approvals;
    int64_t next = INT64_MAX, now = clock_unix_ms();
    for (const struct held *h = a->held; h; h = h->next)
        if (h->decision == DECISION_PENDING && !h->over && h->expires_ms < next)
            next = h->expires_ms;
    if (next == INT64_MAX)
        return;
    (void)uv_timer_start(a->timer, expire, next > now ? (uint64_t)(next - now) : 1000, 0);
}

static const char *expiry_reason(const struct api *api, char *out, size_t size)
{
    char span[32];
    (void)snprintf(out, size, "no decision within %s",
                   unit_format(UNIT_MS, api->settings->approval_timeout, span, sizeof span));
    return out;
}

static void expire(uv_timer_t *t)
{
    struct api *api = t->data;
    int64_t now = clock_unix_ms();
    char reason[64];
    if (api->draining) /* the next service looks at them first */
        return;
    sweep(api->approvals);
    for (struct held *h = api->approvals->held; h; h = h->next)
        if (h->decision == DECISION_PENDING && !h->deciding && h->expires_ms <= now)
            decide_by_service(h, DECISION_EXPIRED, expiry_reason(api, reason, sizeof reason));
    rearm(api);
}

static void held_news(struct run_watch *w, struct run *x, enum run_event what)
{
    struct held *h = (struct held *)w;
    if (what != RUN_EVENT_DONE)
        return;
    bool let_go = x->state == RUN_WAITING; /* the service stops, and it waits for the next one */
    h->exec = NULL;
    h->over = h->decision != DECISION_PENDING;
    run_watch_remove(x, w);
    if (!h->over && !h->deciding && !let_go)
        decide_by_service(h, DECISION_REJECT, "the run was cancelled");
}

static struct held *held_add(struct api *api, const char *id, const char *run, int64_t expires_ms)
{
    struct held *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->api = api;
    h->watch.on_event = held_news;
    h->expires_ms = expires_ms ? expires_ms : INT64_MAX; /* 0: never */
    (void)snprintf(h->id, sizeof h->id, "%s", id);
    (void)snprintf(h->run, sizeof h->run, "%s", run);
    h->next = api->approvals->held;
    api->approvals->held = h;
    return h;
}

/* ---- asking ---- */
struct ask_job {
    struct store_job job;
    struct api *api;
    struct approval_row row;
    char *detail, *actor;
};

static int ask_work(struct db *db, struct store_job *job, struct err *e)
{
    struct ask_job *j = (struct ask_job *)job;
    struct audit_record record = { .time_ms = j->row.created_ms,
                                   .kind = "approval.requested",
                                   .subject = j->row.id,
                                   .actor = j->actor,
                                   .detail = j->detail };
    return approvals_insert(db, &j->row, e) || audit_append(db, &record, e) ? -1 : 0;
}

static void ask_free(struct ask_job *j)
{
    approval_row_done(&j->row);
    free(j->detail);
    free(j->actor);
    free(j);
}

static void ask_done(struct store_job *job)
{
    struct ask_job *j = (struct ask_job *)job;
    struct held *h = held_find(j->api, j->row.id);
    if (job->err.code != ERR_NONE) {
        log_error(LOG_ERROR, "approval.lost", &job->err);
        if (h && h->exec && h->exec->state == RUN_WAITING) {
            h->decision = DECISION_REJECT;
            run_reject(h->exec, "the request for approval could not be recorded");
        }
    }
    ask_free(j);
}

static char *ask_detail(const struct run *x)
{
    return json_line(json_pack("{s:s, s:s, s:s*}", "run_id", x->id, "tool", "execute", "thread_id",
                               x->spec.thread));
}

static int ask(struct api *api, struct run *x, const char *mode, struct err *e)
{
    char id[ID_SIZE], reason[96];
    int64_t now = clock_unix_ms();
    uint64_t timeout = api->settings->approval_timeout;
    id_make("apr_", id);
    (void)snprintf(reason, sizeof reason, "permission mode '%s' asks before code is executed",
                   mode);
    struct ask_job *j = calloc(1, sizeof *j);
    if (!j)
        return err_no_memory(e, "a request for approval");
    j->api = api;
    j->job.work = ask_work;
    j->job.done = ask_done;
    j->row = (struct approval_row){
        .id = strdup(id),
        .thread = text_copy(x->spec.thread),
        .run = strdup(x->id),
        .tool = strdup("execute"),
        .input = json_line(shown_input(&x->spec)),
        .risks = json_line(shown_risks(&x->spec)),
        .reason = strdup(reason),
        .decision = DECISION_PENDING,
        .created_ms = now,
        .expires_ms = timeout ? now + (int64_t)timeout : 0,
    };
    j->detail = ask_detail(x);
    j->actor = strdup(x->spec.actor ? x->spec.actor : "service");
    struct held *h = held_add(api, id, x->id, j->row.expires_ms);
    if (!h || !j->row.id || !j->row.run || !j->row.tool || !j->row.input || !j->row.risks ||
        !j->row.reason || !j->detail || !j->actor) {
        if (h)
            h->over = true;
        ask_free(j);
        return err_no_memory(e, "a request for approval");
    }
    h->exec = x;
    run_watch_add(x, &h->watch);
    store_write(api->store, &j->job);
    rearm(api);
    return 0;
}

int approvals_run(struct api *api, struct run_spec *spec, const char *mode, unsigned flags,
                  struct run_watch *w, struct run **ret, struct err *e)
{
    bool asks = true;
    char denied[160], quoted[96];
    struct run *x;
    struct err failed;
    bool setting_asks = false;
    const char *setting = api->settings->approval_mode;
    (void)!permission_asks(setting, &setting_asks);
    if (mode_asks(mode ? mode : setting, &asks, e)) {
        run_spec_done(spec);
        return -1;
    }
    if (!mode || (setting_asks && !asks && !spec->may_approve)) { /* nobody excuses itself */
        mode = setting;
        asks = setting_asks;
    }
    sweep(api->approvals);
    const struct rule_row *deny = rules_denying(api->approvals, spec);
    asks = asks && !rule_for(api->approvals, "allow", spec);
    if (!deny && !asks)
        return engine_submit(api->engine, spec, flags, NULL, w, ret, e);
    if (deny)
        (void)snprintf(denied, sizeof denied, "denied by rule %s (%s '%s')", deny->id, deny->match,
                       text_quote(deny->text ? deny->text : "", quoted, sizeof quoted));
    if (engine_submit(api->engine, spec, flags | SUBMIT_AWAITS_DECISION, NULL, w, &x, e))
        return -1;
    if (deny)
        run_reject(x, denied);
    else if (ask(api, x, mode, &failed))
        run_reject(x, failed.text);
    *ret = x;
    return 0;
}

json_t *approvals_of_run(const struct api *api, const char *run_id)
{
    for (const struct held *h = api->approvals ? api->approvals->held : NULL; h; h = h->next)
        if (strcmp(h->run, run_id) == 0)
            return json_pack(
                "{s:s, s:s, s:s?, s:s?, s:o}", "id", h->id, "decision", decision_word(h->decision),
                "decided_by", h->decided_by, "reason", h->reason, "expires_at",
                h->expires_ms == INT64_MAX ? json_null() : result_time((uint64_t)h->expires_ms));
    return NULL;
}

/* ---- at the start and the end ---- */
struct load_job {
    struct store_job job;
    struct approval_rows page;
    struct rule_rows rules;
    int64_t before_seq;
};

static int load_work(struct db *db, struct store_job *job, struct err *e)
{
    struct load_job *j = (struct load_job *)job;
    if (j->before_seq == 0 && rules_list(db, &j->rules, e))
        return -1;
    return approvals_list(db, decision_word(DECISION_PENDING), NULL, j->before_seq, 1000, &j->page,
                          e);
}

static void load_done(struct store_job *job)
{
    (void)job;
}

/* Nothing is served yet, so this may wait. */
static int load_page(struct api *api, struct load_job *j, struct err *e)
{
    j->job = (struct store_job){ .work = load_work, .done = load_done };
    store_read(api->store, &j->job);
    store_wait(api->store);
    if (j->job.err.code == ERR_NONE)
        return 0;
    *e = j->job.err;
    return err_wrap(e, "load what waits for approval");
}

static int load(struct api *api, struct err *e)
{
    struct load_job j = { 0 };
    int failed = 0;
    do {
        failed = load_page(api, &j, e);
        for (size_t i = 0; !failed && i < j.page.n; i++)
            if (!held_add(api, j.page.rows[i].id, j.page.rows[i].run, j.page.rows[i].expires_ms))
                failed = err_no_memory(e, "what waits for approval");
        j.before_seq = j.page.next_before_seq;
        approval_rows_done(&j.page);
        j.page = (struct approval_rows){ 0 };
    } while (!failed && j.before_seq != 0);
    api->approvals->rules = j.rules;
    return failed;
}

static void free_timer(uv_handle_t *h)
{
    free(h);
}

int approvals_open(struct api *api, struct err *e)
{
    struct approvals *a = calloc(1, sizeof *a);
    uv_timer_t *timer = calloc(1, sizeof *timer);
    if (!a || !timer || uv_timer_init(api->loop, timer)) {
        free(a);
        free(timer);
        return err_no_memory(e, "approvals");
    }
    timer->data = api;
    uv_unref(
        (uv_handle_t *)timer); /* waiting for a person does not keep a loop that is asked to end */
    a->timer = timer;
    api->approvals = a;
    if (load(api, e)) {
        approvals_close(api);
        return -1;
    }
    rearm(api);
    return 0;
}

void approvals_close(struct api *api)
{
    struct approvals *a = api->approvals;
    if (!a)
        return;
    api->approvals = NULL;
    while (a->held) {
        struct held *h = a->held;
        a->held = h->next;
        held_free(h);
    }
    rule_rows_done(&a->rules);
    uv_close((uv_handle_t *)a->timer, free_timer);
    free(a);
}
