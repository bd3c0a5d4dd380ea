/* Questions to the programs of sessions: completion, inspection, variables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/fields.h"
#include "api/sessions/session_find.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"

struct asked {
    struct session_question question; /* first: session_question_drop() frees it */
    struct api_call *call;
};

static void on_answer(struct session_question *q, json_t *json, const struct err *e)
{
    struct asked *a = (struct asked *)q;
    if (json_is_object(json)) {
        api_reply(a->call, 200, json_incref(json));
    } else {
        struct err failed = { 0 };
        (void)!err_set(&failed, ERR_UNAVAILABLE, 0, "%s",
                       e ? e->text : "the program of the session gave an answer that is no object");
        api_fail(a->call, &failed, NULL);
    }
    free(a);
}

/* Takes over the call. */
static void ask(struct api_call *c, struct session *s, uint16_t type, const struct buf *fields)
{
    struct err e = { 0 };
    struct asked *a = calloc(1, sizeof *a);
    if (!a) {
        api_fail_no_memory(c);
        return;
    }
    a->call = c;
    a->question.on_answer = on_answer;
    if (session_ask(s, &a->question, type, fields, &e)) {
        free(a);
        api_fail(c, &e, NULL);
    }
}

static const struct api_field complete_fields[] = {
    { "code", FIELD_STRING, .required = true, .max = 1 << 20, .help = "the cell so far" },
    { "cursor", FIELD_INT, .min = 0, .max = 1 << 20,
      .help = "position of the cursor in characters; the end of the code by default" },
    { 0 },
};
static const struct api_field inspect_fields[] = {
    { "code", FIELD_STRING, .required = true, .max = 1 << 20, .help = "the cell so far" },
    { "cursor", FIELD_INT, .min = 0, .max = 1 << 20,
      .help = "position of the cursor in characters; the end of the code by default" },
    { "detail", FIELD_INT, .min = 0, .max = 1, .help = "1: with the source, if there is one" },
    { 0 },
};

static void ask_about_code(struct api_call *c, uint16_t type)
{
    struct err e = { 0 };
    scoped(buf) fields = { 0 };
    char cursor[24];
    struct session *s = session_to_use(c);
    if (!s)
        return;
    const char *code = api_text(c, "code");
    const json_t *at = json_object_get(c->body, "cursor"),
                 *detail = json_object_get(c->body, "detail");
    json_int_t end = (json_int_t)text_characters(code, strlen(code));
    json_int_t position = at ? json_integer_value(at) : end;
    (void)snprintf(cursor, sizeof cursor, "%lld", (long long)(position < end ? position : end));
    if (frame_add_field(&fields, TAG_CODE, code, strlen(code), &e) ||
        frame_add_field(&fields, TAG_CURSOR, cursor, strlen(cursor), &e) ||
        (json_integer_value(detail) > 0 && frame_add_field(&fields, TAG_DETAIL, "1", 1, &e)))
        api_fail(c, &e, NULL);
    else
        ask(c, s, type, &fields);
}

static void post_complete(struct api_call *c)
{
    ask_about_code(c, FRAME_COMPLETE);
}

static void post_inspect(struct api_call *c)
{
    ask_about_code(c, FRAME_INSPECT);
}

static void get_variables(struct api_call *c)
{
    struct session *s = session_to_use(c);
    if (s)
        ask(c, s, FRAME_VARIABLES, NULL);
}

/* ---- answers ---- */

static const struct api_field match_reply[] = {
    { "text", FIELD_STRING, ALWAYS, .help = "replaces the characters from `from` to `to`" },
    { "type", FIELD_STRING, .help = "function, module, keyword and the like" },
    { 0 },
};
static const struct api_field complete_reply[] = {
    { "matches", FIELD_OBJECTS, ALWAYS, .fields = match_reply, .help = "possible completions" },
    { "from", FIELD_INT, .help = "first character that is replaced" },
    { "to", FIELD_INT, .help = "character after the last one that is replaced" },
    { .schema = "Completions", .help = "The words of the session's program" },
};
static const struct api_field inspect_reply[] = {
    { "found", FIELD_BOOL, ALWAYS, .help = "false: nothing is known about the name" },
    { "text", FIELD_STRING, .help = "everything that is known" },
    { "signature", FIELD_STRING, .help = "how it is called" },
    { "doc", FIELD_STRING, .help = "its documentation" },
    { "mime", FIELD_STRING, .help = "the format of `doc`" },
    { .schema = "Inspection", .help = "The words of the session's program" },
};
static const struct api_field variable_reply[] = {
    { "name", FIELD_STRING, ALWAYS, .help = "its name" },
    { "type", FIELD_STRING, .help = "its type" },
    { "size", FIELD_ANY, .help = "bytes or elements" },
    { "shape", FIELD_ANY, .help = "of an array or a table" },
    { "preview", FIELD_STRING, .help = "the beginning of its value" },
    { 0 },
};
static const struct api_field variables_reply[] = {
    { "variables", FIELD_OBJECTS, ALWAYS, .fields = variable_reply, .help = "by name" },
    { "cut", FIELD_BOOL, .help = "true: there are more" },
    { .schema = "Variables", .help = "The words of the session's program" },
};

const struct api_route session_question_routes[] = {
    { METHOD_POST, "/v1/sessions/{id}/complete", SCOPE_RUN, .body = complete_fields,
      .handle = post_complete, .summary = "Completions at the cursor",
      .replies = REPLIES({ 200, .fields = complete_reply }) },
    { METHOD_POST, "/v1/sessions/{id}/inspect", SCOPE_RUN, .body = inspect_fields,
      .handle = post_inspect, .summary = "Signature and documentation of the name at the cursor",
      .replies = REPLIES({ 200, .fields = inspect_reply }) },
    { METHOD_GET, "/v1/sessions/{id}/variables", SCOPE_RUN, .handle = get_variables,
      .summary = "The variables of a session",
      .replies = REPLIES({ 200, .fields = variables_reply }) },
    { 0 },
};
