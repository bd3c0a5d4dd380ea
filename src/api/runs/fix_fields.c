/* The fields of `fixes` in a result. Pure data. */
#include "api/runs/fixes.h"
#include "api/runs/result_fields.h"
#include "fixes/outcome.h"

static const char *const outcome_words[] = { FIX_OUTCOME_TABLE(FIELD_WORD) NULL };
static const char *const action_words[] = { "replace", "insert", NULL };

static const struct api_field fix_error_reply[] = {
    { "type", FIELD_STRING, OR_NULL, .help = "as in a diagnosis" },
    { "message", FIELD_STRING, OR_NULL, .help = "the message of the error" },
    { "file", FIELD_STRING, OR_NULL, .help = "name as in the request" },
    { "line", FIELD_INT, OR_NULL, .help = "line in the changed file, from 1" },
    { .schema = "FixError" },
};
static const struct api_field fix_reply[] = {
    { "suggestion", FIELD_INT, ALWAYS, .help = "its index in diagnosis.suggestions" },
    { "outcome", FIELD_STRING, ALWAYS, .one_of = outcome_words,
      .help = "cures: the changed program ends well; moves: it fails elsewhere, or otherwise; "
              "no_change: the same error; limit: it reaches a limit; unsteady: it ends well, and "
              "so does the program without the change; not_tried: see reason" },
    { "reason", FIELD_STRING, OR_NULL, .help = "why it was not tried" },
    { "file", FIELD_STRING, OR_NULL, .help = "the file that is changed" },
    { "line", FIELD_INT, OR_NULL, .help = "the first line of the change" },
    { "action", FIELD_STRING, ALWAYS, .one_of = action_words,
      .help = "the line is replaced, or lines are inserted before it" },
    { "replacement", FIELD_STRING, ALWAYS, .help = "the line as the suggestion has it" },
    { "diff", FIELD_STRING, OR_NULL, .help = "the change in the unified format" },
    { "run_id", FIELD_STRING, OR_NULL, .help = "the run of the changed program" },
    { "verdict", FIELD_STRING, OR_NULL, .one_of = verdict_words, .help = "how it ended" },
    { "wall_ms", FIELD_NUMBER, OR_NULL, .help = "the time that it took" },
    { "error", FIELD_OBJECT, OR_NULL, .fields = fix_error_reply,
      .help = "the error of the changed program" },
    { .schema = "Fix" },
};
const struct api_field fixes_reply[] = {
    { "best", FIELD_INT, OR_NULL, .help = "index of the first candidate that cures the error" },
    { "reason", FIELD_STRING, OR_NULL, .help = "why nothing was tried" },
    { "wall_ms", FIELD_NUMBER, ALWAYS, .help = "time for all tries" },
    { "candidates", FIELD_OBJECTS, ALWAYS, .fields = fix_reply,
      .help = "for each suggestion with a replacement: one, or one for each place that it may "
              "belong to" },
    { .schema = "Fixes", .help = "The suggestions, tried" },
};
