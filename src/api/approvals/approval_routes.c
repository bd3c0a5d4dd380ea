/* /v1/approvals and /v1/rules. agent_routes.c has the same approvals by thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/approvals/approvals_impl.h"
#include "api/kernel/job.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/text.h"
#include "run/diff.h"
#include "run/json.h"
#include "runtime/language.h"
#include "store/audit_log.h"

const char *const decision_words[] = { "approve", "edit", "reject", NULL };
const char *const remember_words[] = { "once", "session", "exact", "prefix", NULL };

/* ---- objects ---- */
static json_t *parsed(const char *text)
{
    json_t *o = text ? json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL) : NULL;
    return o ? o : json_null();
}

/* The changes of the approver; null if the decision was no edit. */
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

json_t *rule_object(const struct rule_row *r)
{
    char why[sizeof((struct err *)0)->text];
    bool is_void = rule_is_void(r, why, sizeof why);
    return json_pack("{s:s, s:s, s:s?, s:s, s:s?, s:s, s:s?, s:s?, s:s?, s:o, s:s?}", "id", r->id,
                     "action", r->action, "thread_id", r->thread, "tool", r->tool, "language",
                     r->language, "match", r->match, "text", r->text, "requester", r->requester,
                     "made_by", r->made_by, "created_at", result_time((uint64_t)r->created_ms),
                     "void", is_void ? why : NULL);
}

/* ---- reading approvals ---- */
struct view_job {
    struct api_job job;
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

static int get_work(struct db *db, struct store_job *job, struct err *e)
{
    struct view_job *j = (struct view_job *)job;
    return approvals_get(db, j->id, &j->row, e);
}

static void get_done(struct store_job *job)
{
    struct view_job *j = (struct view_job *)job;
    if (job->err.code != ERR_NONE)
        api_fail(j->job.call, &job->err, NULL);
    else
        api_reply(j->job.call, 200, approval_object(&j->row, true));
    view_free(j);
}

static void get_approval(struct api_call *c)
{
    struct view_job *j = api_job_new(c, sizeof *j, get_work, get_done);
    if (!j)
        return;
    (void)snprintf(j->id, sizeof j->id, "%.63s", c->params[0]);
    api_job_read(&j->job);
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
        api_fail(j->job.call, &job->err, NULL);
    } else {
        api_reply(j->job.call, 200, o);
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
    struct view_job *j = api_job_new(c, sizeof *j, list_work, list_done);
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
    api_job_read(&j->job);
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
    struct api_job job;
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
        return err_no_memory(e, "the record of a rule");
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
    struct approvals *a = j->job.call->api->approvals;
    struct err e = job->err;
    json_t *answer = j->removes ? NULL : rule_object(&j->row);
    if (e.code == ERR_NONE && a && j->removes)
        rules_remove(&a->rules, j->row.id);
    else if (e.code == ERR_NONE && a)
        (void)!rules_add(&a->rules, &j->row, &e);
    if (e.code != ERR_NONE) {
        json_decref(answer);
        api_fail(j->job.call, &e, NULL);
    } else if (j->removes) {
        api_reply_text(j->job.call, 204, "application/json", "", 0);
    } else {
        api_reply(j->job.call, 201, answer);
    }
    rule_free(j);
}

static struct rule_job *rule_new(struct api_call *c, const char *id, bool removes)
{
    struct rule_job *j = api_job_new(c, sizeof *j, rule_work, rule_done);
    if (!j)
        return NULL;
    j->row.id = strdup(id);
    j->actor = strdup(c->who.name);
    j->removes = removes;
    if (j->row.id && j->actor)
        return j;
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
    char why[sizeof e.text];
    if (rule_is_void(&j->row, why, sizeof why)) {
        rule_free(j);
        (void)!err_set(&e, ERR_BAD_REQUEST, 0,
                       "this rule would allow nothing: %s; 'any', or 'prefix' with the first words "
                       "of one command and language 'bash', is accepted",
                       why);
        api_fail(c, &e, "match");
        return;
    }
    api_job_write(&j->job);
}

static void remove_rule(struct api_call *c)
{
    struct rule_job *j = rule_new(c, c->params[0], true);
    if (j)
        api_job_write(&j->job);
}

/* ---- fields ---- */
static const char *const all_decision_words[] = { DECISION_TABLE(FIELD_WORD) NULL };
static const char *const state_words[] = { "pending", "decided", NULL };
static const char *const action_words[] = { "allow", "deny", NULL };
static const char *const match_words[] = { "any", "prefix", "contains", NULL };
static const char *const tool_words[] = { "execute", "write_file", "edit_file", NULL };

static const struct api_field list_query[] = {
    { "decision", FIELD_STRING,
      .help = "only this decision: pending, approve, edit, reject or expired" },
    { "thread_id", FIELD_STRING, .help = "only requests of this thread" },
    { "cursor", FIELD_STRING, .help = "next_cursor of the previous page" },
    { "limit", FIELD_INT, .min = 1, .max = 1000, .help = "size of a page; 100 by default" },
    { 0 },
};
static const struct api_field decide_fields[] = {
    { "decision", FIELD_STRING, .required = true, .one_of = decision_words,
      .help = "the decision" },
    { "edited_input", FIELD_ANY,
      .help = "for edit: the code, {\"code\": ...} or {\"command\": ...}" },
    { "reason", FIELD_STRING, .max = 2000, .help = "a reason that the caller is shown" },
    { "remember", FIELD_STRING, .one_of = remember_words,
      .help = "once (the default); session: no more requests of this thread; exact: none for the "
              "same input; prefix: none for one shell command that starts with the same words; "
              "always for the same requester" },
    { "prefix", FIELD_STRING, .max = RULE_TEXT_MAX,
      .help = "for remember=prefix: the first words of the command; exact if absent" },
    { 0 },
};
static const struct api_field rule_fields[] = {
    { "action", FIELD_STRING, .required = true, .one_of = action_words,
      .help = "deny holds in every mode; allow makes an approval unnecessary" },
    { "match", FIELD_STRING, .one_of = match_words,
      .help = "any code; deny: code with this prefix, or any input that contains the text (the "
              "default); allow: one command of bash that starts with the words of this prefix" },
    { "text", FIELD_STRING, .max = RULE_TEXT_MAX, .help = "the text for prefix and contains" },
    { "language", FIELD_STRING, .max = 64, .help = "only code in this language" },
    { "thread_id", FIELD_STRING, .min = 1, .max = 256, .help = "only runs of this thread" },
    { "tool", FIELD_STRING, .one_of = tool_words, .help = "only this tool; execute by default" },
    { 0 },
};

const struct api_field risk_reply[] = {
    { "kind", FIELD_STRING, ALWAYS, .help = "kind of the risk, such as network" },
    { "line", FIELD_INT, ALWAYS, .help = "line of the code" },
    { "column", FIELD_INT, ALWAYS, .help = "column of the line" },
    { "excerpt", FIELD_STRING, ALWAYS, .help = "the line, or part of it" },
    { "why", FIELD_STRING, ALWAYS, .help = "a possible effect" },
    { "file", FIELD_STRING, .help = "name of the file, if it is not the main one" },
    { "where", FIELD_STRING, .help = "of hidden_character: the input, if it is no file" },
    { "files", FIELD_INT, .help = "of not_looked_at: number of files that were not scanned" },
    { .schema = "Risk" },
};
const struct api_field approval_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "id of the request" },
    { "thread_id", FIELD_STRING, OR_NULL, .help = "the thread of the run" },
    { "run_id", FIELD_STRING, OR_NULL, .help = "the run that waits" },
    { "tool", FIELD_STRING, OR_NULL, .help = "the tool to approve: execute" },
    { "input", FIELD_ANY, OR_NULL, .help = "the code, its language and the rest of its input" },
    { "reason", FIELD_STRING, OR_NULL, .help = "the reason why a person has to decide" },
    { "risks", FIELD_OBJECTS, OR_NULL, .fields = risk_reply, .help = "places to look at" },
    { "state", FIELD_STRING, ALWAYS, .one_of = state_words, .help = "pending, or decided" },
    { "decision", FIELD_STRING, ALWAYS, .one_of = all_decision_words,
      .help = "pending until it is made" },
    { "created_at", FIELD_STRING, OR_NULL, .help = "time of the request" },
    { "expires_at", FIELD_STRING, OR_NULL, .help = "time at which the run is rejected" },
    { "decided_at", FIELD_STRING, OR_NULL, .help = "time of the decision" },
    { "decided_by", FIELD_STRING, OR_NULL, .help = "the identity that decided" },
    { "decided_reason", FIELD_STRING, OR_NULL, .help = "the reason of the decision" },
    { "edited_input", FIELD_ANY, OR_NULL, .help = "the code that runs in place of input" },
    { "remember", FIELD_STRING, OR_NULL, .help = "as in the decision" },
    { "diff", FIELD_ANY, .nullable = true, .help = "the changes of an edit, line by line" },
    { .schema = "Approval" },
};
static const struct api_field approval_list_reply[] = {
    { "approvals", FIELD_OBJECTS, ALWAYS, .fields = approval_reply, .help = "newest first" },
    { "next_cursor", FIELD_STRING, OR_NULL, .help = "for the next page; null at the end" },
    { .schema = "ApprovalList" },
};
static const struct api_field rule_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "id of the rule" },
    { "action", FIELD_STRING, ALWAYS, .help = "allow or deny" },
    { "thread_id", FIELD_STRING, OR_NULL, .help = "null: every thread" },
    { "tool", FIELD_STRING, ALWAYS, .help = "the tool of the rule" },
    { "language", FIELD_STRING, OR_NULL, .help = "null: every language" },
    { "match", FIELD_STRING, ALWAYS, .help = "any, exact, prefix or contains" },
    { "text", FIELD_STRING, OR_NULL,
      .help = "the text for prefix and contains; of exact the digest of the input" },
    { "requester", FIELD_STRING, OR_NULL, .help = "null: runs of every requester" },
    { "made_by", FIELD_STRING, OR_NULL, .help = "the identity that made the rule" },
    { "created_at", FIELD_STRING, OR_NULL, .help = "time at which the rule was made" },
    { "void", FIELD_STRING, OR_NULL, .help = "why the rule allows nothing; null: it is in force" },
    { .schema = "Rule" },
};
static const struct api_field rule_list_reply[] = {
    { "rules", FIELD_OBJECTS, ALWAYS, .fields = rule_reply, .help = "every rule" },
    { .schema = "RuleList" },
};

const struct api_route approval_routes[] = {
    { METHOD_GET, "/v1/approvals", SCOPE_READ, .query = list_query, .handle = list_approvals,
      .summary = "Requests for approval, pending and decided",
      .replies = REPLIES({ 200, .fields = approval_list_reply }) },
    { METHOD_GET, "/v1/approvals/{id}", SCOPE_READ, .handle = get_approval,
      .summary = "One request for approval",
      .replies = REPLIES({ 200, .fields = approval_reply }) },
    { METHOD_POST, "/v1/approvals/{id}", SCOPE_APPROVE, .body = decide_fields,
      .handle = decide_approval, .summary = "Approve, edit or reject",
      .replies = REPLIES({ 200, .fields = approval_reply }) },
    { METHOD_GET, "/v1/rules", SCOPE_READ, .handle = list_rules,
      .summary = "The rules that allow or deny runs without a request for approval",
      .replies = REPLIES({ 200, .fields = rule_list_reply }) },
    { METHOD_POST, "/v1/rules", SCOPE_APPROVE, .body = rule_fields, .handle = add_rule,
      .summary = "Make a rule", .replies = REPLIES({ 201, .fields = rule_reply }) },
    { METHOD_DELETE, "/v1/rules/{id}", SCOPE_APPROVE, .handle = remove_rule,
      .summary = "Remove a rule", .replies = REPLIES({ .status = 204 }) },
    { 0 },
};
