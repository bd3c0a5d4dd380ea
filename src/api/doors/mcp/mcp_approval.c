/* Approvals of a person who sits at the client: a question on the stream of the request, or, in
 * revision 2026-07-28, a result that asks, and the same request again with the answer. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/approvals/approvals.h"
#include "api/approvals/preview.h"
#include "api/doors/mcp/mcp.h"
#include "api/kernel/auth.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"

enum { CODE_SHOWN = 4000, RISKS_SHOWN = 10, MAC_SIZE = crypto_auth_BYTES };

/* ---- the question ---- */

static void add_risks(struct buf *text, const json_t *risks)
{
    struct err e;
    size_t n = json_array_size(risks);
    for (size_t i = 0; i < n && i < RISKS_SHOWN; i++) {
        const json_t *risk = json_array_get(risks, i);
        (void)!buf_addf(text, &e, "%sline %lld: %s\n", i ? "" : "\nRisks:\n",
                        (long long)json_integer_value(json_object_get(risk, "line")),
                        mcp_text(risk, "why"));
    }
    if (n > RISKS_SHOWN)
        (void)!buf_addf(text, &e, "and %zu more\n", n - RISKS_SHOWN);
}

/* Everything that the program gets, except for parts that are marked as cut. */
static json_t *question(const struct mcp_request *r, const char *reason)
{
    const struct run *run = r->run;
    json_auto_t *input = preview_input(&run->spec), *risks = preview_risks(&run->spec);
    json_auto_t *rest = json_copy(input);
    const char *code = run->spec.code ? run->spec.code : "(the program is not text)";
    scoped(buf) text = { 0 };
    struct err e;
    (void)json_object_del(rest, "code");
    (void)json_object_del(rest, "digest");
    (void)json_object_del(rest, "limits");
    autofree char *others = json_dumps(rest, JSON_COMPACT);
    size_t n = strlen(code);
    if (buf_addf(&text, &e, "Run this %s code? %s\n\n%.*s%s\n", run->spec.language->name,
                 reason ? reason : "", (int)(n < CODE_SHOWN ? n : CODE_SHOWN), code,
                 n > CODE_SHOWN ? "\n[the rest of the code is not shown here: see 'belljar "
                                  "approvals']"
                                : "") == 0) {
        add_risks(&text, risks);
        (void)!buf_addf(&text, &e, "\nThe rest of its input: %.1500s%s\n", others ? others : "?",
                        others && strlen(others) > 1500 ? " [cut]" : "");
    }
    scoped(buf) clean = { 0 };
    (void)!text_add_utf8(&clean, buf_str(&text), text.len, &e);
    json_t *o = json_pack("{s:s, s:{s:s, s:{s:{s:s, s:s, s:s}, s:{s:s, s:s, s:i}}, s:[s]}}",
                          "message", buf_str(&clean), "requestedSchema", "type", "object",
                          "properties", "approve", "type", "boolean", "title", "Approve",
                          "description", "true runs the code, false rejects it", "note", "type",
                          "string", "title", "Note", "maxLength", 500, "required", "approve");
    if (r->client.revision >= MCP_2025_11_25)
        json_put(o, "mode", json_string("form"));
    return o;
}

/* ---- requestState ---- */

static json_t *sealed(const struct mcp_request *r)
{
    unsigned char mac[MAC_SIZE];
    scoped(buf) text = { 0 };
    struct err e;
    autofree char *state = json_line(json_pack("{s:s, s:s, s:s, s:b, s:s}", "run", r->run->id,
                                               "approval", r->approval, "owner", mcp_who(r)->owner,
                                               "cell", r->is_cell, "tool", r->tool->name));
    if (!state || crypto_auth(mac, (const unsigned char *)state, strlen(state), r->mcp->secret) ||
        text_add_base64(&text, mac, sizeof mac, &e) || buf_add(&text, ".", 1, &e) ||
        text_add_base64(&text, state, strlen(state), &e))
        return NULL;
    return json_string(buf_str(&text));
}

/* NULL: it was not made here, or for another client. */
static json_t *unsealed(const struct mcp_request *r, const char *text)
{
    const char *dot = strchr(text, '.');
    scoped(buf) mac = { 0 };
    scoped(buf) state = { 0 };
    struct err e;
    if (!dot || text_base64_decode(text, (size_t)(dot - text), &mac, &e) ||
        text_base64_decode(dot + 1, strlen(dot + 1), &state, &e) || mac.len != MAC_SIZE ||
        crypto_auth_verify((const unsigned char *)mac.data, (const unsigned char *)buf_str(&state),
                           state.len, r->mcp->secret))
        return NULL;
    json_t *o = json_loadb(buf_str(&state), state.len, 0, NULL);
    const char *owner = mcp_text(o, "owner"), *tool = mcp_text(o, "tool");
    if (owner && tool && strcmp(owner, mcp_who(r)->owner) == 0 && strcmp(tool, r->tool->name) == 0)
        return o;
    json_decref(o);
    return NULL;
}

/* ---- the flow ---- */

static void ask_on_stream(struct mcp_request *r, json_t *asked)
{
    (void)snprintf(r->elicitation, sizeof r->elicitation, "elicit_%llu",
                   (unsigned long long)++r->mcp->counter);
    mcp_post_send(r->post, json_pack("{s:s, s:s, s:s, s:o}", "jsonrpc", "2.0", "id", r->elicitation,
                                     "method", "elicitation/create", "params", asked));
}

static void ask_by_result(struct mcp_request *r, json_t *asked)
{
    mcp_answer(r, json_pack("{s:s, s:{s:{s:s, s:o}}, s:o}", "resultType", "input_required",
                            "inputRequests", "approval", "method", "elicitation/create", "params",
                            asked, "requestState", sealed(r)));
}

static void ask(struct mcp_request *r)
{
    struct err e;
    json_auto_t *approval = approvals_of_run(r->mcp->api, r->run->id);
    const char *id = mcp_text(approval, "id");
    (void)snprintf(r->approval, sizeof r->approval, "%s", id ? id : "");
    mcp_log(r, MCP_NOTICE, "%s waits for an approval", r->run->id);
    if (!r->client.elicits || auth_allows(mcp_who(r), SCOPE_APPROVE, &e))
        mcp_answer_pending(r);
    else if (mcp_is_stateless(r))
        ask_by_result(r, question(r, mcp_text(approval, "reason")));
    else
        ask_on_stream(r, question(r, mcp_text(approval, "reason")));
}

/* The row of the approval is on its way to the store. The client hears of it once it is there, so that
 * its next call finds it. */
struct asking {
    struct store_job job;
    struct mcp_request *request;
};

static int write_nothing(struct db *db, struct store_job *job, struct err *e)
{
    (void)db;
    (void)job;
    (void)e;
    return 0;
}

static void on_written(struct store_job *job)
{
    struct asking *a = (struct asking *)job;
    struct mcp_request *r = a->request;
    if (!r->over && r->run && r->run->state == RUN_WAITING)
        ask(r);
    mcp_release(r);
    free(a);
}

void mcp_approval_needed(struct mcp_request *r)
{
    struct asking *a = calloc(1, sizeof *a);
    if (!a) {
        mcp_tool_fail(r, "no memory for the question; try again later");
        return;
    }
    *a = (struct asking){ .job = { .work = write_nothing, .done = on_written }, .request = r };
    r->references++; /* until on_written() */
    store_write(r->mcp->api->store, &a->job);
}

/* Another person may have decided meanwhile: then the run goes on, or ends, and its end answers. */
static void on_decided(void *context, const struct inner_answer *a)
{
    struct mcp_request *r = context;
    if (a->refusal)
        mcp_log(r, MCP_WARNING, "the decision was not accepted: %s", ERR_SHOWN(a->refusal));
    mcp_release(r);
}

static void decide(struct mcp_request *r, bool approve, const char *note)
{
    char path[96];
    json_t *body = json_pack("{s:s}", "decision", approve ? "approve" : "reject");
    if (note && note[0])
        json_put(body, "reason", json_string(note));
    (void)snprintf(path, sizeof path, "/v1/approvals/%s", r->approval);
    mcp_call(r, METHOD_POST, path, NULL, body, on_decided);
}

void mcp_approval_answered(struct mcp_request *r, const json_t *result)
{
    const char *action = mcp_text(result, "action");
    const json_t *content = json_object_get(result, "content");
    bool accepted = action && strcmp(action, "accept") == 0;
    r->elicitation[0] = '\0';
    if (accepted && json_is_boolean(json_object_get(content, "approve")))
        decide(r, json_is_true(json_object_get(content, "approve")), mcp_text(content, "note"));
    else if (action && strcmp(action, "decline") == 0)
        decide(r, false, "declined at the client");
    else /* no decision: others may decide */
        mcp_answer_pending(r);
}

static void answer_over(struct mcp_request *r, const char *run_id)
{
    char uri[96], text[160];
    json_t *content = json_array();
    (void)snprintf(text, sizeof text, "%s is over: the linked resource has its result", run_id);
    mcp_add_text(content, text, strlen(text));
    mcp_uri(uri, sizeof uri, "runs", run_id, NULL, NULL);
    mcp_add_link(r, content, uri, run_id, "application/json", "the run");
    mcp_tool_answer(r, content, json_pack("{s:s, s:s}", "run_id", run_id, "state", "finished"),
                    false);
}

bool mcp_approval_resumed(struct mcp_request *r)
{
    const char *text = mcp_text(r->params, "requestState");
    const json_t *answers = json_object_get(r->params, "inputResponses");
    if (!json_object_get(r->params, "requestState") || !mcp_is_stateless(r))
        return false;
    json_auto_t *state = text ? unsealed(r, text) : NULL;
    const char *id = mcp_text(state, "run");
    if (!id) {
        mcp_error(r, 400, MCP_BAD_PARAMS,
                  "requestState is not one that this server made for this client and tool: send "
                  "the request without it");
        return true;
    }
    struct run *run = engine_find(r->mcp->api->engine, id);
    if (!run || run->is_done) {
        answer_over(r, id);
        return true;
    }
    (void)snprintf(r->approval, sizeof r->approval, "%s", mcp_text(state, "approval"));
    mcp_follow(r, run, json_is_true(json_object_get(state, "cell")));
    if (run->state == RUN_WAITING)
        mcp_approval_answered(r, json_object_get(answers, "approval"));
    return true;
}
