#include "api/runs/result_fields.h"

#include "api/runs/fixes.h"

#include "checks/checks.h"
#include "network/record.h"
#include "normalise/normalise.h"
#include "run/tests_json.h"
#include "spec/bundle.h"
#include "spec/isolation.h"
#include "spec/pool.h"
#include "spec/verdict.h"

const char *const run_state_words[] = { RUN_STATE_TABLE(FIELD_WORD) NULL };
static const char *const output_status_words[] = { OUTPUT_STATUS_TABLE(FIELD_WORD) NULL };
static const char *const layer_words[] = { LAYER_TABLE(FIELD_WORD) NULL };
static const char *const start_words[] = { START_TABLE(FIELD_WORD) NULL };
static const char *const language_source_words[] = { LANGUAGE_SOURCE_TABLE(FIELD_WORD) NULL };

const struct api_field usage_reply[] = {
    { "wall_ms", FIELD_NUMBER, ALWAYS, .help = "time from the start of the program to its end" },
    { "cpu_ms", FIELD_NUMBER, ALWAYS, .help = "CPU time of all processes" },
    { "memory_peak_bytes", FIELD_INT, ALWAYS, .help = "the largest memory use" },
    { "pids_peak", FIELD_INT, .help = "the largest number of processes and threads" },
    { .schema = "Usage" },
};
static const struct api_field compile_reply[] = {
    { "verdict", FIELD_STRING, ALWAYS, .one_of = verdict_words,
      .help = "ok, compile_error, or the limit that the compiler reached" },
    { "exit_code", FIELD_INT, ALWAYS, .help = "of the compiler, 128 + signal, 124 or 137" },
    { "stdout", FIELD_DATA, ALWAYS, .help = "the output of the compiler, up to 64 KiB" },
    { "stderr", FIELD_DATA, ALWAYS, .help = "like stdout, for stderr: warnings and errors" },
    { "stdout_base64", FIELD_STRING, .help = "the exact bytes, if they are not UTF-8" },
    { "stderr_base64", FIELD_STRING, .help = "the exact bytes, if they are not UTF-8" },
    { "stdout_cut", FIELD_BOOL, ALWAYS, .help = "true if stdout is only the beginning" },
    { "stderr_cut", FIELD_BOOL, ALWAYS, .help = "like stdout_cut, for stderr" },
    { "usage", FIELD_OBJECT, ALWAYS, .fields = usage_reply,
      .help = "resources that the compiler used when it ran" },
    { "limits_hit", FIELD_STRINGS, ALWAYS, .help = "keys of compile_limits that were reached" },
    { "cached", FIELD_BOOL, ALWAYS,
      .help = "true if another run compiled the same program, earlier or at the same time" },
    { "key", FIELD_STRING, OR_NULL, .help = "the key of the compiled program in the cache" },
    { 0 },
};
static const struct api_field stage_reply[] = {
    { "name", FIELD_STRING, ALWAYS, .help = "of the request" },
    { "language", FIELD_STRING, ALWAYS, .help = "bash for a command" },
    { "verdict", FIELD_STRING, OR_NULL, .one_of = verdict_words,
      .help = "of this stage, from outside the jar; null: it did not begin" },
    { "passed", FIELD_BOOL, ALWAYS, .help = "it ended by itself with expect_exit" },
    { "expect_exit", FIELD_INT, ALWAYS, .help = "of the request" },
    { "limits", FIELD_LIMIT_VALUES, ALWAYS, .help = "that held for it, by key" },
    { "exit_code", FIELD_INT, .help = "of its program, 128 + signal, 124 or 137" },
    { "signal", FIELD_STRING, OR_NULL, .help = "that ended its program" },
    { "usage", FIELD_OBJECT, .fields = usage_reply,
      .help =
          "of this stage; memory_peak_bytes and pids_peak since the first one, where the kernel "
          "cannot count anew" },
    { "limits_hit", FIELD_STRINGS, .help = "keys of the limits that were reached" },
    { "stdout", FIELD_DATA, .help = "its output, up to 64 KiB" },
    { "stderr", FIELD_DATA, .help = "like stdout, for stderr" },
    { "stdout_base64", FIELD_STRING, .help = "the exact bytes, if they are not UTF-8" },
    { "stderr_base64", FIELD_STRING, .help = "the exact bytes, if they are not UTF-8" },
    { "stdout_cut", FIELD_BOOL, .help = "true if stdout is only the beginning" },
    { "stderr_cut", FIELD_BOOL, .help = "like stdout_cut, for stderr" },
    { 0 },
};
const struct api_field isolation_reply[] = {
    { "level", FIELD_STRING, ALWAYS, .one_of = &level_names[LEVEL_PROCESS],
      .help = "isolation level of the jar" },
    { "layers", FIELD_STRINGS, ALWAYS, .one_of = layer_words, .help = "its layers of defence" },
    { "unenforced", FIELD_STRINGS, ALWAYS,
      .help = "keys of limits that this machine cannot enforce for all processes together" },
    { .schema = "Isolation" },
};
const struct api_field output_file_reply[] = {
    { "name", FIELD_STRING, ALWAYS, .help = "path below /sandbox, or an absolute one below /tmp" },
    { "status", FIELD_STRING, ALWAYS, .one_of = output_status_words,
      .help = "ok, or the reason why the file was not fetched" },
    { "size", FIELD_INT, OR_NULL, .help = "in bytes; null if the file was not fetched" },
    { .schema = "OutputFile" },
};
const struct api_field timings_reply[] = {
    { "queued_at", FIELD_STRING, OR_NULL, .help = "time at which the run was accepted" },
    { "started_at", FIELD_STRING, OR_NULL, .help = "time at which the program started" },
    { "finished_at", FIELD_STRING, OR_NULL, .help = "time at which the program ended" },
    { "queued_ms", FIELD_INT,
      .help = "time in the queue; the time before an approval and in the compiler does not count" },
    { 0 },
};
static const struct api_field source_reply[] = {
    { "language_from", FIELD_STRING, ALWAYS, .one_of = language_source_words,
      .help = "the source from which the language is known" },
    { "unwrapped", FIELD_BOOL, ALWAYS, .help = "true if the program is only a part of `code`" },
    { "blocks", FIELD_INT, ALWAYS, .help = "number of fenced blocks in `code`" },
    { "blocks_taken", FIELD_INT, ALWAYS, .help = "number of blocks that make up the program" },
    { 0 },
};

/* ---- tables of SQL ---- */
static const struct api_field column_reply[] = {
    { "name", FIELD_STRING, ALWAYS, .help = "name in the query; cut at 200 bytes" },
    { "type", FIELD_STRING, ALWAYS, .help = "name of the type in the database" },
    { 0 },
};
static const struct api_field table_reply[] = {
    { "columns", FIELD_OBJECTS, ALWAYS, .fields = column_reply, .help = "from left to right" },
    { "rows", FIELD_ANY, ALWAYS,
      .help = "lists of values: null, true or false, numbers up to 2^53, otherwise text; bytes are "
              "{\"base64\": text}" },
    { "row_count", FIELD_INT, ALWAYS, .help = "number of rows of the whole result" },
    { "truncated", FIELD_BOOL, ALWAYS,
      .help = "true if `rows` is only the beginning: up to 1,000 rows of a result and 1 MiB of a "
              "run are kept" },
    { "line", FIELD_INT, .help = "line of the file where the statement begins" },
    { 0 },
};

/* ---- profiles ---- */
static const struct api_field hot_function_reply[] = {
    { "function", FIELD_STRING, ALWAYS, .help = "its name" },
    { "file", FIELD_STRING, ALWAYS,
      .help = "path below /sandbox for files of the program, absolute for others" },
    { "line", FIELD_INT, ALWAYS, .help = "line where the function begins" },
    { "self_ms", FIELD_NUMBER, ALWAYS, .help = "time in the function itself" },
    { "total_ms", FIELD_NUMBER, ALWAYS, .help = "time in the function and in its callees" },
    { "percent", FIELD_NUMBER, ALWAYS, .help = "self_ms as a share of sampled_ms" },
    { 0 },
};
static const struct api_field hot_line_reply[] = {
    { "file", FIELD_STRING, ALWAYS, .help = "file of the program" },
    { "line", FIELD_INT, ALWAYS, .help = "number of the line, from 1" },
    { "text", FIELD_STRING, ALWAYS, .help = "the line" },
    { "self_ms", FIELD_NUMBER, ALWAYS,
      .help = "time in the line, and in libraries that it called" },
    { "percent", FIELD_NUMBER, ALWAYS, .help = "self_ms as a share of sampled_ms" },
    { 0 },
};
static const struct api_field stack_reply[] = {
    { "stack", FIELD_STRING, ALWAYS,
      .help = "\"function file:line\" from the outermost on, with ; between" },
    { "ms", FIELD_NUMBER, ALWAYS, .help = "time in this stack" },
    { 0 },
};
static const struct api_field moment_reply[] = {
    { "ms", FIELD_NUMBER, ALWAYS, .help = "time since the start" },
    { "cpu_percent", FIELD_NUMBER, ALWAYS, .help = "since the previous moment; 100 is one CPU" },
    { "memory_bytes", FIELD_INT, ALWAYS, .help = "memory of all processes" },
    { "pids", FIELD_INT, ALWAYS, .help = "number of processes and threads" },
    { 0 },
};
static const struct api_field profile_reply[] = {
    { "sampled_ms", FIELD_NUMBER, ALWAYS,
      .help = "time during which samples were taken inside the program; 0 if the language has no "
              "profiler" },
    { "samples", FIELD_INT, ALWAYS, .help = "number of samples" },
    { "functions", FIELD_OBJECTS, ALWAYS, .fields = hot_function_reply,
      .help = "up to 50: functions of the program first, then by self_ms" },
    { "lines", FIELD_OBJECTS, ALWAYS, .fields = hot_line_reply, .help = "up to 50, by self_ms" },
    { "stacks", FIELD_OBJECTS, ALWAYS, .fields = stack_reply, .help = "up to 200, by ms" },
    { "timeline", FIELD_OBJECTS, ALWAYS, .fields = moment_reply,
      .help = "up to 240 moments, measured outside the program, for every language" },
    { "note", FIELD_STRING, OR_NULL, .help = "a measurement that was not possible" },
    { 0 },
};

/* ---- displays ---- */
static const struct api_field display_reply[] = {
    { "data", FIELD_ANY, ALWAYS,
      .help =
          "representations by MIME type: text is a string, JSON types are JSON, other bytes are "
          "base64" },
    { "display_id", FIELD_STRING, .help = "its id, if it could be updated" },
    { "metadata", FIELD_ANY, .help = "by MIME type" },
    { "cut", FIELD_BOOL, .help = "true: displays or representations were left out here" },
    { 0 },
};

/* ---- tests ---- */
static const char *const suite_outcome_words[] = { SUITE_OUTCOME_TABLE(FIELD_WORD) NULL };
static const char *const tests_outcome_words[] = { TESTS_OUTCOME_TABLE(FIELD_WORD) NULL };
static const struct api_field test_reply[] = {
    { "name", FIELD_STRING, ALWAYS, .help = "its name, as the runner prints it" },
    { "outcome", FIELD_STRING, ALWAYS, .one_of = suite_outcome_words,
      .help = "error: the test did not get to its end" },
    { "duration_ms", FIELD_NUMBER, OR_NULL, .help = "null if the runner does not print it" },
    { "message", FIELD_STRING, OR_NULL, .help = "one line: the failure, or the reason of a skip" },
    { "file", FIELD_STRING, OR_NULL, .help = "path below /sandbox where it failed" },
    { "line", FIELD_INT, OR_NULL, .help = "line in this file, from 1" },
    { "details", FIELD_STRING, OR_NULL, .help = "the text of the failure, up to 8 KiB" },
    { "diagnosis", FIELD_OBJECT, OR_NULL, .fields = diagnosis_reply,
      .help = "the cause of a failure and suggestions, for the first 100 failures" },
    { .schema = "Test" },
};
static const struct api_field tests_reply[] = {
    { "runner", FIELD_STRING, ALWAYS, .one_of = &test_runners[TEST_RUNNER_NONE + 1],
      .help = "the test runner" },
    { "language", FIELD_STRING, ALWAYS, .help = "of the tests" },
    { "source", FIELD_STRING, ALWAYS,
      .help = "guest: code under test can change this report; the verdict is from outside" },
    { "total", FIELD_INT, ALWAYS, .help = "number of cases" },
    { "passed", FIELD_INT, ALWAYS, .help = "number of cases that passed" },
    { "failed", FIELD_INT, ALWAYS, .help = "number of cases that failed" },
    { "error", FIELD_INT, ALWAYS, .help = "number of cases that did not get to their end" },
    { "skipped", FIELD_INT, ALWAYS, .help = "number of cases that were skipped" },
    { "cut", FIELD_BOOL, ALWAYS,
      .help = "true if there are more: up to 5,000 cases in 1 MiB of output are read" },
    { "cases", FIELD_OBJECTS, ALWAYS, .fields = test_reply, .help = "in the order of the output" },
    { .schema = "Tests" },
};

/* ---- checks ---- */
static const char *const check_state_words[] = { CHECK_STATE_TABLE(FIELD_WORD) NULL };
static const struct api_field problem_reply[] = {
    { "file", FIELD_STRING, OR_NULL, .help = "path below /sandbox" },
    { "line", FIELD_INT, OR_NULL, .help = "line in this file, from 1" },
    { "column", FIELD_INT, OR_NULL, .help = "character in this line, from 1" },
    { "type", FIELD_STRING, OR_NULL, .help = "such as SyntaxError, TS2322 or mypy arg-type" },
    { "message", FIELD_STRING, ALWAYS, .help = "the words of the tool" },
    { "name", FIELD_STRING, OR_NULL, .help = "of a missing import: the module or package" },
    { "diagnosis", FIELD_OBJECT, OR_NULL, .fields = diagnosis_reply,
      .help = "the lines and suggestions; null if another problem of the same output has them" },
    { .schema = "Problem" },
};
static const struct api_field answer_reply[] = {
    { "state", FIELD_STRING, ALWAYS, .one_of = check_state_words,
      .help = "none: no tool is known; skipped: other errors come first; unknown: the tool did not "
              "get to its end" },
    { "tool", FIELD_STRING, OR_NULL, .help = "the program that was asked" },
    { "install", FIELD_STRING, OR_NULL, .help = "of not_installed: the command that installs it" },
    { "problems", FIELD_OBJECTS, ALWAYS, .fields = problem_reply, .help = "in its order" },
    { .schema = "CheckAnswer" },
};
static const struct api_field check_language_reply[] = {
    { "language", FIELD_STRING, ALWAYS, .help = "its name in GET /v1/languages" },
    { "syntax", FIELD_OBJECT, ALWAYS, .fields = answer_reply, .help = "whether the files parse" },
    { "types", FIELD_OBJECT, ALWAYS, .fields = answer_reply, .help = "whether their types hold" },
    { "imports", FIELD_OBJECT, ALWAYS, .fields = answer_reply,
      .help = "the imports that are missing here" },
    { .schema = "CheckedLanguage" },
};
static const struct api_field found_risk_reply[] = {
    { "kind", FIELD_STRING, ALWAYS,
      .help = "network, file_deletion, process, dynamic_code, "
              "hidden_character or not_looked_at" },
    { "line", FIELD_INT, ALWAYS, .help = "line in this file, from 1; 0: the file as a whole" },
    { "column", FIELD_INT, ALWAYS, .help = "byte in this line, from 1" },
    { "excerpt", FIELD_STRING, ALWAYS, .help = "the line, cut" },
    { "why", FIELD_STRING, ALWAYS, .help = "its effect" },
    { "file", FIELD_STRING, OR_NULL, .help = "path below /sandbox" },
    { .schema = "CheckedRisk" },
};
static const struct api_field check_reply[] = {
    { "source", FIELD_STRING, ALWAYS,
      .help = "guest: parsers that read hostile code made this; the verdict is from outside" },
    { "complete", FIELD_BOOL, ALWAYS, .help = "false: the report of the tools lacks its end" },
    { "cut", FIELD_BOOL, ALWAYS, .help = "true if there are more problems than 200" },
    { "languages", FIELD_OBJECTS, ALWAYS, .fields = check_language_reply,
      .help = "one for each language of the files" },
    { "risks", FIELD_OBJECTS, ALWAYS, .fields = found_risk_reply,
      .help = "lines to look at; they change no outcome" },
    { .schema = "Check" },
};

/* ---- the network ---- */
static const char *const network_outcomes[] = { NETWORK_OUTCOME_TABLE(FIELD_WORD) NULL };
static const char *const network_protocols[] = { "tcp", "udp", NULL };
const struct api_field connection_reply[] = {
    { "host", FIELD_STRING, OR_NULL, .help = "the name; null if the program used an address" },
    { "port", FIELD_INT, OR_NULL, .help = "null if only the name was asked for" },
    { "protocol", FIELD_STRING, ALWAYS, .one_of = network_protocols, .help = "tcp or udp" },
    { "address", FIELD_STRING, OR_NULL, .help = "address of the host; null if it was not reached" },
    { "outcome", FIELD_STRING, ALWAYS, .one_of = network_outcomes, .help = "how it ended" },
    { "sni", FIELD_STRING, OR_NULL, .help = "the name in the beginning of TLS" },
    { "started_at", FIELD_STRING, OR_NULL, .help = "time of its start" },
    { "duration_ms", FIELD_NUMBER, ALWAYS, .help = "time from its start to its end" },
    { "bytes_in", FIELD_INT, ALWAYS, .help = "bytes that the program got" },
    { "bytes_out", FIELD_INT, ALWAYS, .help = "bytes that the program sent" },
    { .schema = "Connection" },
};
const struct api_field network_reply[] = {
    { "mode", FIELD_STRING, ALWAYS, .help = "list or full" },
    { "connections", FIELD_INT, ALWAYS, .help = "number of connections, also of open ones" },
    { "denied", FIELD_INT, ALWAYS, .help = "names and connections that were not allowed" },
    { "bytes_in", FIELD_INT, ALWAYS, .help = "of all connections" },
    { "bytes_out", FIELD_INT, ALWAYS, .help = "of all connections" },
    { "log", FIELD_OBJECTS, ALWAYS, .fields = connection_reply,
      .help = "each connection, and each name that was not allowed; up to 1,000" },
    { "unrouted", FIELD_INT, ALWAYS,
      .help = "attempts to reach an address that the list does not have" },
    { "refused", FIELD_INT, ALWAYS,
      .help =
          "attempts to reach a port that the list does not have, or where no server of the program "
          "listens" },
    { "omitted", FIELD_INT, ALWAYS, .help = "entries that the log does not have" },
    { "limits_hit", FIELD_STRINGS, ALWAYS, .help = "settings network.KEY that were reached" },
    { "complete", FIELD_BOOL, ALWAYS,
      .help = "false if the process that keeps the log died meanwhile" },
    { .schema = "Network" },
};

/* ---- runs ---- */
const struct api_field result_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "id of the run" },
    { "state", FIELD_STRING, .one_of = run_state_words, .help = "finished" },
    { "language", FIELD_STRING, ALWAYS, .help = "its name in GET /v1/languages" },
    { "version", FIELD_STRING, OR_NULL, .help = "version of the interpreter or compiler" },
    { "verdict", FIELD_STRING, ALWAYS, .one_of = verdict_words, .help = "how the run ended" },
    { "success", FIELD_BOOL, ALWAYS, .help = "true if the verdict is ok" },
    { "exit_code", FIELD_INT, ALWAYS, .help = "of the program, 128 + signal, 124 or 137" },
    { "signal", FIELD_STRING, OR_NULL, .help = "the signal that ended it, such as SIGSEGV" },
    STREAM_ROWS,
    { "stdout_truncated", FIELD_BOOL, ALWAYS, .help = "true if limits.output cut it" },
    { "stderr_truncated", FIELD_BOOL, ALWAYS, .help = "true if limits.output cut it" },
    { "stdout_bytes", FIELD_INT, .help = "number of bytes that are kept" },
    { "stderr_bytes", FIELD_INT, .help = "number of bytes that are kept" },
    { "usage", FIELD_OBJECT, ALWAYS, .fields = usage_reply, .help = "resources that the run used" },
    { "limits", FIELD_LIMIT_VALUES, ALWAYS, .help = "the limits of the run" },
    { "limits_hit", FIELD_STRINGS, ALWAYS,
      .help = "keys of limits that were reached; network_limit: network.limits_hit has the keys" },
    { "isolation", FIELD_OBJECT, ALWAYS, .fields = isolation_reply,
      .help = "the isolation of the jar" },
    { "files", FIELD_OBJECTS, ALWAYS, .fields = output_file_reply,
      .help = "the requested outputs" },
    { "start", FIELD_STRING, OR_NULL, .one_of = start_words,
      .help = "how the program started: warm (in a jar that waited), hatched (forked into a new "
              "jar) or cold (a new interpreter)" },
    { "started_at", FIELD_STRING, OR_NULL, .help = "null if the program never started" },
    { "timings", FIELD_OBJECT, .fields = timings_reply, .help = "the times of the run" },
    { "stages", FIELD_OBJECTS, .fields = stage_reply,
      .help = "with stages: the result of each, in their order" },
    { "compile", FIELD_OBJECT, OR_NULL, .fields = compile_reply,
      .help = "the result of the compiler; null if the language has none" },
    { "diagnosis", FIELD_OBJECT, OR_NULL, .fields = diagnosis_reply,
      .help = "the cause of a failure and suggestions; null if the run ended well" },
    { "fixes", FIELD_OBJECT, .fields = fixes_reply,
      .help = "the suggestions, tried; present if `fixes` was set" },
    { "tables", FIELD_OBJECTS, OR_NULL, .fields = table_reply,
      .help = "the results of SQL queries; null for other languages" },
    { "profile", FIELD_OBJECT, OR_NULL, .fields = profile_reply,
      .help = "where time and memory went; null unless `profile` was set" },
    { "displays", FIELD_OBJECTS, OR_NULL, .fields = display_reply,
      .help = "figures, tables and other displays, in order; null unless `display` was set" },
    { "network", FIELD_OBJECT, OR_NULL, .fields = network_reply,
      .help = "the connections of the program; null if it had no network" },
    { "outcome", FIELD_STRING, .one_of = tests_outcome_words,
      .help =
          "of tests: passed, failed, no_tests, stopped (by a limit) or unknown; the same words, "
          "without no_tests, of a check; present if `test_runner` or `checks` was set" },
    { "tests", FIELD_OBJECT, .nullable = true, .fields = tests_reply,
      .help = "the report of the tests; null if it could not be read; present if `test_runner` "
              "was set" },
    { "checks", FIELD_OBJECT, .nullable = true, .fields = check_reply,
      .help = "the answer of a check; null if it could not be read; present if `checks` was set" },
    { "thread_id", FIELD_STRING, .nullable = true, .help = "as in the request" },
    { "artifact_id", FIELD_STRING, .nullable = true, .help = "the artifact that was run" },
    { "batch_id", FIELD_STRING, .nullable = true, .help = "the batch that the run belongs to" },
    { "metadata", FIELD_ANY, .nullable = true, .help = "as in the request" },
    { "taken", FIELD_OBJECT, .fields = source_reply,
      .help = "how the program was found in `code`; present if it is a part of `code`, or if the "
              "language was inferred" },
    { "error", FIELD_STRING, .help = "the reason, for internal_error and rejected" },
    { "error_code", FIELD_STRING, .help = "the error code, for internal_error" },
    { .schema = "Result", .help = "A run that is over" },
};
const struct api_field run_row_reply[] = {
    { "id", FIELD_STRING, ALWAYS, .help = "id of the run" },
    { "state", FIELD_STRING, ALWAYS, .one_of = run_state_words, .help = "the current state" },
    { "language", FIELD_STRING, ALWAYS, .help = "its name in GET /v1/languages" },
    { "verdict", FIELD_STRING, OR_NULL, .one_of = verdict_words,
      .help = "null until the run is over" },
    { "thread_id", FIELD_STRING, OR_NULL, .help = "as in the request" },
    { "artifact_id", FIELD_STRING, OR_NULL, .help = "the artifact that was run" },
    { "batch_id", FIELD_STRING, OR_NULL, .help = "the batch that the run belongs to" },
    { "surface", FIELD_STRING, OR_NULL,
      .help = "the part of the API that the request went to: v1, nemo, artifacts, or checker" },
    { "key", FIELD_STRING, OR_NULL, .help = "name of the API key" },
    { "created_at", FIELD_STRING, OR_NULL, .help = "time at which the run was accepted" },
    { "started_at", FIELD_STRING, OR_NULL, .help = "time at which the program started" },
    { "finished_at", FIELD_STRING, OR_NULL, .help = "time at which the program ended" },
    { "usage", FIELD_OBJECT, OR_NULL, .fields = usage_reply, .help = "null until the run is over" },
    { "error", FIELD_STRING, .help = "of an interrupted run: the reason why there is no result" },
    { .schema = "RunRow", .help = "A run as lists show it" },
};
