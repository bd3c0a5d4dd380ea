#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/doors/judge0/judge0.h"
#include "api/runs/expected.h"
#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"
#include "spec/bundle.h"

enum { LINE = 60 }; /* of base64, as Ruby breaks it */

const char judge0_not_text[] = "some attributes for this submission cannot be converted to UTF-8, "
                               "use base64_encoded=true query parameter";
const char judge0_some_not_text[] =
    "some attributes for one or more submissions cannot be converted to UTF-8, use "
    "base64_encoded=true query parameter";

/* A submission while its fields are made. */
struct rendering {
    const struct judge0_view *v;
    const json_t *asked; /* metadata.judge0 of the request */
    struct buf out, err, compile;
    enum judge0_status status;
    bool base64, not_text;
};

static void rendering_done(struct rendering *r)
{
    buf_done(&r->out);
    buf_done(&r->err);
    buf_done(&r->compile);
}

static const json_t *get(const json_t *o, const char *key)
{
    return json_object_get(o, key);
}

static const char *text_at(const json_t *o, const char *key)
{
    const char *text = json_string_value(get(o, key));
    return text ? text : "";
}

/* ---- status ---- */

static int signal_number(const json_t *result)
{
    const json_t *v = get(result, "signal");
    const char *name = json_string_value(v);
    if (json_is_integer(v))
        return (int)json_integer_value(v);
    for (int i = 1; name && i < NSIG; i++)
        if (sigabbrev_np(i) &&
            strcmp(strncmp(name, "SIG", 3) == 0 ? name + 3 : name, sigabbrev_np(i)) == 0)
            return i;
    return 0;
}

static enum judge0_status status_of_signal(int number)
{
    switch (number) {
    case SIGSEGV:
        return JUDGE0_SIGSEGV;
    case SIGXFSZ:
        return JUDGE0_SIGXFSZ;
    case SIGFPE:
        return JUDGE0_SIGFPE;
    case SIGABRT:
        return JUDGE0_SIGABRT;
    default:
        return JUDGE0_OTHER;
    }
}

/* A file of the results of a program of several files; NULL: it is not there. */
static bool find_file(const struct judge0_view *v, const char *name, struct bundle_entry *ret)
{
    bool more = true;
    struct err e;
    for (size_t pos = 0; v->files && bundle_next(v->files, &pos, ret, &more, &e) == 0 && more;)
        if (bundle_is_named(ret, name) && ret->head.status == OUTPUT_OK)
            return true;
    return false;
}

/* The program could not be executed: the file that the compiler made is no program. */
static bool cannot_execute(const struct rendering *r)
{
    static const char *const ends[] = { ": Exec format error\n", ": No such file or directory\n",
                                        ": Permission denied\n" };
    const char *text = buf_str(&r->err);
    if (json_integer_value(get(r->v->result, "exit_code")) != 126 || r->out.len > 0 ||
        strncmp(text, "start ./", 8) != 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (r->err.len > strlen(ends[i]) &&
            strcmp(text + r->err.len - strlen(ends[i]), ends[i]) == 0)
            return true;
    return false;
}

static enum judge0_status status_of_output(const struct rendering *r)
{
    const json_t *expected = get(r->asked, "expected_output");
    scoped(buf) bytes = { 0 };
    struct difference difference;
    struct err e;
    if (!expected)
        return JUDGE0_ACCEPTED;
    if (text_base64_decode(json_string_value(expected), json_string_length(expected), &bytes, &e))
        return JUDGE0_INTERNAL;
    return output_same(COMPARE_TRIM, (struct output_piece){ buf_str(&bytes), bytes.len },
                       (struct output_piece){ buf_str(&r->out), r->out.len }, &difference)
               ? JUDGE0_ACCEPTED
               : JUDGE0_WRONG_ANSWER;
}

static enum judge0_status status_of_end(const struct rendering *r)
{
    const json_t *result = r->v->result;
    struct bundle_entry file;
    if (find_file(r->v, ".compile_failed", &file))
        return JUDGE0_COMPILATION;
    if (cannot_execute(r))
        return JUDGE0_EXEC_FORMAT;
    int number = signal_number(result);
    return number ? status_of_signal(number) : JUDGE0_NZEC;
}

static enum judge0_status find_status(const struct rendering *r)
{
    static const struct {
        enum verdict verdict;
        enum judge0_status status;
    } rows[] = {
        { VERDICT_COMPILE_ERROR, JUDGE0_COMPILATION },
        { VERDICT_TIMEOUT, JUDGE0_TIME_LIMIT },
        { VERDICT_CPU_TIMEOUT, JUDGE0_TIME_LIMIT },
        { VERDICT_MEMORY_LIMIT, JUDGE0_OTHER },
        /* There, a file that grows too large raises this signal, and stdout is a file. */
        { VERDICT_OUTPUT_LIMIT, JUDGE0_SIGXFSZ },
        { VERDICT_DISK_LIMIT, JUDGE0_SIGXFSZ },
        { VERDICT_CANCELLED, JUDGE0_INTERNAL },
        { VERDICT_REJECTED, JUDGE0_INTERNAL },
        { VERDICT_INTERNAL_ERROR, JUDGE0_INTERNAL },
    };
    enum verdict verdict;
    if (r->v->state == RUN_WAITING || r->v->state == RUN_QUEUED)
        return JUDGE0_QUEUED;
    if (r->v->state == RUN_RUNNING)
        return JUDGE0_PROCESSING;
    if (!r->v->result || verdict_parse(text_at(r->v->result, "verdict"), &verdict))
        return JUDGE0_INTERNAL;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].verdict == verdict)
            return rows[i].status;
    return verdict == VERDICT_OK ? status_of_output(r) : status_of_end(r);
}

/* ---- fields ---- */

/* Ruby's base64: lines of 60 characters, each with its newline. */
static json_t *wrapped_base64(const struct buf *bytes)
{
    scoped(buf) text = { 0 };
    scoped(buf) lines = { 0 };
    struct err e;
    if (text_add_base64(&text, buf_str(bytes), bytes->len, &e))
        return NULL;
    for (size_t at = 0; at < text.len; at += LINE) {
        size_t n = text.len - at < LINE ? text.len - at : LINE;
        if (buf_add(&lines, text.data + at, n, &e) || buf_add(&lines, "\n", 1, &e))
            return NULL;
    }
    return json_stringn(buf_str(&lines), lines.len);
}

/* Null if it is empty. */
static json_t *bytes_json(struct rendering *r, const struct buf *bytes)
{
    if (bytes->len == 0)
        return json_null();
    if (r->base64)
        return wrapped_base64(bytes);
    if (text_is_utf8(bytes->data, bytes->len))
        return json_stringn_nocheck(bytes->data, bytes->len);
    r->not_text = true;
    return json_null();
}

/* Text that the request has as base64. */
static json_t *given_json(struct rendering *r, const json_t *text)
{
    scoped(buf) bytes = { 0 };
    struct err e;
    if (!json_is_string(text) ||
        text_base64_decode(json_string_value(text), json_string_length(text), &bytes, &e))
        return json_null();
    return bytes_json(r, &bytes);
}

static json_t *string_json(struct rendering *r, const char *text)
{
    scoped(buf) bytes = { 0 };
    struct err e;
    if (buf_add(&bytes, text, strlen(text), &e))
        return NULL;
    return bytes_json(r, &bytes);
}

static json_t *make_message(struct rendering *r)
{
    const json_t *result = r->v->result;
    char text[300];
    int number = signal_number(result);
    long long code = (long long)json_integer_value(get(result, "exit_code"));
    switch (r->status) {
    case JUDGE0_TIME_LIMIT:
        return string_json(r, strcmp(text_at(result, "verdict"), "timeout") == 0
                                  ? "Time limit exceeded (wall clock)"
                                  : "Time limit exceeded");
    case JUDGE0_NZEC:
        (void)snprintf(text, sizeof text, "Exited with error status %lld", code);
        return string_json(r, text);
    case JUDGE0_SIGSEGV:
    case JUDGE0_SIGXFSZ:
    case JUDGE0_SIGFPE:
    case JUDGE0_SIGABRT:
    case JUDGE0_OTHER:
        (void)snprintf(text, sizeof text, "Caught fatal signal %d",
                       number                        ? number
                       : r->status == JUDGE0_SIGXFSZ ? SIGXFSZ
                                                     : SIGKILL);
        return string_json(r, text);
    case JUDGE0_EXEC_FORMAT:
        return string_json(r, "execve(./program): Exec format error");
    case JUDGE0_INTERNAL:
        return string_json(r, result && text_at(result, "error")[0]
                                  ? text_at(result, "error")
                                  : "the service died during this run; send it again");
    default:
        return json_null();
    }
}

static json_t *seconds_json(double s)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%.3f", s);
    return json_string(text);
}

static double usage(const struct rendering *r, const char *key)
{
    return json_number_value(get(get(r->v->result, "usage"), key));
}

static json_t *make_time(struct rendering *r)
{
    if (!r->v->result || r->status == JUDGE0_COMPILATION)
        return json_null();
    return seconds_json(r->v->time_s >= 0 ? r->v->time_s : usage(r, "cpu_ms") / 1000);
}

static json_t *make_wall_time(struct rendering *r)
{
    if (!r->v->result || r->status == JUDGE0_COMPILATION)
        return json_null();
    return seconds_json(usage(r, "wall_ms") / 1000);
}

static json_t *make_memory(struct rendering *r)
{
    if (!r->v->result || r->status == JUDGE0_COMPILATION)
        return json_null();
    double kb = r->v->memory_kb >= 0 ? r->v->memory_kb : usage(r, "memory_peak_bytes") / 1024;
    return json_integer((json_int_t)kb);
}

static json_t *make_exit_code(struct rendering *r)
{
    const json_t *code = get(r->v->result, "exit_code");
    return signal_number(r->v->result) || !code ? json_null() : json_incref((json_t *)code);
}

static json_t *make_exit_signal(struct rendering *r)
{
    int number = signal_number(r->v->result);
    return number ? json_integer(number) : json_null();
}

static json_t *make_token(struct rendering *r)
{
    return json_string(r->v->id);
}

static json_t *make_stdout(struct rendering *r)
{
    return bytes_json(r, &r->out);
}

static json_t *make_stderr(struct rendering *r)
{
    return bytes_json(r, &r->err);
}

static json_t *make_compile_output(struct rendering *r)
{
    return bytes_json(r, &r->compile);
}

static json_t *make_status(struct rendering *r)
{
    return judge0_status_json(r->status);
}

static json_t *make_status_id(struct rendering *r)
{
    return json_integer(r->status);
}

static json_t *make_language(struct rendering *r)
{
    char name[JUDGE0_NAME_SIZE];
    json_int_t id = json_integer_value(get(r->asked, "language_id"));
    return json_pack("{s:I, s:s}", "id", id, "name", judge0_language_name(r->v->engine, id, name));
}

static json_t *make_source(struct rendering *r)
{
    const char *entry = text_at(r->v->request, "entry");
    const json_t *file;
    size_t i;
    json_array_foreach(get(r->v->request, "files"), i, file)
        if (strcmp(text_at(file, "name"), entry) == 0 &&
            strcmp(text_at(file, "encoding"), "base64") == 0)
            return given_json(r, get(file, "content"));
    return json_null();
}

static json_t *make_stdin(struct rendering *r)
{
    return given_json(r, get(r->v->request, "stdin"));
}

static json_t *make_expected(struct rendering *r)
{
    return given_json(r, get(r->asked, "expected_output"));
}

static json_t *make_created(struct rendering *r)
{
    return result_time((uint64_t)r->v->created_ms);
}

static json_t *make_started(struct rendering *r)
{
    return result_time((uint64_t)r->v->started_ms);
}

static json_t *make_finished(struct rendering *r)
{
    return result_time((uint64_t)r->v->finished_ms);
}

/* The fields of a submission. Without a function: a field of the metadata. */
static const struct {
    const char *name;
    bool is_default;
    json_t *(*make)(struct rendering *r);
} fields[] = {
    { "token", true, make_token },
    { "stdout", true, make_stdout },
    { "time", true, make_time },
    { "memory", true, make_memory },
    { "stderr", true, make_stderr },
    { "compile_output", true, make_compile_output },
    { "message", true, make_message },
    { "status", true, make_status },
    { "source_code", false, make_source },
    { "language_id", false, NULL },
    { "stdin", false, make_stdin },
    { "expected_output", false, make_expected },
    { "status_id", false, make_status_id },
    { "created_at", false, make_created },
    { "started_at", false, make_started },
    { "finished_at", false, make_finished },
    { "number_of_runs", false, NULL },
    { "cpu_time_limit", false, NULL },
    { "cpu_extra_time", false, NULL },
    { "wall_time_limit", false, NULL },
    { "memory_limit", false, NULL },
    { "stack_limit", false, NULL },
    { "max_processes_and_or_threads", false, NULL },
    { "enable_per_process_and_thread_time_limit", false, NULL },
    { "enable_per_process_and_thread_memory_limit", false, NULL },
    { "max_file_size", false, NULL },
    { "exit_code", false, make_exit_code },
    { "exit_signal", false, make_exit_signal },
    { "wall_time", false, make_wall_time },
    { "compiler_options", false, NULL },
    { "command_line_arguments", false, NULL },
    { "redirect_stderr_to_stdout", false, NULL },
    { "callback_url", false, NULL },
    { "additional_files", false, NULL },
    { "enable_network", false, NULL },
    { "language", false, make_language },
};

int judge0_fields_read(const char *text, judge0_fields *ret, struct err *e)
{
    char quoted[96];
    *ret = 0;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (!text || !text[0] ? fields[i].is_default : strcmp(text, "*") == 0)
            *ret |= (judge0_fields)1 << i;
    if (!text || !text[0] || strcmp(text, "*") == 0)
        return 0;
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, ","), i = 0;
        while (i < ARRAY_LEN(fields) &&
               (strlen(fields[i].name) != n || strncmp(at, fields[i].name, n) != 0))
            i++;
        if (i == ARRAY_LEN(fields)) {
            char word[64];
            (void)snprintf(word, sizeof word, "%.*s", (int)n, at);
            return err_set(e, ERR_BAD_REQUEST, 0, "invalid fields: [%s]",
                           text_quote(word, quoted, sizeof quoted));
        }
        *ret |= (judge0_fields)1 << i;
        at += n + (at[n] == ',');
    }
    return 0;
}

/* ---- a submission ---- */

/* With redirect_stderr_to_stdout, stdout has both in the order in which they came. */
static int read_streams(struct rendering *r, struct err *e)
{
    struct journal_reader at = { 0 };
    struct journal_record record = { 0 };
    bool more = true, failed = false;
    bool joined = json_is_true(get(r->asked, "redirect_stderr_to_stdout"));
    if (!r->v->journal || !r->v->result)
        return 0;
    while (!failed && !(failed = journal_next(r->v->journal, &at, &record, &more, e)) && more) {
        bool is_out = record.kind == JOURNAL_STDOUT || joined;
        if (record.kind == JOURNAL_STDOUT || record.kind == JOURNAL_STDERR)
            failed = buf_add(is_out ? &r->out : &r->err, buf_str(&record.bytes), record.bytes.len,
                             e);
    }
    buf_done(&record.bytes);
    return failed ? -1 : 0;
}

static int read_compile(struct rendering *r, struct err *e)
{
    const json_t *compile = get(r->v->result, "compile");
    struct bundle_entry file;
    if (find_file(r->v, ".compile_output", &file))
        return buf_add(&r->compile, file.bytes, (size_t)file.head.size, e);
    return buf_addf(&r->compile, e, "%s%s", text_at(compile, "stdout"), text_at(compile, "stderr"));
}

static int rendering_init(struct rendering *r, const struct judge0_view *v, bool base64,
                          struct err *e)
{
    *r = (struct rendering){ .v = v,
                             .asked = get(get(v->request, "metadata"), "judge0"),
                             .base64 = base64 };
    if (read_streams(r, e) || read_compile(r, e))
        return -1;
    r->status = find_status(r);
    if (r->status == JUDGE0_EXEC_FORMAT) /* our own words are the message */
        r->err.len = 0;
    return 0;
}

enum judge0_status judge0_status_of(const struct judge0_view *v)
{
    struct rendering r;
    struct err e;
    enum judge0_status status = rendering_init(&r, v, true, &e) ? JUDGE0_INTERNAL : r.status;
    rendering_done(&r);
    return status;
}

json_t *judge0_submission(const struct judge0_view *v, judge0_fields wanted, bool base64,
                          bool *ret_not_text)
{
    struct rendering r;
    struct err e;
    json_t *o = rendering_init(&r, v, base64, &e) ? NULL : json_object();
    for (size_t i = 0; o && i < ARRAY_LEN(fields); i++) {
        if (!(wanted & (judge0_fields)1 << i))
            continue;
        const json_t *given = get(r.asked, fields[i].name);
        json_put(o, fields[i].name,
                 fields[i].make ? fields[i].make(&r)
                 : given        ? json_incref((json_t *)given)
                                : json_null());
    }
    *ret_not_text = r.not_text;
    rendering_done(&r);
    return o;
}
