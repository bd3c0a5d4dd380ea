/* /v1/diagnoses: explains an error that a program printed elsewhere. */
#include <stdlib.h>
#include <string.h>

#include "api/kernel/api.h"
#include "api/kernel/fields.h"
#include "api/runs/debug_report.h"
#include "api/runs/history_routes.h"
#include "api/runs/result_fields.h"
#include "api/runs/run_result.h"
#include "base/auto.h"
#include "base/text.h"
#include "examiner/question.h"
#include "run/diagnosis_json.h"
#include "run/json.h"
#include "runtime/language.h"

enum { SOURCES_MAX = QUESTION_SOURCES_MAX };

struct request_sources {
    struct source_file files[SOURCES_MAX];
    struct buf texts[SOURCES_MAX];
    size_t n;
};

static void sources_done(struct request_sources *s)
{
    for (size_t i = 0; i < s->n; i++)
        buf_done(&s->texts[i]);
}

/* A file of the request: its text, or an object with it. */
static int add_source(struct request_sources *s, const char *name, const json_t *file,
                      struct err *e)
{
    const json_t *content = json_is_object(file) ? json_object_get(file, "content") : file;
    const char *encoding = json_string_value(json_object_get(file, "encoding"));
    if (s->n == SOURCES_MAX || !name || !json_is_string(content))
        return 0;
    struct buf *text = &s->texts[s->n];
    if (content_decode(content, encoding, text, e)) {
        buf_done(text);
        return -1;
    }
    s->files[s->n++] = (struct source_file){ name, buf_str(text), text->len };
    return 0;
}

static int read_sources(const struct api_call *c, const char *main_name, struct request_sources *s,
                        struct err *e)
{
    const json_t *files = json_object_get(c->body, "files"),
                 *code = json_object_get(c->body, "code"), *file;
    const char *name;
    size_t i;
    if (code && add_source(s, main_name, code, e))
        return -1;
    json_object_foreach((json_t *)files, name, file) {
        if (add_source(s, name, file, e))
            return -1;
    }
    json_array_foreach(files, i, file) {
        if (add_source(s, json_string_value(json_object_get(file, "name")), file, e))
            return -1;
    }
    return 0;
}

static const struct language *requested_language(const struct api_call *c, struct err *e)
{
    const char *name = api_text(c, "language");
    const struct language *l = name ? language_find(name) : NULL;
    if (name && !l)
        (void)!language_refuse(name, e);
    return l;
}

static struct evidence evidence_of(json_int_t exit_code)
{
    struct evidence ev = { .reason = END_EXIT, .exit_code = (int)exit_code };
    if (exit_code > 128 && exit_code < 160)
        ev.signal = (int)exit_code - 128;
    return ev;
}

struct diagnosis_call {
    struct examination examination; /* first: the engine returns it */
    struct api_call *call;
    const struct language *language;
};

static void on_diagnosed(struct examination *x, const struct answer *a)
{
    autofree struct diagnosis_call *dc = (struct diagnosis_call *)x;
    const struct language *l = dc->language;
    struct err e = { 0 };
    if (!a) {
        (void)!err_set(&e, ERR_UNAVAILABLE, 0,
                       "the text could not be read: its reader died or took too long; try again");
        api_fail(dc->call, &e, NULL);
        return;
    }
    const struct diagnosis *d = a->diagnosis;
    json_t *answer = json_object();
    json_put(answer, "diagnosis", d ? diagnosis_json(d) : json_null());
    json_put(answer, "reason",
             d   ? json_null()
             : l ? json_sprintf("no error of %s was found in the text", l->name)
                 : json_string(
                       "no error was found in the text; give 'language' to search for its errors"));
    api_reply(dc->call, 200, answer);
}

static int make_question(const struct api_call *c, const struct language *l, uint64_t id,
                         struct buf *question, const char **ret_field, struct err *e)
{
    autofree struct request_sources *s = calloc(1, sizeof *s);
    if (!s)
        return err_no_memory(e, "a request");
    *ret_field = "files";
    int rc = read_sources(c, l ? l->main_file : "main", s, e);
    const json_t *text = json_object_get(c->body, "stderr"),
                 *printed = json_object_get(c->body, "stdout");
    json_int_t exit_code = json_integer_value(json_object_get(c->body, "exit_code"));
    struct evidence ev = evidence_of(exit_code);
    const struct question q = {
        .id = id,
        .explain = true,
        .input = { .language = l ? l->name : NULL,
                   .grammar = language_grammar(l),
                   .text = json_string_value(text),
                   .len = json_string_length(text),
                   .printed = json_string_value(printed),
                   .printed_len = json_string_length(printed),
                   .main_name = s->n ? s->files[0].name : NULL,
                   .sources = s->files,
                   .n_sources = s->n,
                   .evidence = exit_code ? &ev : NULL,
                   .verdict = VERDICT_RUNTIME_ERROR },
    };
    rc = rc ? rc : question_pack(&q, question, e);
    sources_done(s);
    return rc;
}

static void post_diagnosis(struct api_call *c)
{
    struct err e = { 0 };
    const char *field = "language";
    const struct language *l = requested_language(c, &e);
    struct diagnosis_call *dc = calloc(1, sizeof *dc);
    if (!dc) {
        api_fail_no_memory(c);
        return;
    }
    *dc = (struct diagnosis_call){ .call = c, .language = l };
    dc->examination.id = examination_id(c->api->engine);
    dc->examination.key = c->who.key;
    dc->examination.on_done = on_diagnosed;
    if (e.code != ERR_NONE ||
        make_question(c, l, dc->examination.id, &dc->examination.question, &field, &e)) {
        buf_done(&dc->examination.question);
        free(dc);
        api_fail(c, &e, field);
        return;
    }
    examine(c->api->engine, &dc->examination);
}

static void get_debug_report(struct api_call *c)
{
    struct err e = { 0 };
    const struct run *x = engine_find(c->api->engine, c->params[0]);
    if (!x || !history_may_see(c, x->spec.key, x->queued_at_ms)) {
        history_get_debug_report(c);
        return;
    }
    if (!x->result_json) {
        (void)!err_set(&e, ERR_CONFLICT, 0,
                       "run '%s' is not over: its state is %s; try again later", x->id,
                       run_state_word(x->state));
        api_fail(c, &e, NULL);
        return;
    }
    json_t *result = run_result_object(x, RUN_INLINE_MAX);
    api_reply(c, 200, debug_report(result));
    json_decref(result);
}

/* ---- fields ---- */
static const struct api_field diagnosis_fields[] = {
    { "language", FIELD_STRING, .max = 64,
      .help = "the language of the program; inferred from the error message if absent",
      .also = "lang" },
    { "stderr", FIELD_DATA, .required = true,
      .help = "the output of the program; of a long text the first and the last 128 KiB are read",
      .also = "text,error,traceback" },
    { "stdout", FIELD_DATA, .help = "stdout: some languages report errors there" },
    { "exit_code", FIELD_INT, .max = 255, .help = "exit code; 128 + signal" },
    { "code", FIELD_STRING, .help = "the program, for excerpts" },
    { "files", FIELD_FILES, .help = "the files of the program, in place of code or beside it" },
    { 0 },
};
static const struct api_field diagnosed_reply[] = {
    { "diagnosis", FIELD_OBJECT, OR_NULL, .fields = diagnosis_reply,
      .help = "null: no error was found" },
    { "reason", FIELD_STRING, OR_NULL, .help = "the reason for null" },
    { .schema = "Diagnosed" },
};

const struct api_route diagnosis_routes[] = {
    { METHOD_POST, "/v1/diagnoses", SCOPE_ANY, .body = diagnosis_fields, .handle = post_diagnosis,
      .summary = "Explain an error that a program printed",
      .replies = REPLIES({ 200, .fields = diagnosed_reply }) },
    { METHOD_GET, "/v1/runs/{id}/debug-report", SCOPE_ANY, .handle = get_debug_report,
      .summary = "An analysis of a failed run, and a report of the run",
      .replies = REPLIES({ 200, .fields = debug_report_reply }) },
    { 0 },
};
