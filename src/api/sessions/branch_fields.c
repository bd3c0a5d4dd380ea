#include "api/sessions/branch_fields.h"

#include "api/runs/result_fields.h"
#include "api/runs/run_spec.h"
#include "api/sessions/cell_result.h"

const char *const branch_outcome_words[] = { "ok", "failed", "stopped", NULL };
static const char *const branch_event_words[] = { "forked", "candidate", "result",    "score",
                                                  "choose", "done",      "keepalive", NULL };
static const struct api_field score_reply[] = {
    { "value", FIELD_NUMBER, OR_NULL, .help = "the number; null if there is none" },
    { "error", FIELD_STRING, OR_NULL, .help = "why there is none" },
    { "cell", FIELD_OBJECT, OR_NULL, .fields = cell_reply, .help = "the cell of the score" },
    { 0 },
};
static const struct api_field branch_result_reply[] = {
    { "index", FIELD_INT, ALWAYS, .help = "position in candidates" },
    { "outcome", FIELD_STRING, ALWAYS, .one_of = branch_outcome_words,
      .help = "ok; failed; stopped, because another candidate won or the request ended" },
    { "session", FIELD_STRING, ALWAYS, .help = "id of the copy that it ran in" },
    { "error", FIELD_STRING, OR_NULL,
      .help = "the reason why the candidate did not run, or failed though its cell was ok" },
    { "cell", FIELD_OBJECT, OR_NULL, .fields = cell_reply,
      .help = "as the answer of POST exec: result, outputs, usage, diagnosis" },
    { "diff", FIELD_STRING, OR_NULL, .help = "with fixes_of: the change of the cell" },
    { "score", FIELD_OBJECT, OR_NULL, .fields = score_reply,
      .help = "with best, if the candidate was ok" },
    { .schema = "BranchResult" },
};
#define BRANCH_END_ROWS                                                                       \
    { "winner", FIELD_INT, OR_NULL, .help = "position of the winner in candidates" },         \
        { "adopted", FIELD_BOOL, ALWAYS, .help = "true: the session goes on as the winner" }, \
        { "error", FIELD_STRING, OR_NULL, .help = "why the winner was not adopted" },         \
        { "left", FIELD_STRINGS, ALWAYS, .help = "ids of the copies that stay as sessions" }, \
        { "fork_ms", FIELD_NUMBER, ALWAYS,                                                    \
          .help = "from the request until the last copy was ready" },                         \
    {                                                                                         \
        "wall_ms", FIELD_NUMBER, ALWAYS, .help = "from the request to the answer"             \
    }
const struct api_field branches_reply[] = {
    { "session", FIELD_STRING, ALWAYS, .help = "id of the session, which stays the same" },
    BRANCH_END_ROWS,
    { "results", FIELD_OBJECTS, ALWAYS, .fields = branch_result_reply,
      .help = "in the order of the request" },
    { "not_carried", FIELD_STRINGS, ALWAYS, .help = "as in the answer of POST fork" },
    { "pause_ms", FIELD_NUMBER, ALWAYS, .help = "as in the answer of POST fork" },
    { "image_bytes", FIELD_INT, ALWAYS, .help = "as in the answer of POST fork" },
    { .schema = "Branches" },
};
const struct api_field branch_event_reply[] = {
    { "event", FIELD_STRING, ALWAYS, .one_of = branch_event_words, .help = "kind of the event" },
    { "seq", FIELD_INT, .help = "1, 2, …; keepalive has none" },
    { "sessions", FIELD_STRINGS, .help = "of forked: ids of the copies" },
    { "index", FIELD_INT, .help = "of candidate, result and score: position in candidates" },
    { "run", FIELD_STRING, .help = "of candidate: id of its run" },
    { "part", FIELD_STRING, .help = "of candidate: candidate or score" },
    { "state", FIELD_STRING, .one_of = run_state_words,
      .help = "of candidate: waiting, if a person is asked first" },
    { "result", FIELD_OBJECT, .fields = branch_result_reply, .help = "of result" },
    { "score", FIELD_OBJECT, .fields = score_reply, .help = "of score" },
    { "session", FIELD_STRING, .help = "of candidate: id of its copy; of done: id of the session" },
    { .schema = "BranchEvent",
      .fields = branches_reply,
      .help = "The event done has the fields of the answer but results" },
};
