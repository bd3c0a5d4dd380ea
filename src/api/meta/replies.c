#include "api/meta/replies.h"

#include "api/approvals/approvals_impl.h"
#include "normalise/normalise.h"
#include "spec/bundle.h"
#include "spec/pool.h"
#include "spec/verdict.h"

#define ALWAYS  .required = true
#define OR_NULL .required = true, .nullable = true

/* ---- words ---- */
static const char *const state_words[] = {
#define X(id, word) word,
    RUN_STATE_TABLE(X)
#undef X
        NULL,
};
static const char *const status_words[] = {
#define X(id, word, why) word,
    OUTPUT_STATUS_TABLE(X)
#undef X
        NULL,
};
static const char *const layer_words[] = {
#define X(id, word, what) word,
    LAYER_TABLE(X)
#undef X
        NULL,
};
static const char *const all_decisions[] = {
#define X(id, word) word,
    DECISION_TABLE(X)
#undef X
        NULL,
};
static const char *const start_words[] = {
#define X(id, word) word,
    START_TABLE(X)
#undef X
        NULL,
};
static const char *const zygote_words[] = { "off", "booting", "up", "failed", NULL };
static const char *const level_words[] = { "jar", "rootless", "process", NULL };
static const char *const event_words[] = { "waiting", "queued", "started",   "stdout",
                                           "stderr",  "done",   "keepalive", NULL };
static const char *const group_event_words[] = { "result", "done", NULL };
static const char *const approval_states[] = { "pending", "decided", NULL };
static const char *const process_statuses[] = { "completed", "error", "timeout", NULL };

/* ---- runs ---- */
const struct api_field usage_reply[] = {
    { "wall_ms", FIELD_NUMBER, ALWAYS, .help = "from its start to its end" },
    { "cpu_ms", FIELD_NUMBER, ALWAYS, .help = "of the whole tree of processes" },
    { "memory_peak_bytes", FIELD_INT, ALWAYS, .help = "the most at a time" },
    { "pids_peak", FIELD_INT, .help = "the most processes and threads at a time" },
    { 0 },
};
static const struct api_field compile_reply[] = {
    { "verdict", FIELD_STRING, ALWAYS, .one_of = verdict_words,
      .help = "ok, compile_error, or the limit that it met" },
    { "exit_code", FIELD_INT, ALWAYS, .help = "the compiler's own, 128 + signal, 124 or 137" },
    { "stdout", FIELD_DATA, ALWAYS, .help = "what it printed, up to 64 KiB" },
    { "stderr", FIELD_DATA, ALWAYS, .help = "the same of stderr: warnings, and errors" },
    { "stdout_base64", FIELD_STRING, .help = "the exact bytes, where they are not UTF-8" },
    { "stderr_base64", FIELD_STRING, .help = "the exact bytes, where they are not UTF-8" },
    { "stdout_cut", FIELD_BOOL, ALWAYS, .help = "true when it printed more than is shown" },
    { "stderr_cut", FIELD_BOOL, ALWAYS, .help = "the same of stderr" },
    { "usage", FIELD_OBJECT, ALWAYS, .fields = usage_reply,
      .help = "what it cost, when it was done" },
    { "limits_hit", FIELD_STRINGS, ALWAYS, .help = "keys of compile_limits that it met" },
    { "cached", FIELD_BOOL, ALWAYS,
      .help = "true when the same program had been compiled before, or was just being" },
    { "key", FIELD_STRING, OR_NULL, .help = "of what it made, in the cache" },
    { 0 },
};
static const struct api_field isolation_reply[] = {
    { "level", FIELD_STRING, ALWAYS, .one_of = level_words, .help = "what the jar was built with" },
    { "layers", FIELD_STRINGS, ALWAYS, .one_of = layer_words, .help = "its defences" },
    { "unenforced", FIELD_STRINGS, ALWAYS,
      .help = "keys of limits that cannot be held for the whole tree here" },
    { 0 },
};
static const struct api_field file_reply[] = {
    { "name", FIELD_STRING, ALWAYS, .help = "below /sandbox" },
    { "status", FIELD_STRING, ALWAYS, .one_of = status_words, .help = "what became of it" },
    { "size", FIELD_INT, OR_NULL, .help = "in bytes; null when it was not fetched" },
    { 0 },
};
static const struct api_field timings_reply[] = {
    { "queued_at", FIELD_STRING, OR_NULL, .help = "when it was accepted" },
    { "started_at", FIELD_STRING, OR_NULL, .help = "when the program started" },
    { "finished_at", FIELD_STRING, OR_NULL, .help = "when the program ended" },
    { "queued_ms", FIELD_INT,
      .help = "how long it waited for its turn; not for an approval, nor for its compiler" },
    { 0 },
};
static const char *const language_sources[] = {
#define X(id, word) word,
    LANGUAGE_SOURCE_TABLE(X)
#undef X
        NULL,
};
static const struct api_field taken_reply[] = {
    { "language_from", FIELD_STRING, ALWAYS, .one_of = language_sources,
      .help = "what told the language" },
    { "unwrapped", FIELD_BOOL, ALWAYS,
      .help = "whether the program is a part of the code that was sent" },
    { "blocks", FIELD_INT, ALWAYS, .help = "fenced blocks in it" },
    { "blocks_taken", FIELD_INT, ALWAYS, .help = "how many of them are the program" },
    { 0 },
};

static const struct api_field column_reply[] = {
    { "name", FIELD_STRING, ALWAYS, .help = "as the query calls it; cut at 200 bytes" },
    { "type", FIELD_STRING, ALWAYS, .help = "as the database calls it" },
    { 0 },
};
static const struct api_field table_reply[] = {
    { "columns", FIELD_OBJECTS, ALWAYS, .fields = column_reply, .help = "from left to right" },
    { "rows", FIELD_ANY, ALWAYS,
      .help = "lists of values: null, true or false, numbers up to 2^53, else text; bytes are "
              "{\"base64\": text}" },
    { "row_count", FIELD_INT, ALWAYS, .help = "of the whole result" },
    { "truncated", FIELD_BOOL, ALWAYS,
      .help = "true when rows has fewer: 1,000 of a result and 1 MiB of a run are kept" },
    { "line", FIELD_INT, .help = "of the file, where the statement begins" },
    { 0 },
};

static const struct api_field hot_function_reply[] = {
    { "function", FIELD_STRING, ALWAYS, .help = "its name" },
    { "file", FIELD_STRING, ALWAYS, .help = "the program's own below /sandbox, others absolute" },
    { "line", FIELD_INT, ALWAYS, .help = "where it begins" },
    { "self_ms", FIELD_NUMBER, ALWAYS, .help = "in the function itself" },
    { "total_ms", FIELD_NUMBER, ALWAYS, .help = "with what it called" },
    { "percent", FIELD_NUMBER, ALWAYS, .help = "self_ms of sampled_ms" },
    { 0 },
};
static const struct api_field hot_line_reply[] = {
    { "file", FIELD_STRING, ALWAYS, .help = "of the program" },
    { "line", FIELD_INT, ALWAYS, .help = "counted from 1" },
    { "text", FIELD_STRING, ALWAYS, .help = "the line" },
    { "self_ms", FIELD_NUMBER, ALWAYS, .help = "there, and in libraries called from there" },
    { "percent", FIELD_NUMBER, ALWAYS, .help = "self_ms of sampled_ms" },
    { 0 },
};
static const struct api_field stack_reply[] = {
    { "stack", FIELD_STRING, ALWAYS,
      .help = "\"function file:line\" from the outermost on, with ; between" },
    { "ms", FIELD_NUMBER, ALWAYS, .help = "spent there" },
    { 0 },
};
static const struct api_field moment_reply[] = {
    { "ms", FIELD_NUMBER, ALWAYS, .help = "since the start" },
    { "cpu_percent", FIELD_NUMBER, ALWAYS, .help = "since the moment before; 100 is one CPU" },
    { "memory_bytes", FIELD_INT, ALWAYS, .help = "then, of all processes" },
    { "pids", FIELD_INT, ALWAYS, .help = "processes and threads then" },
    { 0 },
};
static const struct api_field profile_reply[] = {
    { "sampled_ms", FIELD_NUMBER, ALWAYS,
      .help = "time that was looked at from inside; 0 where a language has no profiler" },
    { "samples", FIELD_INT, ALWAYS, .help = "how often" },
    { "functions", FIELD_OBJECTS, ALWAYS, .fields = hot_function_reply,
      .help = "up to 50, the program's own first, then by self_ms" },
    { "lines", FIELD_OBJECTS, ALWAYS, .fields = hot_line_reply, .help = "up to 50, by self_ms" },
    { "stacks", FIELD_OBJECTS, ALWAYS, .fields = stack_reply, .help = "up to 200, by ms" },
    { "timeline", FIELD_OBJECTS, ALWAYS, .fields = moment_reply,
      .help = "up to 240 moments, from outside, every language" },
    { "note", FIELD_STRING, OR_NULL, .help = "what could not be measured" },
    { 0 },
};

/* clang-format off */
#define STREAM_ROWS                                                                             \
    { "stdout", FIELD_DATA, .help = "what it printed, up to 1 MiB; not in events" },            \
    { "stderr", FIELD_DATA, .help = "the same of stderr" },                                     \
    { "stdout_base64", FIELD_STRING, .help = "the exact bytes, where they are not UTF-8" },     \
    { "stderr_base64", FIELD_STRING, .help = "the exact bytes, where they are not UTF-8" },     \
    { "stdout_cut", FIELD_BOOL,                                                                 \
      .help = "true when there is more than is shown: GET /v1/runs/{id}/stdout has all" },      \
    { "stderr_cut", FIELD_BOOL, .help = "the same of stderr" }
/* clang-format on */

const struct api_field result_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "of the run" },
    { "state", FIELD_STRING, .one_of = state_words, .help = "finished" },
    { "language", FIELD_STRING, ALWAYS, .help = "its name in GET /v1/languages" },
    { "version", FIELD_STRING, OR_NULL, .help = "of what ran it" },
    { "verdict", FIELD_STRING, ALWAYS, .one_of = verdict_words, .help = "how it ended" },
    { "success", FIELD_BOOL, ALWAYS, .help = "whether the verdict is ok" },
    { "exit_code", FIELD_INT, ALWAYS, .help = "the program's own, 128 + signal, 124 or 137" },
    { "signal", FIELD_STRING, OR_NULL, .help = "what ended it, such as SIGSEGV" },
    STREAM_ROWS,
    { "stdout_truncated", FIELD_BOOL, ALWAYS, .help = "true when limits.output cut it" },
    { "stderr_truncated", FIELD_BOOL, ALWAYS, .help = "true when limits.output cut it" },
    { "stdout_bytes", FIELD_INT, .help = "all that is kept of it" },
    { "stderr_bytes", FIELD_INT, .help = "all that is kept of it" },
    { "usage", FIELD_OBJECT, ALWAYS, .fields = usage_reply, .help = "what it cost" },
    { "limits", FIELD_LIMIT_VALUES, ALWAYS, .help = "what it might have cost" },
    { "limits_hit", FIELD_STRINGS, ALWAYS, .help = "keys of limits that it met" },
    { "isolation", FIELD_OBJECT, ALWAYS, .fields = isolation_reply, .help = "what held it" },
    { "files", FIELD_OBJECTS, ALWAYS, .fields = file_reply, .help = "the outputs asked for" },
    { "start", FIELD_STRING, OR_NULL, .one_of = start_words,
      .help =
          "how it came to run: in a jar that was ready, forked into a new one, or from nothing" },
    { "started_at", FIELD_STRING, OR_NULL, .help = "null when it never started" },
    { "timings", FIELD_OBJECT, .fields = timings_reply, .help = "when what happened" },
    { "compile", FIELD_OBJECT, OR_NULL, .fields = compile_reply,
      .help = "what the compiler did; null where there is none" },
    { "diagnosis", FIELD_OBJECT, OR_NULL, .fields = diagnosis_reply,
      .help = "what went wrong and what may help; null when it ended well" },
    { "tables", FIELD_OBJECTS, OR_NULL, .fields = table_reply,
      .help = "what queries answered; null where nothing is asked in SQL" },
    { "profile", FIELD_OBJECT, OR_NULL, .fields = profile_reply,
      .help = "where time and memory went, if it was asked for" },
    { "thread_id", FIELD_STRING, .nullable = true, .help = "as in the request" },
    { "artifact_id", FIELD_STRING, .nullable = true, .help = "the artifact that was run" },
    { "batch_id", FIELD_STRING, .nullable = true, .help = "the batch it belongs to" },
    { "metadata", FIELD_ANY, .nullable = true, .help = "as in the request" },
    { "taken", FIELD_OBJECT, .fields = taken_reply,
      .help = "what was made of `code`, where it was not all of it or came without a language" },
    { "error", FIELD_STRING, .help = "why, for internal_error and rejected" },
    { "error_code", FIELD_STRING, .help = "of an internal_error" },
    { 0 },
};
const struct api_field run_state_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "of the run" },
    { "state", FIELD_STRING, ALWAYS, .one_of = state_words, .help = "not finished" },
    { "language", FIELD_STRING, OR_NULL, .help = "its name in GET /v1/languages" },
    { "verdict", FIELD_STRING, OR_NULL, .one_of = verdict_words, .help = "null" },
    { "timings", FIELD_OBJECT, .fields = timings_reply, .help = "when what happened" },
    { "stdout_bytes", FIELD_INT, .help = "so far" },
    { "stderr_bytes", FIELD_INT, .help = "so far" },
    STREAM_ROWS,
    { 0 },
};
const struct api_field run_accepted_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "for GET /v1/runs/{id}" },
    { "state", FIELD_STRING, ALWAYS, .one_of = state_words, .help = "at this moment" },
    { "approval", FIELD_ANY, .help = "what it waits for, when it waits for a person" },
    { 0 },
};
const struct api_field run_row_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "of the run" },
    { "state", FIELD_STRING, ALWAYS, .one_of = state_words, .help = "at this moment" },
    { "language", FIELD_STRING, ALWAYS, .help = "its name in GET /v1/languages" },
    { "verdict", FIELD_STRING, OR_NULL, .one_of = verdict_words, .help = "null until it is over" },
    { "thread_id", FIELD_STRING, OR_NULL, .help = "as in the request" },
    { "artifact_id", FIELD_STRING, OR_NULL, .help = "the artifact that was run" },
    { "batch_id", FIELD_STRING, OR_NULL, .help = "the batch it belongs to" },
    { "surface", FIELD_STRING, OR_NULL, .help = "where it was asked for: v1, nemo, artifacts" },
    { "key", FIELD_STRING, OR_NULL, .help = "name of the API key" },
    { "created_at", FIELD_STRING, OR_NULL, .help = "when it was accepted" },
    { "started_at", FIELD_STRING, OR_NULL, .help = "when the program started" },
    { "finished_at", FIELD_STRING, OR_NULL, .help = "when the program ended" },
    { "usage", FIELD_OBJECT, OR_NULL, .fields = usage_reply, .help = "null until it is over" },
    { "error", FIELD_STRING, .help = "why there is no result, of an interrupted one" },
    { 0 },
};
const struct api_field run_list_reply[] = {
    { "runs", FIELD_OBJECTS, ALWAYS, .fields = run_row_reply, .help = "newest first" },
    { "next_cursor", FIELD_STRING, OR_NULL, .help = "for the next page; null at the end" },
    { 0 },
};
const struct api_field stdin_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "of the run" },
    { "accepted", FIELD_INT, ALWAYS, .help = "how many bytes" },
    { 0 },
};
const struct api_field files_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "of the run" },
    { "files", FIELD_OBJECTS, ALWAYS, .fields = file_reply, .help = "the outputs asked for" },
    { 0 },
};
const struct api_field event_reply[] = {
    { "event", FIELD_STRING, ALWAYS, .one_of = event_words, .help = "what happened" },
    { "seq", FIELD_INT, .help = "grows, not always by one; keepalive has none" },
    { "id", FIELD_STRING, .help = "of waiting, queued, started: the run's" },
    { "approval", FIELD_ANY, .help = "of waiting: what it waits for" },
    { "started_at", FIELD_STRING, .help = "of started" },
    { "data", FIELD_DATA, .help = "of stdout, stderr: what was printed" },
    { "data_base64", FIELD_STRING, .help = "in place of data, where it is not UTF-8" },
    { "time_ms", FIELD_NUMBER, .help = "of stdout, stderr: since the start" },
    { "result", FIELD_OBJECT, .fields = result_reply, .help = "of done: without the streams" },
    { 0 },
};

/* ---- many runs ---- */
static const struct api_field difference_reply[] = {
    { "line", FIELD_INT, ALWAYS, .help = "the first that differs" },
    { "expected", FIELD_DATA, OR_NULL, .help = "null when nothing more was" },
    { "got", FIELD_DATA, OR_NULL, .help = "null when nothing more was printed" },
    { 0 },
};
static const struct api_field batch_result_reply[] = {
    { "index", FIELD_INT, ALWAYS, .help = "in the request" },
    { "name", FIELD_STRING, .help = "of the input" },
    { "state", FIELD_STRING, .help = "finished; failed and skipped have no verdict" },
    { "passed", FIELD_BOOL, .nullable = true, .help = "null where nothing was expected" },
    { "difference", FIELD_OBJECT, .fields = difference_reply, .help = "from what was expected" },
    { "error", FIELD_STRING, .help = "why it could not be run" },
    { 0 },
};
static const struct api_field summary_reply[] = {
    { "total", FIELD_INT, ALWAYS, .help = "how many there are" },
    { "ok", FIELD_INT, ALWAYS, .help = "those that ended well, and as expected" },
    { "failed", FIELD_INT, ALWAYS, .help = "those that did not" },
    { "passed", FIELD_INT, ALWAYS, .help = "those that printed what was expected" },
    { "cancelled", FIELD_INT, ALWAYS, .help = "by stop_on_failure" },
    { "skipped", FIELD_INT, ALWAYS, .help = "never started, after a failure" },
    { "wall_ms", FIELD_NUMBER, ALWAYS, .help = "for all of them" },
    { 0 },
};
const struct api_field batch_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "for GET /v1/batches/{id}" },
    { "results", FIELD_OBJECTS, ALWAYS, .fields = batch_result_reply, .help = "in order" },
    { "summary", FIELD_OBJECT, ALWAYS, .fields = summary_reply, .help = "counts" },
    { 0 },
};
const struct api_field batch_event_reply[] = {
    { "event", FIELD_STRING, ALWAYS, .one_of = group_event_words, .help = "what happened" },
    { "seq", FIELD_INT, ALWAYS, .help = "1, 2, …" },
    { "index", FIELD_INT, .help = "of result: in the request" },
    { "result", FIELD_OBJECT, .fields = batch_result_reply, .help = "of result" },
    { "id", FIELD_STRING, .help = "of done: the batch's" },
    { "summary", FIELD_OBJECT, .fields = summary_reply, .help = "of done" },
    { 0 },
};
const struct api_field batch_runs_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "of the batch or comparison" },
    { "finished", FIELD_BOOL, ALWAYS, .help = "whether all of them are over" },
    { "total", FIELD_INT, OR_NULL, .help = "how many there will be, while it is at work" },
    { "results", FIELD_OBJECTS, ALWAYS, .fields = run_row_reply, .help = "its runs so far" },
    { 0 },
};
static const struct api_field compared_run_reply[] = {
    { "input", FIELD_STRING, ALWAYS, .help = "name of the input" },
    { "run_id", FIELD_STRING, .help = "for GET /v1/runs/{id}" },
    { "verdict", FIELD_STRING, .one_of = verdict_words, .help = "how it ended" },
    { "exit_code", FIELD_INT, .help = "as in a result" },
    { "signal", FIELD_STRING, .nullable = true, .help = "as in a result" },
    STREAM_ROWS,
    { "stdout_truncated", FIELD_BOOL, .help = "true when limits.output cut it" },
    { "stderr_truncated", FIELD_BOOL, .help = "true when limits.output cut it" },
    { "usage", FIELD_OBJECT, .fields = usage_reply, .help = "what it cost" },
    { "limits_hit", FIELD_STRINGS, .help = "keys of limits that it met" },
    { "error", FIELD_STRING, .help = "why it could not be run" },
    { "state", FIELD_STRING, .help = "skipped, when it was never started" },
    { 0 },
};
static const struct api_field variant_reply[] = {
    { "name", FIELD_STRING, ALWAYS, .help = "as given, or variant-N" },
    { "language", FIELD_STRING, OR_NULL, .help = "its name in GET /v1/languages" },
    { "version", FIELD_STRING, OR_NULL, .help = "of what ran it" },
    { "runs", FIELD_OBJECTS, ALWAYS, .fields = compared_run_reply, .help = "one for each input" },
    { "total", FIELD_OBJECT, ALWAYS, .fields = usage_reply, .help = "of all of its runs" },
    { 0 },
};
static const struct api_field agreement_reply[] = {
    { "input", FIELD_STRING, ALWAYS, .help = "name of the input" },
    { "same_output", FIELD_BOOL, ALWAYS, .help = "whether all ended well and alike" },
    { "groups", FIELD_ANY, ALWAYS, .help = "lists of names of variants that did the same" },
    { 0 },
};
static const struct api_field fastest_reply[] = {
    { "input", FIELD_STRING, ALWAYS, .help = "name of the input" },
    { "variant", FIELD_STRING, OR_NULL, .help = "null when none ended well" },
    { "wall_ms", FIELD_NUMBER, OR_NULL, .help = "how long it took" },
    { 0 },
};
const struct api_field comparison_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "for GET /v1/batches/{id}" },
    { "inputs", FIELD_STRINGS, ALWAYS, .help = "their names" },
    { "variants", FIELD_OBJECTS, ALWAYS, .fields = variant_reply, .help = "side by side" },
    { "agreement", FIELD_OBJECTS, ALWAYS, .fields = agreement_reply, .help = "by input" },
    { "fastest", FIELD_OBJECTS, ALWAYS, .fields = fastest_reply, .help = "by input" },
    { "wall_ms", FIELD_NUMBER, ALWAYS, .help = "for all of them" },
    { 0 },
};
const struct api_field comparison_event_reply[] = {
    { "event", FIELD_STRING, ALWAYS, .one_of = group_event_words, .help = "what happened" },
    { "seq", FIELD_INT, ALWAYS, .help = "1, 2, …" },
    { "index", FIELD_INT, .help = "of result: which run" },
    { "variant", FIELD_STRING, .help = "of result: name of the variant" },
    { "result", FIELD_OBJECT, .fields = compared_run_reply, .help = "of result" },
    { 0 },
};

/* ---- approvals ---- */
static const struct api_field risk_reply[] = {
    { "kind", FIELD_STRING, ALWAYS, .help = "of risk, such as network" },
    { "line", FIELD_INT, ALWAYS, .help = "in the code" },
    { "column", FIELD_INT, ALWAYS, .help = "in the line" },
    { "excerpt", FIELD_STRING, ALWAYS, .help = "the line, or part of it" },
    { "why", FIELD_STRING, ALWAYS, .help = "what it may do" },
    { "file", FIELD_STRING, .help = "which it is in, when that is not the main one" },
    { "files", FIELD_INT, .help = "of not_looked_at: how many were not" },
    { 0 },
};
const struct api_field approval_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "of the request" },
    { "thread_id", FIELD_STRING, OR_NULL, .help = "the thread that asks" },
    { "run_id", FIELD_STRING, OR_NULL, .help = "the run that waits" },
    { "tool", FIELD_STRING, OR_NULL, .help = "what is asked for: execute" },
    { "input", FIELD_ANY, OR_NULL, .help = "the code, its language and what comes with it" },
    { "reason", FIELD_STRING, OR_NULL, .help = "why a person is asked" },
    { "risks", FIELD_OBJECTS, OR_NULL, .fields = risk_reply, .help = "what to look at" },
    { "state", FIELD_STRING, ALWAYS, .one_of = approval_states, .help = "pending, or decided" },
    { "decision", FIELD_STRING, ALWAYS, .one_of = all_decisions, .help = "pending until then" },
    { "created_at", FIELD_STRING, OR_NULL, .help = "when it was asked" },
    { "expires_at", FIELD_STRING, OR_NULL, .help = "when the answer will be no" },
    { "decided_at", FIELD_STRING, OR_NULL, .help = "when it was decided" },
    { "decided_by", FIELD_STRING, OR_NULL, .help = "who did" },
    { "decided_reason", FIELD_STRING, OR_NULL, .help = "and why" },
    { "edited_input", FIELD_ANY, OR_NULL, .help = "what runs in place of input" },
    { "remember", FIELD_STRING, OR_NULL, .help = "as in the decision" },
    { "diff", FIELD_ANY, .nullable = true, .help = "what an edit changed, line by line" },
    { 0 },
};
const struct api_field approval_list_reply[] = {
    { "approvals", FIELD_OBJECTS, ALWAYS, .fields = approval_reply, .help = "newest first" },
    { "next_cursor", FIELD_STRING, OR_NULL, .help = "for the next page; null at the end" },
    { 0 },
};
const struct api_field rule_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "of the rule" },
    { "action", FIELD_STRING, ALWAYS, .help = "allow or deny" },
    { "thread_id", FIELD_STRING, OR_NULL, .help = "null: of every thread" },
    { "tool", FIELD_STRING, ALWAYS, .help = "what is asked for" },
    { "language", FIELD_STRING, OR_NULL, .help = "null: every language" },
    { "match", FIELD_STRING, ALWAYS, .help = "any, prefix or contains" },
    { "text", FIELD_STRING, OR_NULL, .help = "what prefix and contains look for" },
    { "made_by", FIELD_STRING, OR_NULL, .help = "who made it" },
    { "created_at", FIELD_STRING, OR_NULL, .help = "when" },
    { 0 },
};
const struct api_field rule_list_reply[] = {
    { "rules", FIELD_OBJECTS, ALWAYS, .fields = rule_reply, .help = "all of them" },
    { 0 },
};
const struct api_field pending_approval_reply[] = {
    { "thread_id", FIELD_STRING, ALWAYS, .help = "as asked" },
    { "pending", FIELD_BOOL, ALWAYS, .help = "false: nothing else is told" },
    { "tool", FIELD_STRING, .help = "what is asked for" },
    { "input", FIELD_ANY, .help = "the code and what comes with it" },
    { "reason", FIELD_STRING, .nullable = true, .help = "why a person is asked" },
    { "risks", FIELD_OBJECTS, .nullable = true, .fields = risk_reply, .help = "what to look at" },
    { "run_id", FIELD_STRING, .nullable = true, .help = "the run that waits" },
    { "expires_at", FIELD_STRING, .nullable = true, .help = "when the answer will be no" },
    { "approval_id", FIELD_STRING, .help = "for POST /v1/approvals/{id}" },
    { 0 },
};
static const struct api_field last_run_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "of the run" },
    { "state", FIELD_STRING, ALWAYS, .one_of = state_words, .help = "at this moment" },
    { "language", FIELD_STRING, OR_NULL, .help = "its name in GET /v1/languages" },
    { "verdict", FIELD_STRING, OR_NULL, .one_of = verdict_words, .help = "null until it is over" },
    { "created_at", FIELD_STRING, OR_NULL, .help = "when it was accepted" },
    { "finished_at", FIELD_STRING, OR_NULL, .help = "when it ended" },
    { 0 },
};
static const struct api_field thread_reply[] = {
    { "status", FIELD_STRING, ALWAYS, .help = "waiting, running or idle" },
    { "pending_approval", FIELD_OBJECT, OR_NULL, .fields = pending_approval_reply,
      .help = "what it waits for" },
    { "last_run", FIELD_OBJECT, OR_NULL, .fields = last_run_reply, .help = "the newest" },
    { 0 },
};
const struct api_field thread_state_reply[] = {
    { "thread_id", FIELD_STRING, ALWAYS, .help = "as asked" },
    { "state", FIELD_OBJECT, OR_NULL, .fields = thread_reply, .help = "null when it is not known" },
    { "message", FIELD_STRING, .help = "that it is not known" },
    { 0 },
};
const struct api_field interrupt_reply[] = {
    { "thread_id", FIELD_STRING, ALWAYS, .help = "as asked" },
    { "decision", FIELD_STRING, ALWAYS, .one_of = decision_words, .help = "as asked" },
    { "tool", FIELD_STRING, ALWAYS, .help = "what was asked for" },
    { "status", FIELD_STRING, ALWAYS, .help = "resumed or rejected" },
    { "edited_input", FIELD_ANY, .help = "of edit: what runs" },
    { "approval_id", FIELD_STRING, ALWAYS, .help = "of the request" },
    { "run_id", FIELD_STRING, ALWAYS, .help = "of the run" },
    { 0 },
};

/* ---- artifacts, /execute ---- */
const struct api_field artifact_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "of the artifact" },
    { "conversation_id", FIELD_STRING, OR_NULL, .help = "the conversation it belongs to" },
    { "title", FIELD_STRING, ALWAYS, .help = "what it is called" },
    { "content", FIELD_STRING, ALWAYS, .help = "its text" },
    { "language", FIELD_STRING, ALWAYS, .help = "as given" },
    { "artifact_type", FIELD_STRING, ALWAYS, .help = "such as code or html" },
    { "version", FIELD_INT, ALWAYS, .help = "1, 2, …" },
    { "parent_artifact_id", FIELD_STRING, OR_NULL, .help = "what it is a copy of" },
    { "created_at", FIELD_STRING, OR_NULL, .help = "when it was made" },
    { "updated_at", FIELD_STRING, OR_NULL, .help = "when this version was" },
    { 0 },
};
const struct api_field detected_reply[] = {
    { "content", FIELD_STRING, ALWAYS, .help = "the text" },
    { "language", FIELD_STRING, ALWAYS, .help = "of its fence, or guessed" },
    { "title", FIELD_STRING, ALWAYS, .help = "from the line before it, or made up" },
    { "artifact_type", FIELD_STRING, ALWAYS, .help = "such as code or html" },
    { 0 },
};
static const struct api_field artifact_run_reply[] = {
    { "success", FIELD_BOOL, ALWAYS, .help = "whether it ended well" },
    { "output", FIELD_DATA, ALWAYS, .help = "what it printed" },
    { "error", FIELD_DATA, OR_NULL, .help = "what it printed on stderr, or why it ended" },
    { "execution_time", FIELD_NUMBER, ALWAYS, .help = "in seconds" },
    { "return_code", FIELD_INT, ALWAYS, .help = "-1: time was up; -2: it cannot be run" },
    { "approval", FIELD_ANY, .help = "who allowed it, when a person was asked" },
    { 0 },
};
const struct api_field execution_reply[] = {
    { "artifact_id", FIELD_STRING, ALWAYS, .help = "of the artifact" },
    { "title", FIELD_STRING, ALWAYS, .help = "what it is called" },
    { "language", FIELD_STRING, ALWAYS, .help = "as given" },
    { "execution", FIELD_OBJECT, ALWAYS, .fields = artifact_run_reply, .help = "how it went" },
    { 0 },
};
const struct api_field execute_reply[] = {
    { "process_status", FIELD_STRING, ALWAYS, .one_of = process_statuses, .help = "how it ended" },
    { "stdout", FIELD_DATA, ALWAYS, .help = "what it printed" },
    { "stderr", FIELD_DATA, ALWAYS, .help = "what it printed there, or why it ended" },
    { 0 },
};
const struct api_field status_reply[] = {
    { "status", FIELD_STRING, ALWAYS, .help = "ok" },
    { 0 },
};

/* ---- keys, the service ---- */
/* clang-format off */
#define KEY_ROWS                                                                                \
    { "name", FIELD_STRING, ALWAYS, .help = "what it is called" },                              \
    { "scopes", FIELD_STRINGS, ALWAYS, .help = "what it may do" },                              \
    { "max_runs", FIELD_INT, ALWAYS, .help = "at a time; 0 is the setting runs.max_per_key" },  \
    { "created_at", FIELD_STRING, OR_NULL, .help = "when it was made" }
/* clang-format on */
const struct api_field key_reply[] = {
    KEY_ROWS,
    { 0 },
};
const struct api_field new_key_reply[] = {
    KEY_ROWS,
    { "key", FIELD_STRING, ALWAYS, .help = "its text, shown this once" },
    { 0 },
};
const struct api_field key_list_reply[] = {
    { "keys", FIELD_OBJECTS, ALWAYS, .fields = key_reply, .help = "all of them" },
    { 0 },
};
const struct api_field key_removed_reply[] = {
    { "name", FIELD_STRING, ALWAYS, .help = "what it was called" },
    { "removed", FIELD_BOOL, ALWAYS, .help = "true" },
    { 0 },
};
const struct api_field language_reply[] = {
    { "name", FIELD_STRING, ALWAYS, .help = "for `language`" },
    { "aliases", FIELD_STRINGS, ALWAYS, .help = "accepted too" },
    { "extensions", FIELD_STRINGS, ALWAYS, .help = "of files it is inferred from" },
    { "version", FIELD_STRING, OR_NULL,
      .help = "null when it is not installed, or has not answered yet" },
    { "installed", FIELD_BOOL, ALWAYS, .help = "whether it can be run here" },
    { "install", FIELD_STRING, ALWAYS, .help = "the command that installs it" },
    { "main_file", FIELD_STRING, ALWAYS,
      .help = "the name that `code` gets in /sandbox; Java's is that of its public class, if it "
              "has one" },
    { "compiled", FIELD_BOOL, ALWAYS, .help = "whether a compiler runs first" },
    { "warm", FIELD_STRINGS, ALWAYS, .help = "kinds of interpreters that wait for it, booted" },
    { 0 },
};
const struct api_field health_reply[] = {
    { "status", FIELD_STRING, ALWAYS, .help = "ok or degraded" },
    { "version", FIELD_STRING, ALWAYS, .help = "of the service" },
    { "isolation", FIELD_OBJECT, OR_NULL, .fields = isolation_reply, .help = "of runs" },
    { "uptime_s", FIELD_INT, ALWAYS, .help = "since its start" },
    { "why", FIELD_STRING, .help = "what is wrong" },
    { 0 },
};
static const struct api_field stat_row_reply[] = {
    { "language", FIELD_STRING, ALWAYS, .help = "of these runs" },
    { "verdict", FIELD_STRING, ALWAYS, .help = "of these runs" },
    { "runs", FIELD_INT, ALWAYS, .help = "how many" },
    { "wall_ms_mean", FIELD_NUMBER, ALWAYS, .help = "from start to end" },
    { "wall_ms_max", FIELD_NUMBER, ALWAYS, .help = "the longest" },
    { "cpu_ms_mean", FIELD_NUMBER, ALWAYS, .help = "CPU time" },
    { "memory_peak_max_bytes", FIELD_INT, ALWAYS, .help = "the largest" },
    { 0 },
};
static const struct api_field now_reply[] = {
    { "running", FIELD_INT, ALWAYS, .help = "runs" },
    { "queued", FIELD_INT, ALWAYS, .help = "runs that wait for their turn" },
    { "waiting", FIELD_INT, ALWAYS, .help = "runs that wait for an approval" },
    { 0 },
};
static const struct api_field since_start_reply[] = {
    { "accepted", FIELD_INT, ALWAYS, .help = "runs" },
    { "refused", FIELD_INT, ALWAYS, .help = "because too many were there" },
    { 0 },
};
static const struct api_field http_reply[] = {
    { "connections", FIELD_INT, ALWAYS, .help = "now" },
    { "requests", FIELD_INT, ALWAYS, .help = "since the start" },
    { "refused", FIELD_INT, ALWAYS, .help = "connections, since the start" },
    { 0 },
};
static const struct api_field starts_reply[] = {
    { "warm", FIELD_INT, ALWAYS, .help = "in a jar that was ready" },
    { "hatched", FIELD_INT, ALWAYS, .help = "forked into a new one" },
    { "cold", FIELD_INT, ALWAYS, .help = "from nothing" },
    { 0 },
};
const struct api_field pool_reply[] = {
    { "zygote", FIELD_STRING, ALWAYS, .one_of = zygote_words, .help = "what is forked" },
    { "why", FIELD_STRING, OR_NULL, .help = "of failed" },
    { "ready", FIELD_INT, ALWAYS, .help = "that wait for work" },
    { "building", FIELD_INT, ALWAYS, .help = "on their way there" },
    { "target", FIELD_INT, ALWAYS, .help = "how many are to wait" },
    { "starts", FIELD_OBJECT, ALWAYS, .fields = starts_reply, .help = "of this kind" },
    { "forks", FIELD_INT, ALWAYS, .help = "of all its zygotes" },
    { "zygotes", FIELD_INT, ALWAYS, .help = "that were booted" },
    { "deaths", FIELD_INT, ALWAYS, .help = "of zygotes, by themselves" },
    { "discarded", FIELD_INT, ALWAYS, .help = "that were never used" },
    { 0 },
};
const struct api_field stats_reply[] = {
    { "since", FIELD_STRING, OR_NULL, .help = "null: everything in the history" },
    { "runs", FIELD_INT, ALWAYS, .help = "how many" },
    { "verdicts", FIELD_ANY, ALWAYS, .help = "how many of each" },
    { "languages", FIELD_ANY, ALWAYS, .help = "how many of each" },
    { "rows", FIELD_OBJECTS, ALWAYS, .fields = stat_row_reply, .help = "by language and verdict" },
    { "now", FIELD_OBJECT, ALWAYS, .fields = now_reply, .help = "what goes on" },
    { "since_start", FIELD_OBJECT, ALWAYS, .fields = since_start_reply, .help = "of the service" },
    { "http", FIELD_OBJECT, ALWAYS, .fields = http_reply, .help = "of the service" },
    { "uptime_s", FIELD_INT, ALWAYS, .help = "since its start" },
    { "starts", FIELD_OBJECT, ALWAYS, .fields = starts_reply, .help = "how programs came to run" },
    { "pools", FIELD_ANY, ALWAYS, .help = "a Pool for each kind, by its name" },
    { "memory_pressure", FIELD_BOOL, ALWAYS, .help = "true: nothing is kept ready for lack of it" },
    { 0 },
};

/* ---- errors ---- */
static const struct api_field error_inner_reply[] = {
    { "code", FIELD_STRING, ALWAYS,
      .help = "for programs, such as bad_request, not_found or busy" },
    { "message", FIELD_STRING, ALWAYS, .help = "for people: the value, and what is accepted" },
    { "field", FIELD_STRING, OR_NULL, .help = "what it is about, such as limits.memory" },
    { 0 },
};
const struct api_field error_reply[] = {
    { "error", FIELD_OBJECT, ALWAYS, .fields = error_inner_reply, .help = "what is wrong" },
    { 0 },
};
const struct api_field detail_reply[] = {
    { "detail", FIELD_STRING, ALWAYS, .help = "what is wrong" },
    { 0 },
};

const struct reply_schema reply_schemas[] = {
    { .name = "Result", .fields = result_reply, .help = "A run that is over" },
    { .name = "RunState", .fields = run_state_reply, .help = "A run that is not" },
    { .name = "RunAccepted", .fields = run_accepted_reply },
    { .name = "RunRow", .fields = run_row_reply, .help = "A run as lists show it" },
    { .name = "RunList", .fields = run_list_reply },
    { .name = "RunFiles", .fields = files_reply },
    { .name = "StdinAccepted", .fields = stdin_reply },
    { .name = "Event", .fields = event_reply, .help = "What happens to a run" },
    { .name = "Usage", .fields = usage_reply },
    { .name = "Isolation", .fields = isolation_reply },
    { .name = "OutputFile", .fields = file_reply },
    { .name = "Diagnosis",
      .fields = diagnosis_reply,
      .help = "What went wrong, where, and what may help" },
    { .name = "Diagnosed", .fields = diagnosed_reply },
    { .name = "DebugReport", .fields = debug_report_reply },
    { .name = "Batch", .fields = batch_reply },
    { "BatchResult", batch_result_reply, result_reply, "With all of a result, when it ran" },
    { .name = "BatchEvent", .fields = batch_event_reply },
    { .name = "BatchRuns", .fields = batch_runs_reply },
    { .name = "Comparison", .fields = comparison_reply },
    { .name = "ComparedRun", .fields = compared_run_reply },
    { "ComparisonEvent", comparison_event_reply, comparison_reply,
      "The last, done, has all of a comparison" },
    { .name = "Approval", .fields = approval_reply },
    { .name = "ApprovalList", .fields = approval_list_reply },
    { .name = "Risk", .fields = risk_reply },
    { .name = "Rule", .fields = rule_reply },
    { .name = "RuleList", .fields = rule_list_reply },
    { .name = "PendingApproval", .fields = pending_approval_reply },
    { .name = "ThreadState", .fields = thread_state_reply },
    { .name = "InterruptResult", .fields = interrupt_reply },
    { .name = "Artifact", .fields = artifact_reply },
    { .name = "DetectedArtifact", .fields = detected_reply },
    { "ArtifactRun", artifact_run_reply, result_reply, "With all of a result, when it ran" },
    { .name = "Execution", .fields = execution_reply },
    { .name = "ExecuteResult", .fields = execute_reply },
    { .name = "Status", .fields = status_reply },
    { .name = "Key", .fields = key_reply },
    { .name = "NewKey", .fields = new_key_reply },
    { .name = "KeyList", .fields = key_list_reply },
    { .name = "KeyRemoved", .fields = key_removed_reply },
    { .name = "Language", .fields = language_reply },
    { .name = "Health", .fields = health_reply },
    { .name = "Stats", .fields = stats_reply },
    { .name = "Pool", .fields = pool_reply, .help = "Interpreters of a kind that wait for work" },
    { .name = "Error", .fields = error_reply },
    { .name = "Detail", .fields = detail_reply },
    { 0 },
};

/* ---- routes ---- */
static const char bytes[] = "application/octet-stream", text[] = "text/plain",
                  ndjson[] = "application/x-ndjson", sse[] = "text/event-stream",
                  json[] = "application/json";

#define GET    METHOD_GET
#define POST   METHOD_POST
#define DELETE METHOD_DELETE
/* clang-format off */
const struct route_reply route_replies[] = {
    { POST,   "/v1/runs", 200, .fields = result_reply, .help = "it is over; or events, if asked for" },
    { POST,   "/v1/runs", 200, .fields = event_reply, .content_type = ndjson },
    { POST,   "/v1/runs", 200, .fields = event_reply, .content_type = sse },
    { POST,   "/v1/runs", 202, .fields = run_accepted_reply, .help = "it goes on: wait was false" },
    { GET,    "/v1/runs", 200, .fields = run_list_reply },
    { GET,    "/v1/runs/{id}", 200, .fields = result_reply },
    { GET,    "/v1/runs/{id}", 200, .fields = run_state_reply },
    { GET,    "/v1/runs/{id}", 200, .fields = run_row_reply },
    { DELETE, "/v1/runs/{id}", 202, .fields = run_accepted_reply },
    { GET,    "/v1/runs/{id}/events", 200, .fields = event_reply, .content_type = ndjson },
    { GET,    "/v1/runs/{id}/events", 200, .fields = event_reply, .content_type = sse },
    { POST,   "/v1/runs/{id}/stdin", 202, .fields = stdin_reply },
    { GET,    "/v1/runs/{id}/stdout", 200, .content_type = bytes },
    { GET,    "/v1/runs/{id}/stderr", 200, .content_type = bytes },
    { GET,    "/v1/runs/{id}/files", 200, .fields = files_reply },
    { GET,    "/v1/runs/{id}/files/{name...}", 200, .content_type = bytes },
    { GET,    "/v1/runs/{id}/debug-report", 200, .fields = debug_report_reply },
    { POST,   "/v1/diagnoses", 200, .fields = diagnosed_reply },
    { POST,   "/v1/batches", 200, .fields = batch_reply },
    { POST,   "/v1/batches", 200, .fields = batch_event_reply, .content_type = ndjson },
    { POST,   "/v1/batches", 200, .fields = batch_event_reply, .content_type = sse },
    { GET,    "/v1/batches/{id}", 200, .fields = batch_runs_reply },
    { POST,   "/v1/comparisons", 200, .fields = comparison_reply },
    { POST,   "/v1/comparisons", 200, .fields = comparison_event_reply, .content_type = ndjson },
    { POST,   "/v1/comparisons", 200, .fields = comparison_event_reply, .content_type = sse },
    { GET,    "/v1/approvals", 200, .fields = approval_list_reply },
    { GET,    "/v1/approvals/{id}", 200, .fields = approval_reply },
    { POST,   "/v1/approvals/{id}", 200, .fields = approval_reply },
    { GET,    "/v1/rules", 200, .fields = rule_list_reply },
    { POST,   "/v1/rules", 201, .fields = rule_reply },
    { DELETE, "/v1/rules/{id}", .status = 204 },
    { GET,    "/api/agent/pending-approval/{thread_id}", 200, .fields = pending_approval_reply },
    { POST,   "/api/agent/interrupt", 200, .fields = interrupt_reply },
    { GET,    "/api/agent/state/{thread_id}", 200, .fields = thread_state_reply },
    { POST,   "/api/artifacts/create", 201, .fields = artifact_reply },
    { POST,   "/api/artifacts/detect", 200, .fields = detected_reply, .list = true },
    { GET,    "/api/artifacts/conversations/{conversation_id}/artifacts", 200, .fields = artifact_reply, .list = true },
    { GET,    "/api/artifacts/{id}", 200, .fields = artifact_reply },
    { METHOD_PUT, "/api/artifacts/{id}", 200, .fields = artifact_reply },
    { DELETE, "/api/artifacts/{id}", .status = 204 },
    { POST,   "/api/artifacts/{id}/fork", 201, .fields = artifact_reply },
    { GET,    "/api/artifacts/{id}/versions", 200, .fields = artifact_reply, .list = true },
    { GET,    "/api/artifacts/{id}/download", 200, .content_type = text },
    { POST,   "/api/artifacts/{id}/execute", 200, .fields = execution_reply },
    { GET,    "/", 200, .fields = status_reply },
    { POST,   "/execute", 200, .fields = execute_reply },
    { GET,    "/v1/keys", 200, .fields = key_list_reply },
    { POST,   "/v1/keys", 201, .fields = new_key_reply },
    { DELETE, "/v1/keys/{name}", 200, .fields = key_removed_reply },
    { GET,    "/v1/languages", 200, .fields = language_reply, .list = true },
    { GET,    "/v1/health", 200, .fields = health_reply },
    { GET,    "/v1/health", 503, .fields = health_reply, .help = "no runs can be had at this moment" },
    { GET,    "/v1/stats", 200, .fields = stats_reply },
    { GET,    "/metrics", 200, .content_type = text },
    { GET,    "/openapi.json", 200, .content_type = json },
    { 0 },
};
/* clang-format on */
