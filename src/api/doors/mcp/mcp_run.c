/* run_code and run_cell: from the arguments of a tool to a run, and its progress. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/approvals/approvals.h"
#include "api/doors/mcp/mcp.h"
#include "api/doors/mcp/mcp_door.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"
#include "spec/bundle.h"

enum { TICK_MS = 1000, QUIET_MS = 15000, OUTPUT_MIN = 200, OUTPUT_MAX = 200000, LINE_MAX_ = 160 };

#define OUTPUT_ROW                                                                   \
    {                                                                                \
        "max_output", FIELD_INT,                                                     \
            .min = OUTPUT_MIN, .max = OUTPUT_MAX,                                    \
            .help = "bytes of each of stdout and stderr that are returned; 8000 by " \
                    "default"                                                        \
    }
#define TIMEOUT_ROW                                                                        \
    {                                                                                      \
        "timeout", FIELD_NUMBER,                                                           \
            .min = 0.001, .max = 86400,                                                    \
            .help = "seconds until it is stopped; the service has a default and a maximum" \
    }
#define NETWORK_ROW                                                                               \
    {                                                                                             \
        "network", FIELD_STRINGS,                                                                 \
            .max = 100,                                                                           \
            .help =                                                                               \
                "hosts that it may reach, such as \"pypi.org\" or \"db.example.org:5432\"; none " \
                "by default"                                                                      \
    }

const struct api_field mcp_run_input[] = {
    { "code", FIELD_STRING, .required = true, .min = 1, .max = (double)BUNDLE_FILE_MAX_BYTES,
      .help = "the program" },
    { "language", FIELD_STRING, .min = 1, .max = 64,
      .help = "python, javascript, bash, c, go and others (list_languages); inferred if absent" },
    { "stdin", FIELD_DATA, .help = "the input of the program" },
    { "files", FIELD_STRING_MAP, .max = 200, .help = "texts beside the program, by file name" },
    { "args", FIELD_STRINGS, .max = 200, .help = "arguments of the program" },
    { "outputs", FIELD_STRINGS, .max = 50,
      .help = "files to keep after the run, also /tmp/NAME: they are linked" },
    TIMEOUT_ROW,
    NETWORK_ROW,
    OUTPUT_ROW,
    { 0 },
};
const struct api_field mcp_cell_input[] = {
    { "code", FIELD_STRING, .required = true, .min = 1, .max = (double)BUNDLE_FILE_MAX_BYTES,
      .help = "the cell" },
    { "session", FIELD_STRING, .max = 64,
      .help = "id of a session (also of a copy); the session of this conversation by default" },
    { "language", FIELD_STRING, .min = 1, .max = 64,
      .help = "of a new session; python by default (list_languages)" },
    TIMEOUT_ROW,
    { "network", FIELD_STRINGS, .max = 100,
      .help = "hosts that a new session may reach; none by default" },
    OUTPUT_ROW,
    { 0 },
};
/* The fields that every diagnosis has and a model reads first; the whole table would be long in
 * every list of tools. */
const struct api_field mcp_diagnosis[] = {
    { "category", FIELD_STRING, ALWAYS, .help = "the kind of failure" },
    { "message", FIELD_STRING, ALWAYS, .help = "the message of the error" },
    { 0 },
};
const struct api_field mcp_run_output[] = {
    { "run_id", FIELD_STRING, ALWAYS, .help = "of the resource belljar://runs/ID" },
    { "state", FIELD_STRING, ALWAYS, .help = "finished, or waiting: a person has to approve it" },
    { "session", FIELD_STRING, .help = "of a cell: give it as `session` to go on" },
    { "cell", FIELD_INT, .help = "number of the cell" },
    { "language", FIELD_STRING, .help = "of the program" },
    { "verdict", FIELD_STRING, .help = "ok, runtime_error, compile_error, timeout and others" },
    { "success", FIELD_BOOL, .help = "true if the verdict is ok" },
    { "exit_code", FIELD_INT, .help = "of the program" },
    { "duration_ms", FIELD_NUMBER, .help = "wall time" },
    { "stdout", FIELD_STRING, .help = "cut in the middle if it is long" },
    { "stderr", FIELD_STRING, .help = "cut in the middle if it is long" },
    { "truncated", FIELD_BOOL, .help = "true if stdout or stderr is cut here" },
    { "result", FIELD_STRING, .help = "of a cell: the value of its last expression, as text" },
    { "tables", FIELD_ANY, .help = "results of SQL queries, and JSON that the program displayed" },
    { "images", FIELD_INT, .help = "number of images in the content" },
    { "diagnosis", FIELD_OBJECT, .fields = mcp_diagnosis,
      .help = "of a failure: cause, place and suggestions" },
    { "files", FIELD_STRINGS, .help = "outputs that were kept" },
    { "approval_id", FIELD_STRING, .help = "of a run that waits" },
    { 0 },
};

/* ---- progress ---- */

/* The last line of the output so far. */
static void last_line(const struct run *run, char *out, size_t size)
{
    scoped(buf) tail = { 0 };
    struct err e;
    out[0] = '\0';
    if (run->journal.stream_bytes[JOURNAL_STDOUT] == 0 ||
        journal_both_ends(&run->journal, JOURNAL_STDOUT, (uint64_t)2 * LINE_MAX_, &tail, &e))
        return;
    while (tail.len > 0 && tail.data[tail.len - 1] == '\n')
        tail.data[--tail.len] = '\0';
    const char *line = tail.len ? strrchr(tail.data, '\n') : NULL;
    line = line ? line + 1 : buf_str(&tail);
    scoped(buf) text = { 0 };
    if (text_add_utf8(&text, line, strnlen(line, LINE_MAX_), &e) == 0)
        (void)snprintf(out, size, "%s", buf_str(&text));
    text_end_whole(out);
}

/* Seconds, so that a person can see how long it takes. */
static void send_progress(struct mcp_request *r, const char *message)
{
    json_t *token = json_object_get(json_object_get(r->params, "_meta"), "progressToken");
    uint64_t now = uv_now(r->mcp->api->loop);
    double total = r->run ? (double)r->run->spec.limits.v[LIMIT_WALL_MS] / 1000 : 0;
    if (!json_is_string(token) && !json_is_integer(token))
        return;
    if (now <= r->sent_ms) /* the number has to grow */
        now = r->sent_ms + 1;
    r->sent_ms = now;
    double elapsed = (double)(now - r->began_ms) / 1000;
    json_t *params = json_pack("{s:O, s:f, s:s}", "progressToken", token, "progress", elapsed,
                               "message", message);
    if (total > elapsed)
        json_put(params, "total", json_real(total));
    mcp_notify(r, "notifications/progress", params);
}

static void on_tick(uv_timer_t *timer)
{
    struct mcp_request *r = timer->data;
    char line[LINE_MAX_ + 8];
    if (!r->run)
        return;
    last_line(r->run, line, sizeof line);
    send_progress(r, line[0] ? line : run_state_word(r->run->state));
    if (uv_now(r->mcp->api->loop) - r->began_ms >= QUIET_MS)
        mcp_post_keep_alive(r->post);
}

static void start_timer(struct mcp_request *r)
{
    if (r->has_timer)
        return;
    (void)uv_timer_init(r->mcp->api->loop, &r->timer);
    r->timer.data = r;
    r->has_timer = true;
    r->references++; /* until the timer is closed */
    (void)uv_timer_start(&r->timer, on_tick, TICK_MS, TICK_MS);
}

/* ---- the run ---- */

static void on_run_event(struct run_watch *w, struct run *run, enum run_event event)
{
    struct mcp_request *r = (struct mcp_request *)((char *)w - offsetof(struct mcp_request, watch));
    if (event == RUN_EVENT_STARTED) {
        mcp_log(r, MCP_INFO, "%s started", run->id);
        send_progress(r, "started");
    } else if (event == RUN_EVENT_DONE) {
        bool recorded = run->record_err.code == ERR_NONE && run->result_json;
        mcp_log(r, MCP_INFO, "%s ended", run->id);
        if (recorded)
            mcp_answer_run(r, run, r->is_cell);
        else
            mcp_tool_fail(r, "%s", ERR_SHOWN(&run->record_err));
    }
}

void mcp_follow(struct mcp_request *r, struct run *run, bool is_cell)
{
    r->run = run;
    r->is_cell = is_cell;
    r->watch.on_event = on_run_event;
    run_watch_add(run, &r->watch);
    start_timer(r);
}

static void on_run(void *context, struct run *run)
{
    struct mcp_request *r = context;
    if (r->over) { /* it was cancelled before its session was ready */
        run_cancel(run);
        return;
    }
    mcp_follow(r, run, r->target[0] != '\0');
    mcp_log(r, MCP_DEBUG, "%s is %s", run->id, run_state_word(run->state));
    if (r->left)
        run_cancel(run);
    else if (run->state == RUN_WAITING)
        mcp_approval_needed(r);
}

/* The answer of a route that does not wait matters only if there is no run. */
static void on_accepted(void *context, const struct inner_answer *a)
{
    struct mcp_request *r = context;
    if (!r->over && !r->run)
        mcp_tool_refused(r, a);
    mcp_release(r);
}

static void submit(struct mcp_request *r, const char *path, json_t *body)
{
    struct inner_request q = { .method = METHOD_POST,
                               .path = path,
                               .body = body,
                               .surface = "mcp",
                               .on_answer = on_accepted,
                               .on_run = on_run,
                               .context = r };
    const json_t *code = json_object_get(r->arguments, "code");
    json_put(body, "wait", json_false());
    q.large = json_string_length(code) > API_LARGE_BYTES || json_object_get(r->arguments, "files");
    r->references++;
    inner_call(r->mcp->api, mcp_who(r), &q);
}

static void copy_fields(json_t *body, const json_t *arguments, const char *const *keys)
{
    for (; *keys; keys++)
        (void)json_object_set(body, *keys, json_object_get(arguments, *keys));
}

void mcp_run_code(struct mcp_request *r)
{
    static const char *const same[] = { "code", "language", "stdin", "files",
                                        "args", "outputs",  NULL };
    const json_t *timeout = json_object_get(r->arguments, "timeout");
    const json_t *network = json_object_get(r->arguments, "network");
    json_t *body = json_object();
    copy_fields(body, r->arguments, same);
    if (timeout)
        json_put(body, "limits",
                 json_pack("{s:I}", limit_defs[LIMIT_WALL_MS].key,
                           (json_int_t)ceil(json_number_value(timeout) * 1000)));
    if (json_array_size(network) > 0)
        json_put(body, "network", json_pack("{s:O}", "allow", network));
    submit(r, "/v1/runs", body);
}

static void run_in(struct mcp_request *r, const char *id)
{
    static const char *const same[] = { "code", "timeout", NULL };
    char path[96];
    json_t *body = json_object();
    copy_fields(body, r->arguments, same);
    (void)snprintf(path, sizeof path, "/v1/sessions/%s/exec", id);
    submit(r, path, body);
}

void mcp_run_cell(struct mcp_request *r)
{
    const char *name = mcp_text(r->arguments, "language");
    const struct language *language = name ? language_find(name) : NULL;
    if (name && (!language || !language->session)) {
        mcp_tool_fail(r,
                      "'%s' is no language with sessions: list_languages marks them; run_code "
                      "runs programs in all languages",
                      QUOTED(name));
        return;
    }
    mcp_with_sandbox(r, language, true, run_in);
}

void mcp_answer_pending(struct mcp_request *r)
{
    const struct run *run = r->run;
    char text[400], uri[96];
    json_t *content = json_array();
    (void)snprintf(text, sizeof text,
                   "This code waits for the approval of a person and has not run. Its run is %s, "
                   "the request %s ('belljar approvals' shows it). Do not send it again: read the "
                   "linked resource later for its result.",
                   run->id, r->approval);
    mcp_add_text(content, text, strlen(text));
    mcp_uri(uri, sizeof uri, "runs", run->id, NULL, NULL);
    mcp_add_link(r, content, uri, run->id, "application/json", "the run, and later its result");
    mcp_tool_answer(r, content,
                    json_pack("{s:s, s:s, s:s}", "run_id", run->id, "state", "waiting",
                              "approval_id", r->approval),
                    false);
}
