/* Uses every function of libbelljar, and only its header: as C and, compiled by a test, as C++.
 *     library_probe all [ADDRESS [KEY]]   everything; without an address, with a private service
 *     library_probe stay [STATE]          opens a private service, prints its socket, and waits
 *     library_probe fork                  the same, and a fork of this process outlives it
 *     library_probe run ADDRESS           starts a run that never ends, and prints the error of
 *     its end library_probe open ADDRESS [KEY]    prints the code and the message of the failure
 *     library_probe time [ADDRESS]        prints milliseconds: open, the first run, the median
 *     of 200 $BELLJAR is the program of private services. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <belljar.h>

static int failures;

#define CHECK(condition)                                                   \
    do {                                                                   \
        if (!(condition)) {                                                \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            failures++;                                                    \
        }                                                                  \
    } while (0)
#define CHECK_TEXT(got, expected) check_text(__LINE__, #got, (got), (expected))

static void check_text(int line, const char *what, const char *got, const char *expected)
{
    if (got && strcmp(got, expected) == 0)
        return;
    printf("%s:%d: %s is '%s', not '%s'\n", __FILE__, line, what, got ? got : "(null)", expected);
    failures++;
}

/* The call succeeded; otherwise the message is printed, and the program ends. */
#define MUST(call)                                                              \
    do {                                                                        \
        struct belljar_error *error_ = NULL;                                    \
        struct belljar_error **error = &error_;                                 \
        if ((call) != 0) {                                                      \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                \
                   error_ ? belljar_error_message(error_) : "no error object"); \
            exit(1);                                                            \
        }                                                                       \
    } while (0)

/* The call failed with this code, and its message has this word. */
#define FAILS(call, code, word)                                                     \
    do {                                                                            \
        struct belljar_error *error_ = NULL;                                        \
        struct belljar_error **error = &error_;                                     \
        CHECK((call) == -1);                                                        \
        CHECK(error_ != NULL);                                                      \
        if (error_ && (belljar_error_code(error_) != (code) ||                      \
                       !strstr(belljar_error_message(error_), (word)))) {           \
            printf("%s:%d: %s: code %d: %s\n", __FILE__, __LINE__, #call,           \
                   (int)belljar_error_code(error_), belljar_error_message(error_)); \
            failures++;                                                             \
        }                                                                           \
        belljar_error_free(error_);                                                 \
    } while (0)

static struct belljar_request program(const char *language, const char *code)
{
    struct belljar_request q;
    memset(&q, 0, sizeof q);
    q.size = sizeof q;
    q.language = language;
    q.code = code;
    return q;
}

static struct belljar_options private_options(void)
{
    struct belljar_options o;
    memset(&o, 0, sizeof o);
    o.size = sizeof o;
    o.program = getenv("BELLJAR");
    return o;
}

static const char *text(const void *bytes)
{
    return (const char *)bytes;
}

/* ---- runs ---- */

static void check_results(struct belljar *b)
{
    struct belljar_result *r = NULL;
    struct belljar_usage usage;
    struct belljar_diagnosis d;
    size_t len = 0;
    struct belljar_request q = program(
        "python", "import sys\nsys.stdout.buffer.write(b'a\\0\\xff')\nprint('b', file=sys.stderr)");
    MUST(belljar_run(b, &q, &r, error));
    CHECK_TEXT(belljar_result_verdict(r), "ok");
    CHECK(belljar_result_ok(r) == 1 && belljar_result_exit_code(r) == 0);
    CHECK(belljar_result_signal(r) == NULL && belljar_result_status(r) == NULL);
    CHECK(belljar_result_cell(r) == 0 && belljar_result_value(r, "text/plain") == NULL);
    CHECK(memcmp(belljar_result_stdout(r, &len), "a\0\xff", 4) == 0 && len == 3);
    CHECK_TEXT(text(belljar_result_stderr(r, NULL)), "b\n");
    CHECK(strncmp(belljar_result_id(r), "run_", 4) == 0 && belljar_result_start(r) != NULL);
    CHECK(strstr(belljar_result_json(r), "\"verdict\":\"ok\"") != NULL);
    CHECK(belljar_result_json(r) == belljar_result_json(r));
    memset(&usage, 0, sizeof usage);
    memset(&d, 0, sizeof d);
    usage.size = sizeof usage;
    belljar_result_usage(r, &usage);
    CHECK(usage.wall_ms > 0 && usage.cpu_ms > 0 && usage.memory_peak_bytes > 0 &&
          usage.pids_peak > 0);
    usage.size = offsetof(struct belljar_usage,
                          cpu_ms); /* of an older program: the rest is not written */
    usage.cpu_ms = -5;
    belljar_result_usage(r, &usage);
    CHECK(usage.wall_ms > 0 && usage.cpu_ms == -5);
    d.size = sizeof d;
    CHECK(belljar_result_diagnosis(r, &d) == 0);
    belljar_result_free(r);

    q = program("python", "x = 1\nx / 0\n");
    MUST(belljar_run(b, &q, &r, error));
    CHECK_TEXT(belljar_result_verdict(r), "runtime_error");
    CHECK(belljar_result_exit_code(r) == 1 && belljar_result_ok(r) == 0);
    CHECK(belljar_result_diagnosis(r, &d) == 1 && d.line == 2 && d.column > 0 && d.hint != NULL);
    CHECK_TEXT(d.type, "ZeroDivisionError");
    CHECK_TEXT(d.message, "division by zero");
    CHECK_TEXT(d.file, "main.py");
    CHECK_TEXT(d.category, "value");
    belljar_result_free(r);
}

static void check_request(struct belljar *b)
{
    static const char code[] =
        "import os, sys, stack\n"
        "print(sys.argv[1:], os.environ['TOWN'], sys.stdin.buffer.read(), stack.N)\n"
        "open('out.bin', 'wb').write(bytes([0, 255]))\n"
        "open('b c.txt', 'w').write('two')\n";
    static const char *const args[] = { "one", "z\xc3\xbc", NULL };
    static const char *const env[] = { "TOWN=Jena", NULL };
    static const char *const outputs[] = { "out.bin", "b c.txt", NULL };
    const struct belljar_file file = { "stack.py", "N = 7\n", 6, 0 };
    struct belljar_result *r = NULL;
    struct belljar_bytes *bytes = NULL;
    struct belljar_limits limits;
    uint64_t size = 0;
    size_t len = 0;
    memset(&limits, 0, sizeof limits);
    limits.size = sizeof limits;
    limits.memory_bytes = 64 << 20;
    struct belljar_request q = program("python", code);
    q.args = args;
    q.env = env;
    q.files = &file;
    q.n_files = 1;
    q.stdin_bytes = "\xff!";
    q.stdin_len = 2;
    q.outputs = outputs;
    q.limits = &limits;
    q.fields_json = "{\"metadata\": {\"mine\": 5}}";
    MUST(belljar_run(b, &q, &r, error));
    CHECK_TEXT(text(belljar_result_stdout(r, NULL)), "['one', 'z\xc3\xbc'] Jena b'\\xff!' 7\n");
    CHECK(strstr(belljar_result_json(r), "\"memory\":67108864") != NULL);
    CHECK(strstr(belljar_result_json(r), "\"metadata\":{\"mine\":5}") != NULL);
    CHECK(belljar_result_n_files(r) == 2 && belljar_result_file(r, 2, NULL) == NULL);
    CHECK(belljar_result_file(r, 0, &size) != NULL && size > 0);
    MUST(belljar_fetch(b, r, "out.bin", &bytes, error));
    CHECK(memcmp(belljar_bytes_data(bytes, &len), "\0\xff", 2) == 0 && len == 2);
    belljar_bytes_free(bytes);
    MUST(belljar_fetch(b, r, "b c.txt", &bytes, error));
    CHECK_TEXT(text(belljar_bytes_data(bytes, NULL)), "two");
    belljar_bytes_free(bytes);
    FAILS(belljar_fetch(b, r, "none", &bytes, error), BELLJAR_ERROR_NOT_FOUND, "none");
    belljar_result_free(r);
}

struct seen {
    struct belljar_run *run;
    char out[64];
    size_t len, events, stop_after;
    int answered;
};

static int on_output(void *user, int stream, const void *bytes, size_t len)
{
    struct seen *s = (struct seen *)user;
    if (stream == BELLJAR_STDOUT && s->len + len < sizeof s->out) {
        memcpy(s->out + s->len, bytes, len);
        s->len += len;
    }
    if (s->run && !s->answered && strstr(s->out, "name?")) {
        s->answered = 1;
        MUST(belljar_run_write_stdin(s->run, "Ada\n", 4, 1, error));
    }
    return s->stop_after > 0 && s->len >= s->stop_after;
}

static int on_event(void *user, const char *event, const char *json)
{
    struct seen *s = (struct seen *)user;
    CHECK(strchr(json, '{') == json && strstr(json, event) != NULL);
    s->events++;
    if (s->run && strcmp(event, "input_request") == 0)
        MUST(belljar_run_write_stdin(s->run, "Bob", 3, 0, error));
    return 0;
}

static void check_streams(struct belljar *b)
{
    struct belljar_run *run = NULL;
    struct belljar_result *r = NULL;
    struct seen seen;
    struct belljar_request q = program("python",
                                       "print('name?', flush=True)\nprint('hello', input())");
    q.stdin_open = 1;
    memset(&seen, 0, sizeof seen);
    MUST(belljar_run_start(b, &q, &run, error));
    CHECK(strncmp(belljar_run_id(run), "run_", 4) == 0 && belljar_run_fd(run) >= 0);
    seen.run = run;
    belljar_run_on_output(run, on_output, &seen); /* before the first wait, which may have events */
    belljar_run_on_event(run, on_event, &seen);
    CHECK(belljar_run_wait(run, 0, &r, NULL) == 1 && r == NULL);
    FAILS(belljar_run_write_stdin(run, "", (2 << 20), 0, error), BELLJAR_ERROR_TOO_LARGE,
          "1048576");
    MUST(belljar_run_wait(run, -1, &r, error));
    CHECK_TEXT(seen.out, "name?\nhello Ada\n");
    CHECK(seen.events > 0 && belljar_run_fd(run) == -1);
    CHECK_TEXT(text(belljar_result_stdout(r, NULL)), "name?\nhello Ada\n");
    belljar_result_free(r);
    FAILS(belljar_run_wait(run, -1, &r, error), BELLJAR_ERROR_CONFLICT, "handed over");
    MUST(belljar_run_cancel(run, error)); /* it is over */
    belljar_run_free(run);

    q = program("bash", "while :; do echo more; sleep 0.01; done");
    memset(&seen, 0, sizeof seen);
    seen.stop_after = 10;
    MUST(belljar_run_start(b, &q, &run, error));
    belljar_run_on_output(run, on_output, &seen);
    MUST(belljar_run_wait(run, -1, &r, error));
    CHECK_TEXT(belljar_result_verdict(r), "cancelled");
    belljar_result_free(r);
    belljar_run_free(run);
}

static void *cancel(void *run)
{
    MUST(belljar_run_cancel((struct belljar_run *)run, error));
    return NULL;
}

static void *count(void *b)
{
    struct belljar_request q = program("bash", "echo 1");
    for (int i = 0; i < 5; i++) {
        struct belljar_result *r = NULL;
        MUST(belljar_run((struct belljar *)b, &q, &r, error));
        CHECK_TEXT(text(belljar_result_stdout(r, NULL)), "1\n");
        belljar_result_free(r);
    }
    return NULL;
}

static void check_threads(struct belljar *b)
{
    pthread_t threads[6], one;
    struct belljar_run *run = NULL;
    struct belljar_result *r = NULL;
    struct belljar_request q = program("bash", "sleep 100");
    MUST(belljar_run_start(b, &q, &run, error));
    (void)pthread_create(&one, NULL, cancel, run);
    MUST(belljar_run_wait(run, -1, &r, error));
    (void)pthread_join(one, NULL);
    CHECK_TEXT(belljar_result_verdict(r), "cancelled");
    CHECK(belljar_result_exit_code(r) == 130);
    belljar_result_free(r);
    belljar_run_free(run);
    for (int i = 0; i < 6; i++)
        (void)pthread_create(&threads[i], NULL, count, b);
    for (int i = 0; i < 6; i++)
        (void)pthread_join(threads[i], NULL);
    /* A run that is freed before its end is cancelled. */
    char path[128];
    MUST(belljar_run_start(b, &q, &run, error));
    (void)snprintf(path, sizeof path, "/v1/runs/%s", belljar_run_id(run));
    belljar_run_free(run);
    for (int i = 0, over = 0; i < 1000 && !over; i++) {
        struct belljar_bytes *bytes = NULL;
        const struct timespec step = { 0, 20000000 };
        MUST(belljar_call(b, "GET", path, NULL, &bytes, error));
        over = strstr(text(belljar_bytes_data(bytes, NULL)), "\"verdict\":\"cancelled\"") != NULL;
        belljar_bytes_free(bytes);
        CHECK(over || i < 999);
        (void)nanosleep(&step, NULL);
    }
}

/* ---- sessions ---- */

static void cell(struct belljar_session *s, const char *code, const char *value)
{
    struct belljar_result *r = NULL;
    MUST(belljar_session_exec(s, code, &r, error));
    CHECK_TEXT(belljar_result_status(r), "ok");
    if (value)
        CHECK_TEXT(belljar_result_value(r, "text/plain"), value);
    belljar_result_free(r);
}

static void check_cells(struct belljar_session *s)
{
    struct belljar_run *run = NULL;
    struct belljar_result *r = NULL;
    struct belljar_cell c;
    struct seen seen;
    MUST(belljar_session_exec(s, "y = 1\n1 / 0", &r, error));
    CHECK_TEXT(belljar_result_status(r), "error");
    CHECK(belljar_result_cell(r) > 0 &&
          strstr(belljar_result_json(r), "ZeroDivisionError") != NULL);
    belljar_result_free(r);
    memset(&c, 0, sizeof c);
    memset(&seen, 0, sizeof seen);
    c.size = sizeof c;
    c.code = "print(input()); display(5)";
    MUST(belljar_session_start(s, &c, &run, error));
    seen.run = run;
    belljar_run_on_output(run, on_output, &seen);
    belljar_run_on_event(run, on_event, &seen);
    MUST(belljar_run_wait(run, -1, &r, error));
    CHECK_TEXT(text(belljar_result_stdout(r, NULL)), "Bob\n");
    CHECK(strstr(belljar_result_json(r), "\"displays\":[{") != NULL);
    belljar_result_free(r);
    belljar_run_free(run);
    c.code = "import time\ntime.sleep(100)";
    for (int way = 0; way < 2; way++) { /* one cell, then any cell */
        MUST(belljar_session_start(s, &c, &run, error));
        if (way == 0)
            MUST(belljar_run_cancel(run, error));
        else
            MUST(belljar_session_interrupt(s, error));
        MUST(belljar_run_wait(run, -1, &r, error));
        CHECK_TEXT(belljar_result_status(r), "interrupted");
        belljar_result_free(r);
        belljar_run_free(run);
    }
    c.timeout_ms = 50;
    MUST(belljar_session_start(s, &c, &run, error));
    MUST(belljar_run_wait(run, -1, &r, error));
    CHECK_TEXT(belljar_result_status(r), "timeout");
    belljar_result_free(r);
    belljar_run_free(run);
}

static void check_sessions(struct belljar *b)
{
    struct belljar_session *s = NULL, *same = NULL, *copies[2];
    struct belljar_session_options o;
    struct belljar_bytes *bytes = NULL;
    size_t len = 0;
    memset(&o, 0, sizeof o);
    o.size = sizeof o;
    o.language = "python";
    o.undo = 2;
    MUST(belljar_session_open(b, &o, &s, error));
    CHECK(strncmp(belljar_session_id(s), "ses_", 4) == 0);
    cell(s, "x = 20", NULL);
    cell(s, "x + 22", "42");
    check_cells(s);
    MUST(belljar_session_fork(s, 2, copies, error));
    cell(copies[1], "x += 1; x", "21");
    cell(s, "x", "20");
    MUST(belljar_session_close(copies[0], error));
    MUST(belljar_session_attach(b, belljar_session_id(copies[1]), &same, error));
    cell(same, "x", "21");
    MUST(belljar_session_close(copies[1], error));
    FAILS(belljar_session_interrupt(same, error), BELLJAR_ERROR_GONE, "ended");
    belljar_session_free(same);
    cell(s, "x = 5", NULL);
    MUST(belljar_session_undo(s, 1, error));
    cell(s, "x", "20");
    MUST(belljar_session_checkpoint(s, "here", error));
    cell(s, "x = 6", NULL);
    MUST(belljar_session_rollback(s, "here", error));
    cell(s, "x", "20");
    MUST(belljar_session_put(s, "dir/a b.bin", "\0\x01", 2, error));
    cell(s, "open('dir/a b.bin', 'rb').read()", "b'\\x00\\x01'");
    MUST(belljar_session_get(s, "dir/a b.bin", &bytes, error));
    CHECK(memcmp(belljar_bytes_data(bytes, &len), "\0\x01", 2) == 0 && len == 2);
    belljar_bytes_free(bytes);
    FAILS(belljar_session_get(s, "none", &bytes, error), BELLJAR_ERROR_NOT_FOUND, "none");
    FAILS(belljar_session_get(s, "", &bytes, error), BELLJAR_ERROR_BAD_REQUEST, "name");
    FAILS(belljar_session_fork(s, 0, copies, error), BELLJAR_ERROR_BAD_REQUEST, "1 to 100");
    MUST(belljar_session_restart(s, error));
    cell(s, "'x' in globals()", "False");
    MUST(belljar_session_close(s, error));
    FAILS(belljar_session_attach(b, "ses_none", &s, error), BELLJAR_ERROR_NOT_FOUND, "ses_none");
    FAILS(belljar_session_attach(b, "../runs", &s, error), BELLJAR_ERROR_BAD_REQUEST, "../runs");
}

/* ---- bad input ---- */

static void check_bad_requests(struct belljar *b)
{
    struct belljar_result *r = NULL;
    struct belljar_bytes *bytes = NULL;
    struct belljar_error *refusal = NULL;
    struct {
        struct belljar_request q;
        int later; /* a member of a later version */
    } larger;
    static const char *const bad_env[] = { "TOWN", NULL };
    struct belljar_request q = program("python", "print(1)");
    q.size = 8;
    FAILS(belljar_run(b, &q, &r, error), BELLJAR_ERROR_BAD_REQUEST,
          "sizeof(struct belljar_request)");
    FAILS(belljar_run(b, NULL, &r, error), BELLJAR_ERROR_BAD_REQUEST, "size");
    memset(&larger, 0, sizeof larger);
    larger.q = program("python", "print(1)");
    larger.q.size = sizeof larger;
    MUST(belljar_run(b, &larger.q, &r, error));
    belljar_result_free(r);
    r = NULL;
    larger.later = 1;
    FAILS(belljar_run(b, &larger.q, &r, error), BELLJAR_ERROR_BAD_REQUEST, "later version");
    q = program("python", "\xff");
    FAILS(belljar_run(b, &q, &r, error), BELLJAR_ERROR_BAD_REQUEST, "code is not UTF-8");
    q = program("python", "1");
    q.env = bad_env;
    FAILS(belljar_run(b, &q, &r, error), BELLJAR_ERROR_BAD_REQUEST, "TOWN");
    q.env = NULL;
    q.fields_json = "[1]";
    FAILS(belljar_run(b, &q, &r, error), BELLJAR_ERROR_BAD_REQUEST, "fields_json");
    q.fields_json = "{\"a\":";
    FAILS(belljar_run(b, &q, &r, error), BELLJAR_ERROR_BAD_REQUEST, "fields_json");
    q.fields_json = "{\"limits\": {\"memory\": \"much\"}}";
    CHECK(belljar_run(b, &q, &r, &refusal) == -1 && belljar_error_field(refusal) != NULL);
    if (refusal && belljar_error_field(refusal))
        CHECK_TEXT(belljar_error_field(refusal), "limits.memory");
    CHECK(refusal && belljar_error_retry_after_s(refusal) == 0);
    belljar_error_free(refusal);
    q = program("cobol", "1");
    FAILS(belljar_run(b, &q, &r, error), BELLJAR_ERROR_BAD_REQUEST, "cobol");
    CHECK(belljar_run(b, &q, &r, NULL) == -1 && r == NULL); /* nobody wants the error */
    FAILS(belljar_call(b, "get", "/v1/stats", NULL, &bytes, error), BELLJAR_ERROR_BAD_REQUEST,
          "get");
    FAILS(belljar_call(b, "GET", "/v1/a\r\nX: y", NULL, &bytes, error), BELLJAR_ERROR_BAD_REQUEST,
          "path");
    FAILS(belljar_call(b, "GET", "/v1/none", NULL, &bytes, error), BELLJAR_ERROR_NOT_FOUND,
          "/v1/none");
    FAILS(belljar_call(b, "POST", "/v1/runs", "{", &bytes, error), BELLJAR_ERROR_BAD_REQUEST,
          "JSON");
    /* The same connections serve the next call. */
    MUST(belljar_call(b, "GET", "/v1/languages", NULL, &bytes, error));
    CHECK(strstr(text(belljar_bytes_data(bytes, NULL)), "python") != NULL);
    belljar_bytes_free(bytes);
}

/* A request that is larger than the service takes. */
static void check_oversize(struct belljar *b)
{
    struct belljar_result *r = NULL;
    struct belljar_file file;
    size_t len = 40 << 20;
    char *bytes = (char *)malloc(len);
    struct belljar_request q = program("python", "print(1)");
    if (!bytes)
        exit(1);
    memset(bytes, 'x', len);
    memset(&file, 0, sizeof file);
    file.name = "large";
    file.bytes = bytes;
    file.len = len;
    q.files = &file;
    q.n_files = 1;
    FAILS(belljar_run(b, &q, &r, error), BELLJAR_ERROR_TOO_LARGE, "");
    free(bytes);
}

static void check_bad_options(void)
{
    static const char *const settings[] = { "runs.max=none", NULL };
    static const struct {
        const char *service, *word;
    } bad[] = { { "localhost:6000", "http://HOST:PORT" },
                { "https://localhost", "needs TLS" },
                { "http://", "http://HOST:PORT" },
                { "http://localhost:6000/v1", "path" },
                { "http://localhost:x", "HOST:PORT" },
                { "http://a b", "blanks" },
                { "", "not an address" } };
    struct belljar *b = NULL;
    struct belljar_options o = private_options();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        o.service = bad[i].service;
        FAILS(belljar_open(&o, &b, error), BELLJAR_ERROR_BAD_REQUEST, bad[i].word);
    }
    o.service = "/nonexistent/socket";
    FAILS(belljar_open(&o, &b, error), BELLJAR_ERROR_UNAVAILABLE, "/nonexistent/socket");
    o.key = "a\r\nb";
    FAILS(belljar_open(&o, &b, error), BELLJAR_ERROR_BAD_REQUEST, "key");
    o = private_options();
    o.program = "/nonexistent/belljar";
    FAILS(belljar_open(&o, &b, error), BELLJAR_ERROR_UNAVAILABLE, "/nonexistent/belljar");
    o = private_options();
    o.settings = settings;
    FAILS(belljar_open(&o, &b, error), BELLJAR_ERROR_UNAVAILABLE, "runs.max");
    o.settings = NULL;
    o.state_dir = "/dev/null/state";
    FAILS(belljar_open(&o, &b, error), BELLJAR_ERROR_UNAVAILABLE, "/dev/null");
    o.size = 3;
    FAILS(belljar_open(&o, &b, error), BELLJAR_ERROR_BAD_REQUEST, "sizeof(struct belljar_options)");
    CHECK(b == NULL);
    belljar_close(NULL);
    belljar_error_free(NULL);
    belljar_result_free(NULL);
    belljar_bytes_free(NULL);
    belljar_run_free(NULL);
    belljar_session_free(NULL);
    CHECK(belljar_session_close(NULL, NULL) == 0);
}

/* Objects that outlive their handle fail, and do no harm. */
static void check_close(struct belljar *b, int is_private)
{
    struct belljar_session *s = NULL;
    struct belljar_run *run = NULL;
    struct belljar_result *r = NULL;
    struct belljar_session_options o;
    struct belljar_request q = program("bash", "sleep 100");
    memset(&o, 0, sizeof o);
    o.size = sizeof o;
    o.language = "bash";
    MUST(belljar_session_open(b, &o, &s, error));
    MUST(belljar_run_start(b, &q, &run, error));
    belljar_close(b);
    FAILS(belljar_session_exec(s, "echo 1", &r, error), BELLJAR_ERROR_UNAVAILABLE, "closed");
    FAILS(belljar_run_cancel(run, error), BELLJAR_ERROR_UNAVAILABLE, "closed");
    if (is_private) {
        int rc = belljar_run_wait(run, 10000, &r, NULL);
        CHECK(rc == -1 || (rc == 0 && !belljar_result_ok(r)));
        belljar_result_free(r);
    }
    belljar_session_free(s);
    belljar_run_free(run);
}

static int all(const char *address, const char *key)
{
    struct belljar *b = NULL;
    struct belljar_options o = private_options();
    o.service = address;
    o.key = key;
    CHECK_TEXT(belljar_version(), "0.1.0");
    if (!address)
        check_bad_options();
    MUST(belljar_open(&o, &b, error));
    CHECK(belljar_address(b) != NULL && (!address || strcmp(belljar_address(b), address) == 0));
    check_results(b);
    check_request(b);
    check_streams(b);
    check_threads(b);
    check_sessions(b);
    check_bad_requests(b);
    check_oversize(b);
    check_close(b, !address);
    return failures > 0;
}

/* ---- lives and deaths ---- */

static struct belljar *opened(const char *address, const char *state)
{
    struct belljar *b = NULL;
    struct belljar_options o = private_options();
    o.service = address;
    o.state_dir = state;
    MUST(belljar_open(&o, &b, error));
    return b;
}

static int stay(const char *state, int with_fork)
{
    struct belljar *b = opened(NULL, state);
    struct belljar_run *run = NULL;
    struct belljar_request q = program("bash", "echo up; sleep 1000");
    MUST(belljar_run_start(b, &q, &run, error));
    if (with_fork && fork() == 0)
        for (;;)
            (void)pause();
    printf("%s\n", belljar_address(b));
    (void)fflush(stdout);
    (void)getchar();
    belljar_run_free(run);
    belljar_close(b);
    return 0;
}

static int endless(const char *address)
{
    struct belljar *b = opened(address, NULL);
    struct belljar_run *run = NULL;
    struct belljar_result *r = NULL;
    struct belljar_error *why = NULL;
    struct belljar_request q = program("bash", "sleep 1000");
    MUST(belljar_run_start(b, &q, &run, error));
    printf("%s\n", belljar_run_id(run));
    (void)fflush(stdout);
    if (belljar_run_wait(run, -1, &r, &why) == -1)
        printf("%d %s\n", (int)belljar_error_code(why), belljar_error_message(why));
    belljar_error_free(why);
    why = NULL;
    if (belljar_run_wait(run, -1, &r, &why) == -1)
        printf("%d %s\n", (int)belljar_error_code(why), belljar_error_message(why));
    belljar_error_free(why);
    belljar_run_free(run);
    belljar_close(b);
    return 0;
}

static int open_only(const char *address, const char *key)
{
    struct belljar *b = NULL;
    struct belljar_error *error = NULL;
    struct belljar_options o = private_options();
    o.service = address;
    o.key = key;
    if (belljar_open(&o, &b, &error) == 0) {
        belljar_close(b);
        printf("opened\n");
        return 0;
    }
    printf("%d %s\n", (int)belljar_error_code(error), belljar_error_message(error));
    belljar_error_free(error);
    return 1;
}

static double now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1000 + (double)t.tv_nsec / 1e6;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double timed_run(struct belljar *b)
{
    struct belljar_request q = program("python", "print(1)");
    struct belljar_result *r = NULL;
    double from = now_ms();
    MUST(belljar_run(b, &q, &r, error));
    double took = now_ms() - from;
    CHECK(belljar_result_ok(r));
    belljar_result_free(r);
    return took;
}

static double timed_post(struct belljar *b)
{
    struct belljar_bytes *bytes = NULL;
    double from = now_ms();
    MUST(belljar_call(b, "POST", "/v1/runs", "{\"language\": \"python\", \"code\": \"print(1)\"}",
                      &bytes, error));
    double took = now_ms() - from;
    belljar_bytes_free(bytes);
    return took;
}

static int measure(const char *address)
{
    enum { RUNS = 200 };
    double start = now_ms(), runs[RUNS], posts[RUNS];
    struct belljar *b = opened(address, NULL);
    double open_ms = now_ms() - start, first = timed_run(b);
    for (int i = 0; i < 20; i++)
        (void)timed_run(b);
    for (int i = 0; i < RUNS; i++) {
        runs[i] = timed_run(b);
        posts[i] = timed_post(b);
    }
    qsort(runs, RUNS, sizeof *runs, by_size);
    qsort(posts, RUNS, sizeof *posts, by_size);
    start = now_ms();
    belljar_close(b);
    printf("open %.1f first %.1f run %.2f (p10 %.2f) POST /v1/runs %.2f (p10 %.2f) close %.1f\n",
           open_ms, first, runs[RUNS / 2], runs[RUNS / 10], posts[RUNS / 2], posts[RUNS / 10],
           now_ms() - start);
    return failures > 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const char *address = argc > 2 && *argv[2] ? argv[2] : NULL;
    const char *key = argc > 3 ? argv[3] : NULL;
    if (strcmp(what, "all") == 0)
        return all(address, key);
    if (strcmp(what, "stay") == 0 || strcmp(what, "fork") == 0)
        return stay(address, what[0] == 'f');
    if (strcmp(what, "run") == 0)
        return endless(address);
    if (strcmp(what, "open") == 0)
        return open_only(address, key);
    if (strcmp(what, "time") == 0)
        return measure(address);
    printf("usage: library_probe all|stay|fork|run|open|time [ADDRESS [KEY]]\n");
    return 64;
}
