/* The fields of a diagnosis, as run/diagnosis_json.c makes it. Pure data. */
#include "api/runs/result_fields.h"
#include "diagnose/core/diagnose.h"
#include "fixes/outcome.h"

static const char *const category_words[] = { CATEGORY_TABLE(FIELD_WORD) NULL };

static const struct api_field place_reply[] = {
    { "file", FIELD_STRING, OR_NULL, .help = "name as in the request" },
    { "line", FIELD_INT, OR_NULL, .help = "from 1" },
    { "column", FIELD_INT, OR_NULL, .help = "from 1, in characters" },
    { "end_column", FIELD_INT, OR_NULL, .help = "the column after the last character" },
    { 0 },
};
static const struct api_field excerpt_reply[] = {
    { "line", FIELD_INT, ALWAYS, .help = "number of the line" },
    { "text", FIELD_STRING, ALWAYS,
      .help = "the line in printable form: tabs as spaces, long lines cut" },
    { "caret", FIELD_ANY, .help = "[from, end]: the columns of the text to point at" },
    { 0 },
};
static const struct api_field frame_reply[] = {
    { "file", FIELD_STRING, OR_NULL, .help = "file of the call" },
    { "line", FIELD_INT, OR_NULL, .help = "from 1" },
    { "column", FIELD_INT, OR_NULL, .help = "from 1" },
    { "function", FIELD_STRING, OR_NULL, .help = "the function that made the call" },
    { "user", FIELD_BOOL, ALWAYS, .help = "true for a file of the request; these come first" },
    { 0 },
};
/* An error beside the main one: a cause of it, or a further one. */
static const struct api_field other_error_reply[] = {
    { "type", FIELD_STRING, OR_NULL, .help = "as in the diagnosis" },
    { "message", FIELD_STRING, ALWAYS, .help = "the message of the error" },
    { "location", FIELD_OBJECT, OR_NULL, .fields = place_reply, .help = "place of the error" },
    { 0 },
};
static const struct api_field further_errors_reply[] = {
    { "errors", FIELD_OBJECTS, ALWAYS, .fields = other_error_reply,
      .help = "up to 20, in the order of the output, each once" },
    { "left_out", FIELD_INT, ALWAYS, .help = "number of errors beyond those" },
    { 0 },
};
static const char *const outcome_words[] = { FIX_OUTCOME_TABLE(FIELD_WORD) NULL };
static const char *const action_words[] = { "replace", "insert", NULL };
static const struct api_field suggestion_reply[] = {
    { "text", FIELD_STRING, ALWAYS, .help = "a sentence" },
    { "replacement", FIELD_STRING, .help = "a corrected line, or the text to write" },
    { "action", FIELD_STRING, .one_of = action_words,
      .help = "of replacement: replace the line of location by it, or insert it" },
    { "outcome", FIELD_STRING, .one_of = outcome_words,
      .help = "of replacement: the outcome of its try; present if `fixes` was set" },
    { "confidence", FIELD_NUMBER, ALWAYS, .help = "0 to 1" },
    { 0 },
};
static const struct api_field variable_reply[] = {
    { "name", FIELD_STRING, ALWAYS, .help = "a variable, or an attribute of it: self.total" },
    { "type", FIELD_STRING, OR_NULL,
      .help = "the name of its type in its language; unbound: it has no value yet" },
    { "size", FIELD_INT, OR_NULL, .help = "number of its elements, characters or bytes" },
    { "shape", FIELD_ANY, OR_NULL, .help = "of an array or a table: a list of numbers" },
    { "dtype", FIELD_STRING, OR_NULL, .help = "of an array: the type of its elements" },
    { "preview", FIELD_STRING, OR_NULL, .help = "the value, or the beginning of it" },
    { "masked", FIELD_BOOL, ALWAYS, .help = "true: by its name it is a secret" },
    { "cut", FIELD_BOOL, ALWAYS, .help = "true: preview shows a part of the value" },
    { 0 },
};
static const struct api_field value_frame_reply[] = {
    { "file", FIELD_STRING, OR_NULL, .help = "name as in the request" },
    { "line", FIELD_INT, OR_NULL, .help = "from 1" },
    { "function", FIELD_STRING, OR_NULL, .help = "the function of the line" },
    { "variables", FIELD_OBJECTS, ALWAYS, .fields = variable_reply,
      .help = "the variables that the line names; those of the failed expression first" },
    { 0 },
};
static const struct api_field values_reply[] = {
    { "trusted", FIELD_BOOL, ALWAYS,
      .help = "always false: the program told the values, and may have invented them" },
    { "frames", FIELD_OBJECTS, ALWAYS, .fields = value_frame_reply,
      .help = "the line that failed, then the line that called its function" },
    { 0 },
};
const struct api_field diagnosis_reply[] = {
    { "language", FIELD_STRING, OR_NULL, .help = "the language of the error message" },
    { "category", FIELD_STRING, ALWAYS, .one_of = category_words, .help = "the kind of failure" },
    { "type", FIELD_STRING, OR_NULL,
      .help = "the name of the error in its language: NameError, E0382, TS2322, SIGSEGV; for a "
              "limit the verdict" },
    { "message", FIELD_STRING, ALWAYS, .help = "the message of the error" },
    { "location", FIELD_OBJECT, OR_NULL, .fields = place_reply,
      .help = "place in the files of the request" },
    { "excerpt", FIELD_OBJECTS, ALWAYS, .fields = excerpt_reply,
      .help = "that line and the lines before it" },
    { "frames", FIELD_OBJECTS, ALWAYS, .fields = frame_reply,
      .help = "the calls that led to the error, the innermost first" },
    { "causes", FIELD_OBJECTS, ALWAYS, .fields = other_error_reply,
      .help = "the errors that caused it, the nearest first" },
    { "further_errors", FIELD_OBJECT, .fields = further_errors_reply,
      .help = "the other errors in the same output; some follow from the first" },
    { "suggestions", FIELD_OBJECTS, ALWAYS, .fields = suggestion_reply,
      .help = "possible corrections, the best first" },
    { "values", FIELD_OBJECT, OR_NULL, .fields = values_reply,
      .help = "the variables of the failed line at the error; null if they are not known" },
    { "docs", FIELD_STRING, OR_NULL, .help = "address of a page about the error" },
    { "sandbox", FIELD_BOOL, ALWAYS, .help = "true if a rule of the sandbox caused it" },
    { "verdict", FIELD_STRING, ALWAYS, .one_of = verdict_words, .help = "verdict of the run" },
    { .schema = "Diagnosis", .help = "The cause of a failure, its place, and suggestions" },
};
