#include "api/sessions/cell_result.h"

#include <string.h>

#include "api/runs/result_fields.h"
#include "api/runs/run_result.h"
#include "base/array.h"
#include "run/json.h"
#include "session/events.h"
#include "store/session_rows.h"

static const char *const status_words[] = { "ok", "error", "interrupted", "timeout", "lost", NULL };
static const struct api_field display_reply[] = {
    { "data", FIELD_ANY, ALWAYS,
      .help = "by MIME type: text, JSON for application/json, base64 for other bytes" },
    { "display_id", FIELD_STRING, .help = "its id, if it can be updated" },
    { "metadata", FIELD_ANY, .help = "of the program" },
    { "cut", FIELD_BOOL, .help = "true: displays, or parts of this one, were dropped here" },
    { "left_out", FIELD_STRING, .help = "the parts that were dropped" },
    { 0 },
};
static const struct api_field error_reply[] = {
    { "name", FIELD_STRING, ALWAYS, .help = "its type, such as ValueError" },
    { "message", FIELD_STRING, ALWAYS, .help = "its message" },
    { "traceback", FIELD_STRING, ALWAYS, .help = "as text without colours" },
    { 0 },
};
static const struct api_field rolled_back_reply[] = {
    { "kind", FIELD_STRING, ALWAYS, .one_of = rollback_words,
      .help = "rollback; undo; jar_ended: the session went on with a checkpoint; restart; replay: "
              "its cells ran again, under other numbers" },
    { "at", FIELD_STRING, OR_NULL, .help = "time" },
    { "to", FIELD_INT, OR_NULL,
      .help = "the last cell whose effects the session had then; null: it began anew" },
    { 0 },
};
const struct api_field cell_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "id of its run" },
    { "session", FIELD_STRING, ALWAYS, .help = "id of the session" },
    { "adopted_from", FIELD_STRING,
      .help = "in a list: id of the branch that ran it, whose state the session goes on with" },
    { "cell", FIELD_INT, OR_NULL, .help = "number of the cell in its session, from 1" },
    { "state", FIELD_STRING, .one_of = run_state_words, .help = "finished, unless in a list" },
    { "code", FIELD_STRING, .nullable = true, .help = "in a list: the code of the cell" },
    { "status", FIELD_STRING, OR_NULL, .one_of = status_words,
      .help = "ok; error (of the code); interrupted; timeout (interrupted by a limit); lost (the "
              "jar ended, and the variables with it)" },
    { "verdict", FIELD_STRING, OR_NULL, .one_of = verdict_words, .help = "as for a run" },
    STREAM_ROWS,
    { "stdout_truncated", FIELD_BOOL, .help = "true if cell_limits.output cut it" },
    { "stderr_truncated", FIELD_BOOL, .help = "true if cell_limits.output cut it" },
    { "result", FIELD_ANY, OR_NULL,
      .help = "the value of the last expression by MIME type; null if there is none" },
    { "execution_count", FIELD_INT, OR_NULL, .help = "the number in In[] and Out[]" },
    { "displays", FIELD_OBJECTS, ALWAYS, .fields = display_reply, .help = "in order" },
    { "error", FIELD_OBJECT, OR_NULL, .fields = error_reply, .help = "the error of the code" },
    { "diagnosis", FIELD_OBJECT, .nullable = true, .fields = diagnosis_reply,
      .help = "as for a run: cause and suggestions" },
    { "usage", FIELD_OBJECT, .fields = usage_reply, .help = "resources that the cell used" },
    { "limits_hit", FIELD_STRINGS, .help = "keys of limits that were reached" },
    { "network", FIELD_OBJECT, .nullable = true, .fields = network_reply,
      .help = "the connections of the cell; null if the session has no network" },
    { "timings", FIELD_OBJECT, .fields = timings_reply, .help = "the times of the cell" },
    { "notes", FIELD_STRINGS, ALWAYS, .help = "sentences about the end of the cell" },
    { "rolled_back", FIELD_BOOL,
      .help = "in GET cells: true if the state of the session lacks its effects" },
    { "rolled_back_by", FIELD_OBJECT, .fields = rolled_back_reply,
      .help = "of a cell that was rolled back: the reason" },
    { "metadata", FIELD_ANY, .nullable = true, .help = "as in the request" },
    { .schema = "Cell", .help = "A cell that is over" },
};

static const char *const cell_event_words[] = { "waiting", "queued",  "started",   "stdout",
                                                "stderr",  "network", "display",   "update_display",
                                                "clear",   "result",  "error",     "input_request",
                                                "note",    "done",    "keepalive", NULL };
static const struct api_field cell_end_reply[] = {
    { "session", FIELD_STRING, ALWAYS, .help = "id of the session" },
    { "cell", FIELD_INT, ALWAYS, .help = "number of the cell" },
    { "status", FIELD_STRING, ALWAYS, .one_of = status_words, .help = "as in the cell" },
    { "notes", FIELD_STRINGS, ALWAYS, .help = "sentences about the end of the cell" },
    { .schema = "CellEnd", .fields = result_reply, .help = "A cell without its outputs" },
};
const struct api_field cell_event_reply[] = {
    { "event", FIELD_STRING, ALWAYS, .one_of = cell_event_words, .help = "kind of the event" },
    { "seq", FIELD_INT, .help = "grows, not always by one; keepalive has none" },
    { "id", FIELD_STRING, .help = "of waiting, queued, started: id of the run" },
    { "approval", FIELD_ANY, .help = "of waiting: the approval that the cell waits for" },
    { "started_at", FIELD_STRING, .help = "of started: time at which the cell started" },
    { "time_ms", FIELD_NUMBER, .help = "time since the start" },
    { "data", FIELD_ANY,
      .help = "of stdout, stderr: a piece of the output; of display, update_display, result: "
              "representations by MIME type" },
    { "data_base64", FIELD_STRING, .help = "in place of data, if the output is not UTF-8" },
    { "display_id", FIELD_STRING, .help = "of display, update_display: its id" },
    { "metadata", FIELD_ANY, .help = "of display, update_display, result: of the program" },
    { "cut", FIELD_BOOL, .help = "true: displays, or parts of this one, were dropped here" },
    { "left_out", FIELD_STRING, .help = "the MIME types that were dropped" },
    { "execution_count", FIELD_INT, .help = "of result: the number in In[] and Out[]" },
    { "wait", FIELD_BOOL, .help = "of clear: true: when the next display comes" },
    { "name", FIELD_STRING, .help = "of error: its type, such as ValueError" },
    { "message", FIELD_STRING, .help = "of error: its message" },
    { "traceback", FIELD_STRING, .help = "of error: as text without colours" },
    { "prompt", FIELD_STRING, .help = "of input_request: the question" },
    { "password", FIELD_BOOL, .help = "of input_request: true: the answer is not shown" },
    { "text", FIELD_STRING, .help = "of note: a sentence" },
    { "connection", FIELD_OBJECT, .fields = connection_reply,
      .help = "of network: a connection that began or ended, or was refused" },
    { "result", FIELD_OBJECT, .fields = cell_end_reply,
      .help = "of done: the end of the cell, without its outputs" },
    { .schema = "CellEvent", .help = "An event of a cell" },
};

/* A reason of ours has the shape of an error of the code. */
static void put_reason(json_t *o, const json_t *result)
{
    const char *reason = json_string_value(json_object_get(result, "error"));
    if (reason && !json_is_object(json_object_get(o, "error")))
        json_put(o, "error",
                 json_pack("{s:O, s:s, s:s}", "name", json_object_get(result, "verdict"), "message",
                           reason, "traceback", ""));
}

json_t *cell_object(const json_t *result, const struct journal *j, size_t *room)
{
    static const char *const keys[] = { "id",
                                        "session",
                                        "cell",
                                        "state",
                                        "status",
                                        "verdict",
                                        "stdout_truncated",
                                        "stderr_truncated",
                                        "diagnosis",
                                        "usage",
                                        "limits_hit",
                                        "network",
                                        "timings",
                                        "notes",
                                        "metadata" };
    json_t *o = json_object();
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        (void)json_object_set(o, keys[i], json_object_get(result, keys[i]));
    if (!json_object_get(o, "session")) /* it was rejected, or never begun */
        (void)json_object_set(o, "session", json_object_get(result, "thread_id"));
    if (!json_object_get(o, "cell"))
        json_put(o, "cell", json_null());
    if (!json_object_get(o, "status"))
        json_put(o, "status", json_string("lost"));
    result_add_journal(o, j, RUN_INLINE_MAX);
    event_add_outputs(o, j, room);
    put_reason(o, result);
    return o;
}

json_t *cell_row_object(const struct run_record *r, const char *session, int output_dir_fd,
                        size_t *room)
{
    struct journal j;
    struct err e;
    json_auto_t *request = json_loads(r->request ? r->request : "{}", JSON_ALLOW_NUL, NULL);
    json_auto_t *result = r->result ? json_loads(r->result, JSON_ALLOW_NUL, NULL) : json_object();
    journal_init(&j, output_dir_fd);
    if (r->result &&
        journal_open(&j, r->journal_in_file ? NULL : &r->journal, output_dir_fd, r->id, &e)) {
        journal_done(&j);
        journal_init(&j, output_dir_fd);
    }
    json_t *o = cell_object(result, &j, room);
    journal_done(&j);
    json_put(o, "id", json_text_or_null(r->id));
    json_put(o, "session", json_string(session));
    if (r->thread && strcmp(r->thread, session) != 0)
        json_put(o, "adopted_from", json_string(r->thread));
    json_put(o, "state", json_string(run_state_word(r->state)));
    json_put(o, "verdict", json_text_or_null(r->verdict));
    (void)json_object_set(o, "cell", json_object_get(request, "cell"));
    json_put(o, "code", json_text_or_null(r->code));
    if (r->state != RUN_FINISHED)
        json_put(o, "status", r->state == RUN_INTERRUPTED ? json_string("lost") : json_null());
    return o;
}
