/* /v1/approvals and /v1/rules, and the table that /api/agent is in too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/approvals/approvals_impl.h"
#include "api/runs/diff.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/text.h"
#include "run/json.h"
#include "runtime/language.h"
#include "store/audit_log.h"

const char *const decision_words[] = { "approve", "edit", "reject", NULL };

/* ---- views ---- */
static json_t *parsed(const char *text)
{
    json_t *o = text ? json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL) : NULL;
    return o ? o : json_null();
}

/* What the approver changed; null where it is no edit. */
static json_t *edit_diff(const json_t *input, const json_t *edited)
{
    const char *before = json_string_value(json_object_get(input, "code"));
    const char *after = json_string_value(json_is_object(edited) ? json_object_get(edited, "code")
                                                                 : edited);
    return before && after ? diff_lines(before, after) : json_null();
}

json_t *approval_object(const struct approval_row *r, bool with_diff)
{
    json_t *input = parsed(r->input), *edited = parsed(r->edited_input);
    json_t *o = json_object();
    bool pending = r->decision == DECISION_PENDING;
    const struct {
        const char *key;
        json_t *value;
    } fields[] = {
        { "id", json_text_or_null(r->id) },
        { "thread_id", json_text_or_null(r->thread) },
        { "run_id", json_text_or_null(r->run) },
        { "tool", json_text_or_null(r->tool) },
        { "input", json_incref(input) },
        { "reason", json_text_or_null(r->reason) },
        { "risks", parsed(r->risks) },
        { "state", json_string(pending ? "pending" : "decided") },
        { "decision", json_string(decision_word(r->decision)) },
        { "created_at", result_time((uint64_t)r->created_ms) },
        { "expires_at", result_time((uint64_t)r->expires_ms) },
        { "decided_at", result_time((uint64_t)r->decided_ms) },
        { "decided_by", json_text_or_null(r->decided_by) },
        { "decided_reason", json_text_or_null(r->decided_reason) },
        { "edited_input", json_incref(edited) },
        { "remember", json_text_or_null(r->remember) },
    };
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        (void)json_object_set_new(o, fields[i].key, fields[i].value);
    if (with_diff)
        (void)json_object_set_new(o, "diff", edit_diff(input, edited));
    json_decref(input);
    json_decref(edited);
    return o;
}

static json_t *rule_object(const struct rule_row *r)
{
    return json_pack("{s:s, s:s, s:s?, s:s, s:s?, s:s, s:s?, s:s?, s:o}", "id", r->id, "action",
                     r->action, "thread_id", r->thread, "tool", r->tool, "language", r->language,
                     "match", r->match, "text", r->text, "made_by", r->made_by, "created_at",
                     result_time((uint64_t)r->created_ms));
}

/* ---- reading approvals ---- */
struct view_job {
    struct store_job job;
    struct api_call *call;
    char id[64];
    char *decision, *thread; /* NULL: any */
    int64_t before_seq;
    unsigned limit;
    struct approval_row row;
    struct approval_rows rows;
};

static void view_free(struct view_job *j)
{
    free(j->decision);
    free(j->thread);
    approval_row_done(&j->row);
    approval_rows_done(&j->rows);
    free(j);
}

static struct view_job *view_new(struct api_call *c,
                                 int (*work)(struct db *, struct store_job *, struct err *),
                                 void (*done)(struct store_job *))
{
    struct view_job *j = calloc(1, sizeof *j);
    if (!j) {
        api_fail_no_memory(c);
        return NULL;
    }
    j->job.work = work;
    j->job.done = done;
    j->call = c;
    return j;
}

static int get_work(struct db *db, struct store_job *job, struct err *e)
{
    struct view_job *j = (struct view_job *)job;
    return approvals_get(db, j->id, &j->row, e);
}

static void get_done(struct store_job *job)
{
    struct view_job *j = (struct view_job *)job;
    if (job->err.code != ERR_NONE)
        api_fail(j->call, &job->err, NULL);
    else
        api_reply(j->call, 200, approval_object(&j->row, true));
    view_free(j);
}

static void get_approval(struct api_call *c)
{
    struct view_job *j = view_new(c, get_work, get_done);
    if (!j)
        return;
    (void)snprintf(j->id, sizeof j->id, "%.63s", c->params[0]);
    store_read(c->api->store, &j->job);
}

static int list_work(struct db *db, struct store_job *job, struct err *e)
{
    struct view_job *j = (struct view_job *)job;
    return approvals_list(db, j->decision, j->thread, j->before_seq, j->limit, &j->rows, e);
}

static json_t *cursor_text(int64_t seq)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%lld", (long long)seq);
    return seq ? json_string(text) : json_null();
}

static void list_done(struct store_job *job)
{
    struct view_job *j = (struct view_job *)job;
    json_t *list = json_array();
    for (size_t i = 0; i < j->rows.n; i++)
        (void)json_array_append_new(list, approval_object(&j->rows.rows[i], false));
    json_t *o = json_pack("{s:o, s:o}", "approvals", list, "next_cursor",
                          cursor_text(j->rows.next_before_seq));
    if (job->err.code != ERR_NONE) {
        json_decref(o);
        api_fail(j->call, &job->err, NULL);
    } else {
        api_reply(j->call, 200, o);
    }
    view_free(j);
}

static int query_copy(const struct api_call *c, const char *name, char **ret, struct err *e)
{
    char text[1024];
    const char *given;
    if (api_query(c, name, text, sizeof text, &given, e))
        return -1;
    *ret = given ? strdup(given) : NULL;
    return given && !*ret ? err_no_memory(e, "the query") : 0;
}

static int check_decision_word(const char *word, struct err *e)
{
    for (int d = 0; d < DECISION_COUNT_; d++)
        if (!word || strcmp(word, decision_word((enum decision)d)) == 0)
            return 0;
    return err_set(
        e, ERR_BAD_REQUEST, 0,
        "decision '%s' is unknown: pending, approve, edit, reject or expired is accepted",
        QUOTED(word));
}

static void list_approvals(struct api_call *c)
{
    struct err e;
    int64_t limit = 100;
    struct view_job *j = view_new(c, list_work, list_done);
    if (!j)
        return;
    if (query_copy(c, "decision", &j->decision, &e) || check_decision_word(j->decision, &e) ||
        query_copy(c, "thread_id", &j->thread, &e) ||
        api_query_number(c, "cursor", 1, INT64_MAX, &j->before_seq, &e) ||
        api_query_number(c, "limit", 1, 1000, &limit, &e)) {
        view_free(j);
        api_fail(c, &e, NULL);
        return;
    }
    j->limit = (unsigned)limit;
    store_read(c->api->store, &j->job);
}

/* ---- deciding ---- */
static void decided(struct decide *d, const struct err *e, const char *field)
{
    struct api_call *c = d->user;
    if (e)
        api_fail(c, e, field);
    else
        api_reply(c, 200, approval_object(&d->decided, true));
}

static void decide_approval(struct api_call *c)
{
    struct decide *d = decide_of_call(c);
    if (!d)
        return;
    d->id = strdup(c->params[0]);
    d->done = decided;
    decide_start(d);
}

/* ---- rules ---- */
struct rule_job {
    struct store_job job;
    struct api_call *call;
    struct rule_row row;
    char *actor;
    bool removes;
};

static void rule_free(struct rule_job *j)
{
    rule_row_done(&j->row);
    free(j->actor);
    free(j);
}

static int rule_work(struct db *db, struct store_job *job, struct err *e)
{
    struct rule_job *j = (struct rule_job *)job;
    autofree char *detail = json_line(j->removes ? json_object() : rule_object(&j->row));
    if (!detail)
        return err_set(e, ERR_NO_MEMORY, 0, "no memory to record a rule");
    struct audit_record record = { .time_ms = clock_unix_ms(),
                                   .kind = j->removes ? "rule.removed" : "rule.added",
                                   .subject = j->row.id,
                                   .actor = j->actor,
                                   .detail = detail };
    if (j->removes ? rules_delete(db, j->row.id, e) : rules_insert(db, &j->row, e))
        return -1;
    return audit_append(db, &record, e);
}

static void rule_done(struct store_job *job)
{
    struct rule_job *j = (struct rule_job *)job;
    struct approvals *a = j->call->api->approvals;
    struct err e = job->err;
    json_t *shown = j->removes ? NULL : rule_object(&j->row);
    if (e.code == ERR_NONE && a && j->removes)
        rules_remove(a, j->row.id);
    else if (e.code == ERR_NONE && a)
        (void)!rules_add(a, &j->row, &e);
    if (e.code != ERR_NONE) {
        json_decref(shown);
        api_fail(j->call, &e, NULL);
    } else if (j->removes) {
        api_reply_text(j->call, 204, "application/json", "", 0);
    } else {
        api_reply(j->call, 201, shown);
    }
    rule_free(j);
}

static struct rule_job *rule_new(struct api_call *c, const char *id, bool removes)
{
    struct rule_job *j = calloc(1, sizeof *j);
    if (j)
        *j = (struct rule_job){ .job = { .work = rule_work, .done = rule_done },
                                .call = c,
                                .row.id = strdup(id),
                                .actor = strdup(c->who.name),
                                .removes = removes };
    if (j && j->row.id && j->actor)
        return j;
    if (j)
        rule_free(j);
    api_fail_no_memory(c);
    return NULL;
}

static void list_rules(struct api_call *c)
{
    json_t *list = json_array();
    const struct rule_rows *rules = &c->api->approvals->rules;
    for (size_t i = 0; i < rules->n; i++)
        (void)json_array_append_new(list, rule_object(&rules->rows[i]));
    api_reply(c, 200, json_pack("{s:o}", "rules", list));
}

static char *body_text(const struct api_call *c, const char *key, const char *otherwise)
{
    const char *given = api_text(c, key);
    return text_copy(given ? given : otherwise);
}

static void add_rule(struct api_call *c)
{
    char id[ID_SIZE];
    struct err e;
    const char *word = json_string_value(json_object_get(c->body, "language"));
    const char *match = json_string_value(json_object_get(c->body, "match"));
    const struct language *language = word ? language_find(word) : NULL;
    bool any = match && strcmp(match, "any") == 0;
    if (word && !language) {
        (void)!language_refuse(word, &e);
        api_fail(c, &e, "language");
        return;
    }
    if (!any && json_string_length(json_object_get(c->body, "text")) == 0) {
        (void)!err_set(&e, ERR_BAD_REQUEST, 0, "match '%s' needs a text that is not empty",
                       match ? match : "contains");
        api_fail(c, &e, "text");
        return;
    }
    id_make("rul_", id);
    struct rule_job *j = rule_new(c, id, false);
    if (!j)
        return;
    j->row.action = body_text(c, "action", NULL);
    j->row.thread = body_text(c, "thread_id", NULL);
    j->row.tool = body_text(c, "tool", "execute");
    j->row.language = language ? strdup(language->name) : NULL;
    j->row.match = body_text(c, "match", "contains");
    j->row.text = body_text(c, "text", "");
    j->row.made_by = strdup(c->who.name);
    j->row.created_ms = clock_unix_ms();
    store_write(c->api->store, &j->job);
}

static void remove_rule(struct api_call *c)
{
    struct rule_job *j = rule_new(c, c->params[0], true);
    if (j)
        store_write(c->api->store, &j->job);
}

/* ---- the table ---- */
static const char *const actions[] = { "allow", "deny", NULL };
static const char *const matches[] = { "any", "prefix", "contains", NULL };
static const char *const tools[] = { "execute", "write_file", "edit_file", NULL };
static const char *const remembers[] = { "once", "session", "prefix", NULL };

static const struct api_field list_query[] = {
    { "decision", FIELD_STRING, .help = "only those: pending, approve, edit, reject or expired" },
    { "thread_id", FIELD_STRING, .help = "only of this thread" },
    { "cursor", FIELD_STRING, .help = "next_cursor of the page before" },
    { "limit", FIELD_INT, .min = 1, .max = 1000, .help = "how many on a page (100)" },
    { 0 },
};
static const struct api_field decide_fields[] = {
    { "decision", FIELD_STRING, .required = true, .one_of = decision_words,
      .help = "what becomes of it" },
    { "edited_input", FIELD_ANY, .help = "for edit: the code, or {\"code\": ...}" },
    { "reason", FIELD_STRING, .max = 2000, .help = "shown to whoever asked" },
    { "remember", FIELD_STRING, .one_of = remembers,
      .help = "once (the default); session: the thread asks no more; prefix: nor does code that "
              "starts so" },
    { "prefix", FIELD_STRING, .max = 65536,
      .help = "what such code starts with; the whole code when absent" },
    { 0 },
};
static const struct api_field rule_fields[] = {
    { "action", FIELD_STRING, .required = true, .one_of = actions,
      .help = "deny holds in every mode, allow saves asking" },
    { "match", FIELD_STRING, .one_of = matches,
      .help = "any code, code with this prefix, or any file that contains the text (the default)" },
    { "text", FIELD_STRING, .max = 65536, .help = "what prefix and contains look for" },
    { "language", FIELD_STRING, .max = 64, .help = "only code in this language" },
    { "thread_id", FIELD_STRING, .min = 1, .max = 256, .help = "only runs of this thread" },
    { "tool", FIELD_STRING, .one_of = tools, .help = "what is asked for; execute when absent" },
    { 0 },
};
static const struct api_field interrupt_fields[] = {
    { "thread_id", FIELD_STRING, .required = true, .min = 1, .max = 256,
      .help = "the thread whose request is decided" },
    { "decision", FIELD_STRING, .required = true, .one_of = decision_words,
      .help = "what becomes of it" },
    { "edited_input", FIELD_ANY, .help = "for edit: the code, or {\"code\": ...}" },
    { "reason", FIELD_STRING, .max = 2000, .help = "shown to whoever asked" },
    { "remember", FIELD_STRING, .one_of = remembers, .help = "as in POST /v1/approvals/{id}" },
    { 0 },
};

const struct api_route approval_routes[] = {
    { METHOD_GET, "/v1/approvals", SCOPE_READ, STYLE_V1, NULL, list_query, 0, list_approvals,
      "Requests that wait for a decision, and those decided" },
    { METHOD_GET, "/v1/approvals/{id}", SCOPE_READ, STYLE_V1, NULL, NULL, 0, get_approval,
      "One request for approval" },
    { METHOD_POST, "/v1/approvals/{id}", SCOPE_APPROVE, STYLE_V1, decide_fields, NULL, 0,
      decide_approval, "Approve, edit or reject" },
    { METHOD_GET, "/v1/rules", SCOPE_READ, STYLE_V1, NULL, NULL, 0, list_rules,
      "What is allowed or denied without asking" },
    { METHOD_POST, "/v1/rules", SCOPE_APPROVE, STYLE_V1, rule_fields, NULL, 0, add_rule,
      "Make a rule" },
    { METHOD_DELETE, "/v1/rules/{id}", SCOPE_APPROVE, STYLE_V1, NULL, NULL, 0, remove_rule,
      "Remove a rule" },
    { METHOD_GET, "/api/agent/pending-approval/{thread_id}", SCOPE_READ, STYLE_DETAIL, NULL, NULL,
      0, agent_pending, "What a thread waits for" },
    { METHOD_POST, "/api/agent/interrupt", SCOPE_APPROVE, STYLE_DETAIL, interrupt_fields, NULL,
      ROUTE_LENIENT, agent_interrupt, "Decide on what a thread waits for" },
    { METHOD_GET, "/api/agent/state/{thread_id}", SCOPE_READ, STYLE_DETAIL, NULL, NULL, 0,
      agent_state, "What a thread does" },
    { .path = NULL },
};
