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
#include "spec/permission.h"
#include "store/audit_log.h"

/* ---- pending approvals ---- */
struct pending_approval *pending_find(const struct api *api, const char *id)
{
    struct pending_approval *p = api->approvals ? api->approvals->pending : NULL;
    while (p && strcmp(p->id, id) != 0)
        p = p->next;
    return p;
}

static void pending_free(struct pending_approval *p)
{
    if (p->run)
        run_watch_remove(p->run, &p->watch);
    free(p->decided_by);
    free(p->reason);
    free(p);
}

/* Frees the entries that are over. This happens a turn of the loop later: other watchers of the
 * same run may still look them up. */
static void sweep(struct approvals *a)
{
    for (struct pending_approval **at = &a->pending; *at;) {
        struct pending_approval *p = *at;
        if (p->over) {
            *at = p->next;
            pending_free(p);
        } else {
            at = &p->next;
        }
    }
}

/* A decision of the service itself; no call waits for the answer. */
static void service_decided(struct decide *d, const struct err *e, const char *field)
{
    (void)field;
    struct pending_approval *p = pending_find(d->api, d->id);
    if (!e)
        return;
    if (e->code != ERR_CONFLICT) /* a conflict: a person was faster */
        log_error(LOG_WARN, "approval.undecided", e);
    if (p && e->code != ERR_CONFLICT)
        p->deciding = false;
}

static void decide_by_service(struct pending_approval *p, enum decision decision,
                              const char *reason)
{
    struct decide *d = decide_new(p->api, decision, "service");
    if (!d)
        return; /* the next tick tries again */
    d->id = strdup(p->id);
    d->reason = strdup(reason);
    d->done = service_decided;
    p->deciding = true;
    decide_start(d);
}

static void expire(uv_timer_t *t);

/* Sets the timer for the next expiry. If one is overdue, its decision failed: try again in a
 * second. */
static void rearm(const struct api *api)
{
    const struct approvals *a = api->approvals;
    int64_t next = INT64_MAX, now = clock_unix_ms();
    for (const struct pending_approval *p = a->pending; p; p = p->next)
        if (p->decision == DECISION_PENDING && !p->over && p->expires_ms < next)
            next = p->expires_ms;
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
    if (api->draining) /* the next service decides first */
        return;
    sweep(api->approvals);
    for (struct pending_approval *p = api->approvals->pending; p; p = p->next)
        if (p->decision == DECISION_PENDING && !p->deciding && p->expires_ms <= now)
            decide_by_service(p, DECISION_EXPIRED, expiry_reason(api, reason, sizeof reason));
    rearm(api);
}

static void on_run_event(struct run_watch *w, struct run *x, enum run_event event)
{
    struct pending_approval *p = (struct pending_approval *)w;
    if (event != RUN_EVENT_DONE)
        return;
    bool stays = x->state == RUN_WAITING; /* the service stops; the run waits for the next one */
    p->run = NULL;
    p->over = p->decision != DECISION_PENDING;
    run_watch_remove(x, w);
    if (!p->over && !p->deciding && !stays)
        decide_by_service(p, DECISION_REJECT, "the run was cancelled");
}

static struct pending_approval *pending_add(struct api *api, const char *id, const char *run,
                                            int64_t expires_ms)
{
    struct pending_approval *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->api = api;
    p->watch.on_event = on_run_event;
    p->expires_ms = expires_ms ? expires_ms : INT64_MAX; /* 0: never */
    (void)snprintf(p->id, sizeof p->id, "%s", id);
    (void)snprintf(p->run_id, sizeof p->run_id, "%s", run);
    p->next = api->approvals->pending;
    api->approvals->pending = p;
    return p;
}

/* ---- requests ---- */
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
    struct pending_approval *p = pending_find(j->api, j->row.id);
    if (job->err.code != ERR_NONE) {
        log_error(LOG_ERROR, "approval.lost", &job->err);
        if (p && p->run && p->run->state == RUN_WAITING) {
            p->decision = DECISION_REJECT;
            run_reject(p->run, "the request for approval could not be recorded");
        }
    }
    ask_free(j);
}

static char *ask_detail(const struct run *x)
{
    return json_line(json_pack("{s:s, s:s, s:s*}", "run_id", x->id, "tool", "execute", "thread_id",
                               x->spec.thread));
}

int approvals_request(struct api *api, struct run *x, const char *reason, struct err *e)
{
    char id[ID_SIZE];
    int64_t now = clock_unix_ms();
    uint64_t timeout = api->settings->approval_timeout;
    id_make("apr_", id);
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
        .input = json_line(preview_input(&x->spec)),
        .risks = json_line(preview_risks(&x->spec)),
        .reason = strdup(reason),
        .requester = text_copy(x->spec.requester),
        .decision = DECISION_PENDING,
        .created_ms = now,
        .expires_ms = timeout ? now + (int64_t)timeout : 0,
    };
    j->detail = ask_detail(x);
    j->actor = strdup(x->spec.actor ? x->spec.actor : "service");
    struct pending_approval *p = pending_add(api, id, x->id, j->row.expires_ms);
    if (!p || !j->row.id || !j->row.run || !j->row.tool || !j->row.input || !j->row.risks ||
        !j->row.reason || !j->detail || !j->actor) {
        if (p)
            p->over = true;
        ask_free(j);
        return err_no_memory(e, "a request for approval");
    }
    p->run = x;
    run_watch_add(x, &p->watch);
    store_write(api->store, &j->job);
    rearm(api);
    return 0;
}

/* ---- admission ---- */
int approvals_admit(const struct api *api, const struct run_spec *spec, const char *mode,
                    struct admission *ret, struct err *e)
{
    const char *setting = api->settings->approval_mode;
    bool asks = true, setting_asks = false;
    (void)!permission_asks(setting, &setting_asks);
    if (permission_asks(mode ? mode : setting, &asks))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "permission_mode '%s' is unknown: default, manual, acceptEdits, plan, "
                       "bypassPermissions or auto is accepted",
                       QUOTED(mode ? mode : setting));
    if (!mode || (setting_asks && !asks && !spec->may_approve)) { /* no caller exempts itself */
        mode = setting;
        asks = setting_asks;
    }
    *ret = (struct admission){ .kind = ADMISSION_GRANTED };
    sweep(api->approvals);
    const struct rule_row *deny = rules_denying(&api->approvals->rules, spec);
    if (deny) {
        ret->kind = ADMISSION_DENIED;
        (void)snprintf(ret->reason, sizeof ret->reason, "denied by rule %s (%s '%s')", deny->id,
                       deny->match, QUOTED(deny->text ? deny->text : ""));
    } else if (asks && !rules_allowing(&api->approvals->rules, spec)) {
        ret->kind = ADMISSION_NEEDS_APPROVAL;
        (void)snprintf(ret->reason, sizeof ret->reason,
                       "permission mode '%s' asks before code is executed", mode);
    }
    return 0;
}

int approvals_check_stdin(const struct api *api, const struct run *run, const void *bytes, size_t n,
                          struct err *e)
{
    const struct rule_row *deny = rules_denying_stdin(&api->approvals->rules, run, bytes, n);
    if (!deny)
        return 0;
    return err_set(e, ERR_DENIED, 0,
                   "rule %s (%s '%s') denies this input: the program does not get it", deny->id,
                   deny->match, QUOTED(deny->text ? deny->text : ""));
}

bool approvals_look_inside(const struct api *api, const struct run_spec *spec)
{
    return rules_look_inside(&api->approvals->rules, spec);
}

json_t *approvals_of_run(const struct api *api, const char *run_id)
{
    for (const struct pending_approval *p = api->approvals ? api->approvals->pending : NULL; p;
         p = p->next)
        if (strcmp(p->run_id, run_id) == 0)
            return json_pack(
                "{s:s, s:s, s:s?, s:s?, s:o}", "id", p->id, "decision", decision_word(p->decision),
                "decided_by", p->decided_by, "reason", p->reason, "expires_at",
                p->expires_ms == INT64_MAX ? json_null() : result_time((uint64_t)p->expires_ms));
    return NULL;
}

/* ---- start and end of the service ---- */
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

/* No request is served yet, so this may wait. */
static int load_page(struct api *api, struct load_job *j, struct err *e)
{
    j->job = (struct store_job){ .work = load_work, .done = load_done };
    store_read(api->store, &j->job);
    store_wait(api->store);
    if (j->job.err.code == ERR_NONE)
        return 0;
    *e = j->job.err;
    return err_wrap(e, "load the pending approvals");
}

static int load(struct api *api, struct err *e)
{
    struct load_job j = { 0 };
    int failed = 0;
    do {
        failed = load_page(api, &j, e);
        for (size_t i = 0; !failed && i < j.page.n; i++)
            if (!pending_add(api, j.page.rows[i].id, j.page.rows[i].run, j.page.rows[i].expires_ms))
                failed = err_no_memory(e, "the pending approvals");
        j.before_seq = j.page.next_before_seq;
        approval_rows_done(&j.page);
        j.page = (struct approval_rows){ 0 };
    } while (!failed && j.before_seq != 0);
    api->approvals->rules = j.rules;
    return failed;
}

static void free_timer(uv_handle_t *handle)
{
    free(handle);
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
    /* A pending approval does not keep the loop of a stopping service alive. */
    uv_unref((uv_handle_t *)timer);
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
    while (a->pending) {
        struct pending_approval *p = a->pending;
        a->pending = p->next;
        pending_free(p);
    }
    rule_rows_done(&a->rules);
    uv_close((uv_handle_t *)a->timer, free_timer);
    free(a);
}
