#include "fixes/outcome.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *word, *sentence;
} outcomes[FIX_OUTCOME_COUNT_] = {
#define X(id, word, sentence) { word, sentence },
    FIX_OUTCOME_TABLE(X)
#undef X
};

const char *fix_outcome_word(enum fix_outcome o)
{
    return outcomes[o].word;
}

const char *fix_outcome_sentence(enum fix_outcome o)
{
    return outcomes[o].sentence;
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* The run did not get to an end of its own. */
static bool was_not_run(enum verdict v)
{
    return v == VERDICT_CANCELLED || v == VERDICT_REJECTED || v == VERDICT_INTERNAL_ERROR;
}

static bool is_limit(enum verdict v)
{
    return v != VERDICT_OK && v != VERDICT_RUNTIME_ERROR && v != VERDICT_COMPILE_ERROR;
}

enum fix_outcome fix_outcome(const struct run_error *before, const struct run_error *after,
                             uint32_t changed, uint32_t added)
{
    uint32_t line = before->line + (before->line >= changed ? added : 0);
    if (was_not_run(after->verdict))
        return FIX_NOT_TRIED;
    if (after->verdict == VERDICT_OK)
        return FIX_CURES;
    if (is_limit(after->verdict) && after->verdict != before->verdict)
        return FIX_LIMIT;
    bool same = after->verdict == before->verdict && same_text(after->type, before->type) &&
                same_text(after->message, before->message) &&
                same_text(after->file, before->file) &&
                (after->line == line || after->line == before->line);
    return same ? FIX_NO_CHANGE : FIX_MOVES;
}
