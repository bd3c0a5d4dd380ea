/* What answers hold about failures. */
#include "api/meta/replies.h"
#include "api/runs/debug_report.h"
#include "diagnose/core/diagnose.h"
#include "spec/verdict.h"

#define ALWAYS  .required = true
#define OR_NULL .required = true, .nullable = true

static const char *const category_words[] = {
#define X(id, word) word,
    CATEGORY_TABLE(X)
#undef X
        NULL,
};
static const struct api_field place_reply[] = {
    { "file", FIELD_STRING, OR_NULL, .help = "as in the request" },
    { "line", FIELD_INT, OR_NULL, .help = "from 1" },
    { "column", FIELD_INT, OR_NULL, .help = "from 1, in characters" },
    { "end_column", FIELD_INT, OR_NULL, .help = "behind the last character that is meant" },
    { 0 },
};
static const struct api_field excerpt_reply[] = {
    { "line", FIELD_INT, ALWAYS, .help = "its number" },
    { "text", FIELD_STRING, ALWAYS, .help = "as it can be shown: tabs as spaces, long lines cut" },
    { "caret", FIELD_ANY, .help = "[from, end]: columns of the text that are meant" },
    { 0 },
};
static const struct api_field frame_reply[] = {
    { "file", FIELD_STRING, OR_NULL, .help = "where" },
    { "line", FIELD_INT, OR_NULL, .help = "from 1" },
    { "column", FIELD_INT, OR_NULL, .help = "from 1" },
    { "function", FIELD_STRING, OR_NULL, .help = "in which" },
    { "user", FIELD_BOOL, ALWAYS, .help = "true: in a file of the job's; these come first" },
    { 0 },
};
static const struct api_field cause_reply[] = {
    { "type", FIELD_STRING, OR_NULL, .help = "of what led to it" },
    { "message", FIELD_STRING, ALWAYS, .help = "what that said" },
    { "location", FIELD_OBJECT, OR_NULL, .fields = place_reply, .help = "where that was" },
    { 0 },
};
static const struct api_field further_error_reply[] = {
    { "type", FIELD_STRING, OR_NULL, .help = "as in the diagnosis" },
    { "message", FIELD_STRING, ALWAYS, .help = "what the compiler said" },
    { "location", FIELD_OBJECT, OR_NULL, .fields = place_reply, .help = "where that is" },
    { 0 },
};
static const struct api_field further_errors_reply[] = {
    { "errors", FIELD_OBJECTS, ALWAYS, .fields = further_error_reply,
      .help = "up to 20, in the order of the output, each once" },
    { "left_out", FIELD_INT, ALWAYS, .help = "how many more were counted" },
    { 0 },
};
static const struct api_field suggestion_reply[] = {
    { "text", FIELD_STRING, ALWAYS, .help = "a sentence" },
    { "replacement", FIELD_STRING, .help = "the line as it might be, or what to write" },
    { "confidence", FIELD_NUMBER, ALWAYS, .help = "0 to 1" },
    { 0 },
};
const struct api_field diagnosis_reply[] = {
    { "language", FIELD_STRING, OR_NULL, .help = "whose error it is" },
    { "category", FIELD_STRING, ALWAYS, .one_of = category_words,
      .help = "what kind of thing went wrong" },
    { "type", FIELD_STRING, OR_NULL,
      .help =
          "as the language calls it: NameError, E0382, TS2322, SIGSEGV; of a limit the verdict" },
    { "message", FIELD_STRING, ALWAYS, .help = "what it said" },
    { "location", FIELD_OBJECT, OR_NULL, .fields = place_reply,
      .help = "where in the job's files" },
    { "excerpt", FIELD_OBJECTS, ALWAYS, .fields = excerpt_reply,
      .help = "that line and those before it" },
    { "frames", FIELD_OBJECTS, ALWAYS, .fields = frame_reply,
      .help = "who called, the innermost first" },
    { "causes", FIELD_OBJECTS, ALWAYS, .fields = cause_reply,
      .help = "what led to it, the nearest first" },
    { "further_errors", FIELD_OBJECT, .fields = further_errors_reply,
      .help = "the other errors of the same output; some follow from the first" },
    { "suggestions", FIELD_OBJECTS, ALWAYS, .fields = suggestion_reply,
      .help = "what may help, the best first" },
    { "docs", FIELD_STRING, OR_NULL, .help = "where more is said" },
    { "sandbox", FIELD_BOOL, ALWAYS, .help = "true: the sandbox's own policy caused it" },
    { "verdict", FIELD_STRING, ALWAYS, .one_of = verdict_words, .help = "of the run" },
    { 0 },
};
const struct api_field diagnosed_reply[] = {
    { "diagnosis", FIELD_OBJECT, OR_NULL, .fields = diagnosis_reply,
      .help = "null: no error was found" },
    { "reason", FIELD_STRING, OR_NULL, .help = "why there is none" },
    { 0 },
};
static const struct api_field analysis_reply[] = {
    { "is_error", FIELD_BOOL, ALWAYS, .help = "false: it ended well" },
    { "error_type", FIELD_STRING, ALWAYS, .one_of = debug_error_types,
      .help = "unknown when it ended well" },
    { "suggestion", FIELD_STRING, .help = "the best" },
    { "exception", FIELD_STRING, .help = "its type, of a python_exception" },
    { "error", FIELD_STRING, .help = "what it said" },
    { 0 },
};
static const char *const report_statuses[] = { "success", "failure", NULL };
static const struct api_field report_output_reply[] = {
    { "stdout", FIELD_DATA, OR_NULL, .help = "up to 1 MiB" },
    { "stderr", FIELD_DATA, OR_NULL, .help = "up to 1 MiB" },
    { 0 },
};
static const struct api_field report_reply[] = {
    { "status", FIELD_STRING, ALWAYS, .one_of = report_statuses, .help = "how it ended" },
    { "exit_code", FIELD_INT, .nullable = true, .help = "as in the result" },
    { "execution_time", FIELD_NUMBER, ALWAYS, .help = "in seconds" },
    { "timestamp", FIELD_STRING, OR_NULL, .help = "when it started" },
    { "language", FIELD_STRING, ALWAYS, .help = "of the run" },
    { "container_id", FIELD_STRING, ALWAYS, .help = "the run's id" },
    { "output", FIELD_OBJECT, ALWAYS, .fields = report_output_reply, .help = "what it printed" },
    { "resource_usage", FIELD_OBJECT, OR_NULL, .fields = usage_reply, .help = "what it cost" },
    { "error_type", FIELD_STRING, .one_of = debug_error_types, .help = "as in the analysis" },
    { "error_message", FIELD_STRING, .help = "what it said" },
    { "output_files", FIELD_STRINGS, .help = "names of those that were fetched" },
    { 0 },
};
const struct api_field debug_report_reply[] = {
    { "analysis", FIELD_OBJECT, ALWAYS, .fields = analysis_reply, .help = "what went wrong" },
    { "report", FIELD_OBJECT, ALWAYS, .fields = report_reply, .help = "of the run" },
    { 0 },
};
