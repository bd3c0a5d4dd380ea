#include "api/runs/checker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/kernel/fields.h"
#include "api/kernel/job.h"
#include "api/runs/run_result.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "spec/bundle.h"
#include "spec/verdict.h"
#include "store/artifact_rows.h"

enum { REASON_MAX = 4096 }; /* bytes of the text of a checker */

const struct api_field checker_fields[] = {
    { "artifact", FIELD_STRING, .min = 1, .max = 64,
      .help = "id of an artifact that is the checker; in place of language and code" },
    { "language", FIELD_STRING, .min = 1, .max = 64, .help = "as in POST /v1/runs" },
    { "code", FIELD_STRING, .min = 1, .max = (double)BUNDLE_FILE_MAX_BYTES,
      .help = "the checker: it reads the files input, expected and got, and prints pass or fail "
              "and the reason" },
    { "files", FIELD_FILES, .max = BUNDLE_FILES_MAX, .help = "files beside the checker" },
    { "entry", FIELD_STRING, .min = 1, .max = BUNDLE_NAME_MAX,
      .help = "the name of the file that is the checker" },
    { "args", FIELD_STRINGS, .max = 1000, .help = "arguments of the checker" },
    { "env", FIELD_STRING_MAP, .max = 1000, .help = "environment of the checker" },
    { "limits", FIELD_LIMITS, .help = "limits of each run of the checker" },
    { "compiler_args", FIELD_STRINGS, .max = 1000, .help = "as in POST /v1/runs" },
    { "compile_limits", FIELD_LIMITS, .help = "as in POST /v1/runs" },
    { .schema = "Checker", .help = "A program that judges outputs" },
};

static const char *const outcome_words[] = { CHECKER_OUTCOME_TABLE(FIELD_WORD) NULL };

const struct api_field checker_reply[] = {
    { "outcome", FIELD_STRING, ALWAYS, .one_of = outcome_words,
      .help = "error: the checker failed, which says nothing about the program" },
    { "message", FIELD_STRING, ALWAYS,
      .help = "the reason, in the words of the checker, or of its "
              "failure" },
    { "run_id", FIELD_STRING, OR_NULL, .help = "the run of the checker; null if it did not start" },
    { .schema = "CheckerResult" },
};

/* ---- the request ---- */

static json_t *data_file(const char *name, json_t *content, const json_t *encoding)
{
    return json_pack("{s:s, s:o, s:O*, s:b}", "name", name, "content", content, "encoding",
                     encoding, "run_only", 1);
}

/* Text if it is text, which a reader of the history can read; otherwise base64. */
static json_t *bytes_file(const char *name, const char *bytes, size_t n)
{
    struct err e;
    scoped(buf) encoded = { 0 };
    if (text_is_utf8(bytes, n) && !memchr(bytes, '\0', n))
        return data_file(name, json_stringn(bytes, n), NULL);
    if (text_add_base64(&encoded, bytes, n, &e))
        return NULL;
    json_auto_t *encoding = json_string("base64");
    return data_file(name, json_stringn(buf_str(&encoded), encoded.len), encoding);
}

/* The files of the checker as a list: a name that is given twice is refused there. */
static json_t *list_of_files(const json_t *files)
{
    json_t *list = json_is_array(files) ? json_copy((json_t *)files) : json_array(), *file;
    const char *name;
    json_object_foreach((json_t *)files, name, file) {
        json_t *item = json_is_object(file) ? json_copy(file) : json_pack("{s:O}", "content", file);
        (void)json_object_set_new(item, "name", json_string(name));
        (void)json_array_append_new(list, item);
    }
    return list;
}

json_t *checker_request(const json_t *checker, const json_t *run, const json_t *expected,
                        const struct buf *got)
{
    static const char *const kept[] = { "language", "code",   "entry",         "args",
                                        "env",      "limits", "compiler_args", "compile_limits" };
    json_t *request = json_object(), *files = list_of_files(json_object_get(checker, "files"));
    json_t *in = json_object_get(run, "stdin"), *mode = json_object_get(run, "permission_mode");
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        json_t *value = json_object_get(checker, kept[i]);
        if (value)
            (void)json_object_set(request, kept[i], value);
    }
    (void)json_array_append_new(
        files, in ? data_file("input", json_incref(in), json_object_get(run, "stdin_encoding"))
                  : bytes_file("input", "", 0));
    if (expected)
        (void)json_array_append_new(files, bytes_file("expected", json_string_value(expected),
                                                      json_string_length(expected)));
    (void)json_array_append_new(files, bytes_file("got", buf_str(got), got->len));
    json_put(request, "files", files);
    if (!json_object_get(checker, "code") && !json_object_get(checker, "entry")) {
        /* a single file of the checker is its program, though the data are files as well */
        const json_t *own = json_object_get(checker, "files");
        const char *name = json_object_iter_key(json_object_iter((json_t *)own));
        if (json_object_size(own) == 1)
            json_put(request, "entry", json_string(name));
        else if (json_array_size(own) == 1)
            (void)json_object_set(request, "entry",
                                  json_object_get(json_array_get(own, 0), "name"));
    }
    if (mode)
        (void)json_object_set(request, "permission_mode", mode);
    return request;
}

/* ---- the answer ---- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

enum checker_outcome checker_parse(const char *text, size_t n, const char **ret_reason,
                                   size_t *ret_n)
{
    enum checker_outcome outcome = CHECKER_ERROR;
    size_t word = 0;
    for (int i = CHECKER_PASS; i <= CHECKER_FAIL && word == 0; i++) {
        size_t len = strlen(outcome_words[i]);
        if (n < len || strncasecmp(text, outcome_words[i], len) != 0 ||
            (n > len && !is_space(text[len]) && text[len] != ':'))
            continue;
        outcome = (enum checker_outcome)i;
        word = len + (n > len && text[len] == ':');
    }
    text += word;
    n -= word;
    for (; n > 0 && is_space(text[0]); n--)
        text++;
    while (n > 0 && is_space(text[n - 1]))
        n--;
    *ret_reason = text;
    *ret_n = n;
    return outcome;
}

static json_t *shown(const char *text, size_t n)
{
    struct err e;
    scoped(buf) b = { 0 };
    if (text_add_utf8(&b, text, n < REASON_MAX ? n : REASON_MAX, &e))
        return NULL;
    return json_stringn(buf_str(&b), b.len);
}

/* The end of a checker that did not end well, and the last line of its stderr. */
static json_t *failure_text(const struct run *x)
{
    static const char subject[] = "The program ";
    char sentence[256];
    struct err e;
    scoped(buf) text = { 0 }, errors = { 0 };
    if (x->result.verdict == VERDICT_COMPILE_ERROR)
        (void)snprintf(sentence, sizeof sentence, "it does not compile");
    else if (!run_end_sentence(&x->result, sentence, sizeof sentence))
        (void)snprintf(sentence, sizeof sentence,
                       "it ended with exit status %d, and a checker that decides ends with 0",
                       x->result.evidence.exit_code);
    (void)!journal_both_ends(&x->journal, JOURNAL_STDERR, 2048, &errors, &e);
    while (errors.len > 0 && is_space(errors.data[errors.len - 1]))
        errors.len--;
    size_t at = errors.len;
    while (at > 0 && errors.data[at - 1] != '\n')
        at--;
    bool told = strncmp(sentence, subject, sizeof subject - 1) == 0;
    if (buf_addf(&text, &e, "the checker failed: %s%s", told ? "it " : "",
                 sentence + (told ? sizeof subject - 1 : 0)) ||
        (errors.len > at &&
         (buf_add(&text, ": ", 2, &e) || buf_add(&text, errors.data + at, errors.len - at, &e))))
        return NULL;
    return shown(buf_str(&text), text.len);
}

static json_t *undecided_text(const char *text, size_t n)
{
    char first[64];
    size_t line = 0;
    while (line < n && text[line] != '\n')
        line++;
    (void)snprintf(first, sizeof first, "%.*s", (int)(line < 60 ? line : 60), text);
    return json_sprintf("the checker failed: its output begins with '%s': 'pass' or 'fail' is "
                        "accepted, and a reason after it",
                        QUOTED(first));
}

enum checker_outcome checker_read(const struct run *x, const struct err *e, json_t **ret_json)
{
    struct err failed = { 0 };
    scoped(buf) out = { 0 };
    const char *reason;
    size_t n;
    enum checker_outcome outcome = CHECKER_ERROR;
    json_t *message = NULL;
    if (!x)
        message = json_sprintf("the checker did not start: %s", ERR_SHOWN(e));
    else if (x->result.verdict != VERDICT_OK)
        message = failure_text(x);
    else if (journal_collect(&x->journal, JOURNAL_STDOUT, REASON_MAX, &out, &failed))
        message = json_sprintf("the output of the checker cannot be read: %s", ERR_SHOWN(&failed));
    else {
        outcome = checker_parse(buf_str(&out), out.len, &reason, &n);
        message = outcome == CHECKER_ERROR ? undecided_text(reason, n) : shown(reason, n);
    }
    *ret_json = json_pack("{s:s, s:o, s:s?}", "outcome", outcome_words[outcome], "message",
                          message ? message : json_string(""), "run_id", x ? x->id : NULL);
    return outcome;
}

/* ---- an artifact as the checker ---- */

struct artifact_lookup {
    struct api_job job;
    void (*next)(struct api_call *c, const struct err *e);
    struct artifact_row row;
};

static const char *artifact_id(const struct api_call *c)
{
    return json_string_value(json_object_get(json_object_get(c->body, "checker"), "artifact"));
}

static int lookup_work(struct db *db, struct store_job *job, struct err *e)
{
    struct artifact_lookup *l = (struct artifact_lookup *)job;
    const struct api_identity *who = &l->job.call->who;
    bool sees_all = who->scopes & (SCOPE_BIT(SCOPE_ADMIN) | SCOPE_BIT(SCOPE_READ));
    return artifacts_get(db, artifact_id(l->job.call), sees_all ? NULL : who->owner, &l->row, e);
}

static void lookup_done(struct store_job *job)
{
    struct artifact_lookup *l = (struct artifact_lookup *)job;
    struct api_call *c = l->job.call;
    void (*next)(struct api_call *, const struct err *) = l->next;
    struct err e = job->err;
    json_t *checker = json_object_get(c->body, "checker");
    if (e.code != ERR_NONE)
        (void)err_wrap(&e, "checker.artifact");
    else if (strcmp(l->row.type, "code") != 0)
        (void)!err_set(&e, ERR_BAD_REQUEST, 0,
                       "checker.artifact '%s' is no program: its type is '%s', and 'code' is "
                       "accepted",
                       QUOTED(l->row.id), l->row.type);
    else {
        json_put(checker, "language", json_string(l->row.language));
        json_put(checker, "code", json_string(l->row.content));
    }
    artifact_row_done(&l->row);
    free(l);
    next(c, e.code == ERR_NONE ? NULL : &e);
}

void checker_resolve(struct api_call *c, void (*next)(struct api_call *c, const struct err *e))
{
    struct err e = { 0 };
    const json_t *checker = json_object_get(c->body, "checker");
    if (!artifact_id(c)) {
        next(c, NULL);
        return;
    }
    if (json_object_get(checker, "code") || json_object_get(checker, "language") ||
        json_object_get(checker, "entry")) {
        (void)!err_set(&e, ERR_BAD_REQUEST, 0,
                       "checker.artifact is given beside language, code or entry: one of them is "
                       "the checker");
        next(c, &e);
        return;
    }
    struct artifact_lookup *l = api_job_new(c, sizeof *l, lookup_work, lookup_done);
    if (!l)
        return;
    l->next = next;
    api_job_read(&l->job);
}
