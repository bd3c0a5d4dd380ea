/* A decision, from the word of a person (or a clock) to the run that goes on: read what is asked, make what will run, write
 * the decision down, and only then let it have its effect. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/approvals/approvals_impl.h"
#include "api/runs/run_fields.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "run/json.h"
#include "spec/bundle.h"
#include "store/audit_log.h"

enum { PREFIX_MAX = 65536 };

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

/* ---- 1: what is asked ---- */
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

/* ---- 2: what will run ---- */

/* The run, if it is in memory and still waits. */
static struct run *waiting_exec(const struct decide *d)
{
    struct run *x = d->row.run ? engine_find(d->api->engine, d->row.run) : NULL;
    return x && x->state == RUN_WAITING ? x : NULL;
}

/* edited_input: the code, or an object of what `input` showed. */
static int edited_code(const struct decide *d, const json_t **ret_code, struct err *e)
{
    const json_t *code = json_is_object(d->edited_input) ? json_object_get(d->edited_input, "code")
                                                         : d->edited_input;
    if (!json_is_string(code))
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "decision 'edit' needs edited_input: the code as a string, or {\"code\": \"...\"}");
    *ret_code = code;
    return 0;
}

/* What `input` shows may be sent back whole, but only the code and its language can be other than they were. Whoever takes an
 * argument of the compiler out must not find that it was there all the same. */
static int check_unchanged(const struct decide *d, struct err *e)
{
    json_auto_t *shown = json_loads(d->row.input ? d->row.input : "", JSON_ALLOW_NUL, NULL);
    const char *key;
    json_t *value;
    json_object_foreach(d->edited_input, key, value) {
        if (strcmp(key, "code") == 0 || strcmp(key, "language") == 0 ||
            json_equal(value, json_object_get(shown, key)))
            continue;
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "edited_input.%s cannot be changed, only code and language can: reject the "
                       "run if it is not to have that",
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

/* The code goes where it came from: `code`, or the main one of `files`. */
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
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "the request has no code that could be edited: approve or reject it");
}

static struct api_identity identity_of(const char *key)
{
    struct api_identity who = { .key = key, .scopes = SCOPE_BIT(SCOPE_RUN) };
    (void)snprintf(who.name, sizeof who.name, key ? "key:%.64s" : "anonymous%s", key ? key : "");
    return who;
}

/* What was in the jar beside the request's own files: the directory of /execute. */
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
            bundle_add(to, name, entry.head.mode_or_status, entry.bytes, entry.head.size, e))
            return -1;
    }
}

/* What run_spec_from_json() cannot know. x NULL: not in memory. */
static int finish_spec(const struct decide *d, const struct run *x, struct run_spec *s,
                       struct err *e)
{
    const char *artifact = x ? x->spec.artifact : d->run.artifact;
    const char *batch = x ? x->spec.batch : d->run.batch;
    free(s->artifact);
    free(s->batch);
    s->artifact = text_copy(artifact);
    s->batch = text_copy(batch);
    if (!x)
        return 0;
    free(s->actor);
    s->actor = text_copy(x->spec.actor);
    s->key_max_runs = x->spec.key_max_runs;
    bool shares = x->spec.surface && strcmp(x->spec.surface, "nemo") == 0;
    return shares ? carry_files(&s->bundle, &x->spec, e) : 0;
}

static int make_spec(struct decide *d, const struct run *x, char *field, size_t field_size,
                     struct err *e)
{
    const char *text = x ? x->spec.request : d->run.request;
    const char *surface = x ? x->spec.surface : d->run.surface;
    struct api_identity who = identity_of(x ? x->spec.key : d->run.key);
    json_t *request = text ? json_loads(text, JSON_ALLOW_NUL, NULL) : NULL;
    int failed = request ? 0
                         : err_set(e, ERR_CONFLICT, 0,
                                   "the request of run '%s' is not known any more: send it again",
                                   d->row.run);
    if (!failed && d->decision == DECISION_EDIT) {
        const json_t *code = NULL;
        json_t *language = json_object_get(d->edited_input, "language");
        failed = edited_code(d, &code, e) || check_unchanged(d, e) ||
                 put_code(request, (json_t *)code, e);
        if (!failed && json_is_string(language) && json_object_set(request, "language", language))
            failed = err_no_memory(e, "a decision");
        failed = failed || api_validate(request, run_fields, true, field, field_size, e);
    }
    failed = failed || run_spec_from_json(d->api, &who, request, surface ? surface : "v1", &d->spec,
                                          field, field_size, e);
    json_decref(request);
    if (failed)
        return -1;
    d->has_spec = true;
    return finish_spec(d, x, &d->spec, e);
}

/* ---- 3: what is remembered ---- */
static int make_rule(struct decide *d, struct err *e)
{
    bool session = d->remember && strcmp(d->remember, "session") == 0;
    bool prefix = d->remember && strcmp(d->remember, "prefix") == 0;
    char id[ID_SIZE];
    if (!session && !prefix)
        return 0;
    if (d->decision != DECISION_APPROVE)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "remember '%s' goes with decision 'approve': a rule that denies is made by "
                       "POST /v1/rules",
                       d->remember);
    if (session && !d->row.thread)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "remember 'session' needs a request with a thread_id: 'once' or 'prefix' is "
                       "accepted here");
    json_t *input = json_loads(d->row.input ? d->row.input : "", JSON_ALLOW_NUL, NULL);
    const char *code = json_string_value(json_object_get(input, "code"));
    /* Without words, all of it: the narrowest prefix there is. */
    const char *text = session ? "" : d->prefix ? d->prefix : code;
    int failed = 0;
    if (!text || strlen(text) > PREFIX_MAX ||
        (prefix && (!*text || !code || strncmp(code, text, strlen(text)) != 0)))
        failed = err_set(e, ERR_BAD_REQUEST, 0,
                         "remember 'prefix' needs a prefix that the code starts with, of 1 to %d "
                         "bytes",
                         PREFIX_MAX);
    id_make("rul_", id);
    if (!failed) {
        d->rule = (struct rule_row){
            .id = strdup(id),
            .action = strdup("allow"),
            .thread = session ? strdup(d->row.thread) : NULL,
            .tool = text_copy(d->row.tool),
            .language = prefix ? text_copy(json_string_value(json_object_get(input, "language")))
                               : NULL,
            .match = strdup(session ? "any" : "prefix"),
            .text = strdup(text),
            .made_by = text_copy(d->by),
            .created_ms = clock_unix_ms(),
        };
        d->has_rule = true;
    }
    json_decref(input);
    return failed;
}

/* ---- 4: written down ---- */
static char *decided_detail(const struct decide *d)
{
    return json_line(json_pack("{s:s, s:s*, s:s*, s:s*, s:s*}", "decision",
                               decision_word(d->decision), "run_id", d->row.run, "reason",
                               d->reason, "remember", d->remember, "rule",
                               d->has_rule ? d->rule.id : NULL));
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
        return err_set(e, ERR_NO_MEMORY, 0, "no memory to record a decision");
    if (approvals_decide(db, &r, &d->decided, e) || audit_append(db, &record, e))
        return -1;
    return d->has_rule ? rules_insert(db, &d->rule, e) : 0;
}

/* ---- 5: and has its effect ---- */
static void apply(struct decide *d)
{
    struct run *x = waiting_exec(d);
    bool goes_on = d->decision == DECISION_APPROVE || d->decision == DECISION_EDIT;
    const char *why = d->reason ? d->reason : "rejected";
    struct err e = { 0 };
    if (x) {
        if (goes_on)
            run_release(x, d->decision == DECISION_EDIT ? &d->spec : NULL);
        else
            run_reject(x, why);
        if (d->decision == DECISION_EDIT)
            d->has_spec = false; /* taken */
        return;
    }
    if (!d->has_spec || (d->has_run && d->run.state != RUN_WAITING))
        return; /* it was over before */
    /* It waited before a restart. It had its place in the queue then, so it is not turned away now. */
    d->has_spec = false;
    unsigned flags = SUBMIT_STORED | SUBMIT_UNBOUNDED | (goes_on ? 0 : SUBMIT_AWAITS_DECISION);
    if (engine_submit(d->api->engine, &d->spec, flags, d->row.run, NULL, &x, &e))
        log_error(LOG_ERROR, "approval.lost", &e);
    else if (!goes_on)
        run_reject(x, why);
}

static void note_decision(const struct decide *d)
{
    struct held *h = held_find(d->api, d->row.id);
    if (!h)
        return;
    h->decision = d->decision;
    h->decided_by = text_copy(d->by);
    h->reason = text_copy(d->reason);
    h->over = h->over || !h->exec;
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
        if (rules_add(d->api->approvals, &d->rule, &e))
            log_error(LOG_ERROR, "rule.lost", &e);
    }
    note_decision(d);
    apply(d);
    finish(d, NULL, NULL);
}

/* A rule may have been made while it waited, and an edit may bring in what a rule denies. */
static int check_rules(const struct decide *d, const struct run *x, struct err *e)
{
    const struct run_spec *s = d->has_spec ? &d->spec : x ? &x->spec : NULL;
    const struct rule_row *deny = s && d->api->approvals ? rules_denying(d->api->approvals, s)
                                                         : NULL;
    if (!deny)
        return 0;
    return err_set(e, ERR_DENIED, 0,
                   "rule '%s' denies this code: reject it, edit it, or remove the rule first",
                   deny->id);
}

/* What will run is made before the decision is written: one that cannot be carried out is not made. A no needs no program
 * that can be made; where it cannot, the run is left to be found waiting, which harms nobody. */
static int prepare(struct decide *d, char *field, size_t field_size, struct err *e)
{
    const struct run *x = waiting_exec(d);
    bool rebuilds = !x && d->has_run && d->run.state == RUN_WAITING;
    bool no = d->decision == DECISION_REJECT || d->decision == DECISION_EXPIRED;
    if (d->row.decision != DECISION_PENDING)
        return 0; /* the write says by whom and when it was decided */
    if (rebuilds &&
        d->api->draining) /* what is decided must be done, and nothing starts any more */
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "the service is stopping: decide when it is back, run '%s' waits for it",
                       d->row.run);
    if (!no && !x && !rebuilds)
        return err_set(e, ERR_CONFLICT, 0, "run '%s' does not wait any more", d->row.run);
    if ((d->decision == DECISION_EDIT || rebuilds) && make_spec(d, x, field, field_size, e)) {
        if (!no)
            return -1;
        log_error(LOG_WARN, "approval.unmakeable", e);
    }
    return (!no && check_rules(d, x, e)) || make_rule(d, e) ? -1 : 0;
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
