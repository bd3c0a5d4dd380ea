/* A decision, from a person or from a timeout to its effect on the run: read the request, make the
 * spec that will run, write the decision, and only then apply it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/approvals/approvals_impl.h"
#include "api/runs/run_spec.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "run/json.h"
#include "spec/bundle.h"
#include "store/audit_log.h"

struct decide *decide_new(struct api *api, enum decision decision, const char *by)
{
    struct decide *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->api = api;
    d->decision = decision;
    d->by = strdup(by);
    return d;
}

static void decide_free(struct decide *d)
{
    free(d->id);
    free(d->thread);
    free(d->by);
    free(d->reason);
    free(d->remember);
    free(d->prefix);
    json_decref(d->edited_input);
    approval_row_done(&d->row);
    approval_row_done(&d->decided);
    run_record_done(&d->run);
    if (d->has_spec)
        run_spec_done(&d->spec);
    if (d->has_rule)
        rule_row_done(&d->rule);
    free(d);
}

static void finish(struct decide *d, const struct err *e, const char *field)
{
    d->done(d, e, field);
    decide_free(d);
}

/* ---- 1: read the request ---- */
static int read_work(struct db *db, struct store_job *job, struct err *e)
{
    struct decide *d = (struct decide *)job;
    struct err no_run;
    if (d->id ? approvals_get(db, d->id, &d->row, e)
              : approvals_pending_of(db, d->thread, &d->row, e))
        return -1;
    if (d->row.run && runs_get(db, d->row.run, RUN_WITHOUT_BLOBS, &d->run, &no_run) == 0)
        d->has_run = true;
    return 0;
}

/* ---- 2: make the spec ---- */

/* The run, if it is in memory and still waits. */
static struct run *waiting_run(const struct decide *d)
{
    struct run *x = d->row.run ? engine_find(d->api->engine, d->row.run) : NULL;
    return x && x->state == RUN_WAITING ? x : NULL;
}

/* edited_input: the code, or an object with the fields of `input`. Front ends that call the tool of
 * a shell name the code "command". */
static int edited_code(const struct decide *d, const json_t **ret_code, struct err *e)
{
    const json_t *code = json_object_get(d->edited_input, "code"),
                 *command = json_object_get(d->edited_input, "command");
    if (code && command)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "edited_input has code and command, which mean the same: give one of them");
    code = !json_is_object(d->edited_input) ? d->edited_input : code ? code : command;
    if (!json_is_string(code))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "decision 'edit' needs edited_input: the code as a string, {\"code\": "
                       "\"...\"} or {\"command\": \"...\"}");
    *ret_code = code;
    return 0;
}

/* A client may send all of `input` back, but only the code and its language can change. Otherwise
 * an approver who removes an argument of the compiler would believe that it is gone. */
static int check_unchanged(const struct decide *d, struct err *e)
{
    json_auto_t *input = json_loads(d->row.input ? d->row.input : "", JSON_ALLOW_NUL, NULL);
    const char *key;
    json_t *value;
    json_object_foreach(d->edited_input, key, value) {
        if (strcmp(key, "code") == 0 || strcmp(key, "command") == 0 ||
            strcmp(key, "language") == 0 || json_equal(value, json_object_get(input, key)))
            continue;
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "edited_input.%s cannot be changed, only code and language can: otherwise reject "
            "the run",
            QUOTED(key));
    }
    return 0;
}

static const char *entry_name(const json_t *request, const json_t *files)
{
    const char *name = json_string_value(json_object_get(request, "entry"));
    if (name)
        return name;
    if (json_is_object(files) && json_object_size(files) == 1)
        return json_object_iter_key(json_object_iter((json_t *)files));
    return json_string_value(json_object_get(json_array_get(files, 0), "name"));
}

/* The code replaces the original: `code`, or the main one of `files`. */
static int put_code(json_t *request, json_t *code, struct err *e)
{
    json_t *files = json_object_get(request, "files"), *file;
    const char *entry = entry_name(request, files);
    size_t i;
    if (json_object_get(request, "code") && json_object_set(request, "code", code) == 0)
        return 0;
    if (entry && json_is_object(files) && json_object_set(files, entry, code) == 0)
        return 0;
    json_array_foreach(files, i, file) {
        const char *name = json_string_value(json_object_get(file, "name"));
        if (!entry || !name || strcmp(name, entry) != 0 || json_object_set(file, "content", code))
            continue;
        (void)json_object_del(file, "encoding");
        return 0;
    }
    return err_set(e, ERR_BAD_REQUEST, 0, "the request has no code to edit: approve or reject it");
}

static struct api_identity identity_of(const char *key)
{
    struct api_identity who = { .key = key, .scopes = SCOPE_BIT(SCOPE_RUN) };
    (void)snprintf(who.name, sizeof who.name, key ? "key:%.64s" : "anonymous%s", key ? key : "");
    return who;
}

/* Files that are not in the request: the directory of /execute. */
static int carry_files(struct buf *to, const struct run_spec *from, struct err *e)
{
    struct bundle_entry entry;
    bool more = true;
    for (size_t pos = 0;;) {
        char name[BUNDLE_NAME_MAX + 1];
        if (bundle_next(&from->bundle, &pos, &entry, &more, e))
            return -1;
        if (!more)
            return 0;
        (void)snprintf(name, sizeof name, "%.*s", (int)entry.head.name_len, entry.name);
        if (strcmp(name, from->main_name) != 0 &&
            bundle_add(to, name, entry.head.mode, entry.bytes, entry.head.size, e))
            return -1;
    }
}

/* The parts that are not in the request. x NULL: the run is not in memory. */
static int finish_spec(const struct decide *d, const struct run *x, struct run_spec *s,
                       struct err *e)
{
    const char *artifact = x ? x->spec.artifact : d->run.artifact;
    const char *batch = x ? x->spec.batch : d->run.batch;
    free(s->artifact);
    free(s->batch);
    free(s->requester);
    s->artifact = text_copy(artifact);
    s->batch = text_copy(batch);
    s->requester = text_copy(x ? x->spec.requester : d->row.requester);
    if (!x)
        return 0;
    free(s->actor);
    s->actor = text_copy(x->spec.actor);
    s->key_max_runs = x->spec.key_max_runs;
    bool shares = x->spec.surface && strcmp(x->spec.surface, "nemo") == 0;
    return shares ? carry_files(&s->bundle, &x->spec, e) : 0;
}

static int put_edit(const struct decide *d, json_t *request, bool is_cell, char *field,
                    size_t field_size, struct err *e)
{
    const json_t *code = NULL;
    json_t *language = json_object_get(d->edited_input, "language");
    if (edited_code(d, &code, e) || check_unchanged(d, e) || put_code(request, (json_t *)code, e))
        return -1;
    if (is_cell && json_is_string(language) &&
        !json_equal(language, json_object_get(request, "language")))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "edited_input.language cannot be changed: the cell runs in the language of "
                       "its session");
    if (json_is_string(language) && json_object_set(request, "language", language))
        return err_no_memory(e, "a decision");
    return api_validate(request, run_fields, true, field, field_size, e);
}

/* The request may not be enough to make the same spec again after a restart: settings change, and
 * so does the directory of /execute. */
static int check_shown(const struct decide *d, const struct run_spec *s, struct err *e)
{
    json_auto_t *input = json_loads(d->row.input ? d->row.input : "", JSON_ALLOW_NUL, NULL);
    const char *shown = json_string_value(json_object_get(input, "digest"));
    char digest[DIGEST_HEX];
    run_spec_digest(s, digest);
    if (shown && strcmp(shown, digest) == 0)
        return 0;
    if (!shown)
        return err_set(e, ERR_CONFLICT, 0,
                       "approval '%s' is of an earlier version of the service, which did not note "
                       "everything that it showed: reject it, and send the request again",
                       d->row.id);
    return err_set(e, ERR_CONFLICT, 0,
                   "run '%s' would no longer be the one that was shown, because the service was "
                   "restarted: reject it, and send the request again",
                   d->row.run);
}

static int make_spec(struct decide *d, const struct run *x, char *field, size_t field_size,
                     struct err *e)
{
    const char *text = x ? x->spec.request : d->run.request;
    const char *surface = x ? x->spec.surface : d->run.surface;
    struct api_identity who = identity_of(x ? x->spec.key : d->run.key);
    bool edits = d->decision == DECISION_EDIT;
    json_auto_t *request = text ? json_loads(text, JSON_ALLOW_NUL, NULL) : NULL;
    if (!request)
        return err_set(e, ERR_CONFLICT, 0,
                       "the request of run '%s' is no longer known: send it again", d->row.run);
    surface = surface ? surface : "v1";
    if (!x) {
        scoped(run_spec) asked = { 0 };
        if (run_spec_from_json(d->api, &who, request, surface, &asked, field, field_size, e) ||
            (d->decision != DECISION_REJECT && d->decision != DECISION_EXPIRED &&
             check_shown(d, &asked, e)))
            return -1;
    }
    if ((edits && put_edit(d, request, strcmp(surface, "session") == 0, field, field_size, e)) ||
        run_spec_from_json(d->api, &who, request, surface, &d->spec, field, field_size, e))
        return -1;
    d->has_spec = true;
    return finish_spec(d, x, &d->spec, e);
}

/* ---- 3: write the decision ---- */
static char *decided_detail(const struct decide *d)
{
    return json_line(json_pack("{s:s, s:s*, s:s*, s:s*, s:s*}", "decision",
                               decision_word(d->decision), "run_id", d->row.run, "reason",
                               d->reason, "remember", d->remember, "rule",
                               d->has_rule ? d->rule.id : NULL));
}

static int add_rule(struct db *db, const struct decide *d, int64_t now_ms, struct err *e)
{
    autofree char *detail = json_line(rule_object(&d->rule));
    if (!detail)
        return err_no_memory(e, "the record of a rule");
    const struct audit_record record = { .time_ms = now_ms,
                                         .kind = "rule.added",
                                         .subject = d->rule.id,
                                         .actor = d->by,
                                         .detail = detail };
    return rules_insert(db, &d->rule, e) || audit_append(db, &record, e) ? -1 : 0;
}

static int write_work(struct db *db, struct store_job *job, struct err *e)
{
    struct decide *d = (struct decide *)job;
    autofree char *detail = decided_detail(d);
    autofree char *edited = d->decision == DECISION_EDIT
                                ? json_dumps(d->edited_input, JSON_COMPACT | JSON_ENCODE_ANY)
                                : NULL;
    struct approval_row r = { .id = d->row.id,
                              .decision = d->decision,
                              .decided_by = d->by,
                              .decided_reason = d->reason,
                              .edited_input = edited,
                              .remember = d->remember,
                              .decided_ms = clock_unix_ms() };
    struct audit_record record = { .time_ms = r.decided_ms,
                                   .kind = "approval.decided",
                                   .subject = d->row.id,
                                   .actor = d->by,
                                   .detail = detail };
    if (!detail)
        return err_no_memory(e, "the record of a decision");
    if (approvals_decide(db, &r, &d->decided, e) || audit_append(db, &record, e))
        return -1;
    return d->has_rule ? add_rule(db, d, r.decided_ms, e) : 0;
}

/* ---- 4: apply it ---- */

/* The rule that denies the run as it would begin, or NULL. */
static const struct rule_row *denying(const struct decide *d, const struct run *x)
{
    const struct run_spec *s = d->has_spec ? &d->spec : x ? &x->spec : NULL;
    return s && d->api->approvals ? rules_denying(&d->api->approvals->rules, s) : NULL;
}

static void apply(struct decide *d)
{
    struct run *x = waiting_run(d);
    bool goes_on = d->decision == DECISION_APPROVE || d->decision == DECISION_EDIT;
    /* A rule may have been made while the decision was written. */
    const struct rule_row *deny = goes_on ? denying(d, x) : NULL;
    const char *why = deny        ? "denied by a rule that was made meanwhile"
                      : d->reason ? d->reason
                                  : "rejected";
    struct err e = { 0 };
    goes_on = goes_on && !deny;
    if (x) {
        bool edited = d->decision == DECISION_EDIT && goes_on;
        if (goes_on)
            run_release(x, edited ? &d->spec : NULL);
        else
            run_reject(x, why);
        if (edited)
            d->has_spec = false; /* taken over */
        return;
    }
    if (!d->has_spec || (d->has_run && d->run.state != RUN_WAITING))
        return; /* the run was over */
    /* The run waited before a restart. It was admitted then, so a full queue does not refuse it
     * now. */
    d->has_spec = false;
    if (goes_on && strcmp(d->spec.surface, "session") == 0) {
        goes_on = false;
        why = "the service was restarted while the cell waited: send it to its session again";
    }
    unsigned flags = SUBMIT_STORED | SUBMIT_UNBOUNDED | (goes_on ? 0 : SUBMIT_AWAITS_DECISION);
    if (engine_submit(d->api->engine, &d->spec, flags, d->row.run, NULL, &x, &e))
        log_error(LOG_ERROR, "approval.lost", &e);
    else if (!goes_on)
        run_reject(x, why);
}

static void note_decision(const struct decide *d)
{
    struct pending_approval *p = pending_find(d->api, d->row.id);
    if (!p)
        return;
    p->decision = d->decision;
    p->decided_by = text_copy(d->by);
    p->reason = text_copy(d->reason);
    p->over = p->over || !p->run;
}

static void write_done(struct store_job *job)
{
    struct decide *d = (struct decide *)job;
    struct err e;
    if (job->err.code != ERR_NONE) {
        struct err failed = job->err;
        finish(d, &failed, NULL);
        return;
    }
    if (d->has_rule && d->api->approvals) {
        d->has_rule = false;
        if (rules_add(&d->api->approvals->rules, &d->rule, &e))
            log_error(LOG_ERROR, "rule.lost", &e);
    }
    note_decision(d);
    apply(d);
    finish(d, NULL, NULL);
}

/* A rule may have been made while the run waited, or an edit may add code that a rule denies. */
static int check_rules(const struct decide *d, const struct run *x, struct err *e)
{
    const struct rule_row *deny = denying(d, x);
    if (!deny)
        return 0;
    return err_set(e, ERR_DENIED, 0,
                   "rule '%s' denies this code: reject it, edit it, or remove the rule first",
                   deny->id);
}

/* The spec is made before the decision is written, so that every written decision can be applied. A
 * rejection is written even if its spec cannot be made; the run then stays waiting, which is
 * harmless. */
static int prepare(struct decide *d, char *field, size_t field_size, struct err *e)
{
    const struct run *x = waiting_run(d);
    bool rebuilds = !x && d->has_run && d->run.state == RUN_WAITING;
    bool no = d->decision == DECISION_REJECT || d->decision == DECISION_EXPIRED;
    if (d->row.decision != DECISION_PENDING)
        return 0;                     /* the write fails with the earlier decision */
    if (rebuilds && d->api->draining) /* a decision must be applied, and no run starts any more */
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "the service is stopping: decide on run '%s' when it is back", d->row.run);
    if (!no && !x && !rebuilds)
        return err_set(e, ERR_CONFLICT, 0, "run '%s' no longer waits for a decision", d->row.run);
    if ((d->decision == DECISION_EDIT || rebuilds) && make_spec(d, x, field, field_size, e)) {
        if (!no)
            return -1;
        log_error(LOG_WARN, "approval.unmakeable", e);
    }
    return (!no && check_rules(d, x, e)) || decide_make_rule(d, x, e) ? -1 : 0;
}

static void read_done(struct store_job *job)
{
    struct decide *d = (struct decide *)job;
    char field[128] = "";
    struct err e = job->err;
    if (e.code != ERR_NONE || prepare(d, field, sizeof field, &e)) {
        finish(d, &e, field[0] ? field : NULL);
        return;
    }
    d->job = (struct store_job){ .work = write_work, .done = write_done };
    store_write(d->api->store, &d->job);
}

void decide_start(struct decide *d)
{
    const json_t *code;
    struct err e;
    if (d->decision == DECISION_EDIT && edited_code(d, &code, &e)) {
        finish(d, &e, "edited_input");
        return;
    }
    d->job = (struct store_job){ .work = read_work, .done = read_done };
    store_read(d->api->store, &d->job);
}

struct decide *decide_of_call(struct api_call *c)
{
    const char *word = json_string_value(json_object_get(c->body, "decision"));
    enum decision decision = DECISION_APPROVE;
    while (decision < DECISION_REJECT && strcmp(decision_word(decision), word ? word : "") != 0)
        decision++;
    struct decide *d = decide_new(c->api, decision, c->who.name);
    if (!d) {
        api_fail_no_memory(c);
        return NULL;
    }
    d->user = c;
    d->reason = text_copy(api_text(c, "reason"));
    d->remember = text_copy(api_text(c, "remember"));
    d->prefix = text_copy(api_text(c, "prefix"));
    d->edited_input = json_incref(json_object_get(c->body, "edited_input"));
    return d;
}
