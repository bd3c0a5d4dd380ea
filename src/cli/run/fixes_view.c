#include "cli/run/fixes_view.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "cli/commands/plain.h"
#include "fixes/outcome.h"
#include "run/json.h"

const json_t *fixes_best(const json_t *result)
{
    const json_t *fixes = json_object_get(result, "fixes"), *best = json_object_get(fixes, "best");
    return json_is_integer(best) ? json_array_get(json_object_get(fixes, "candidates"),
                                                  (size_t)json_integer_value(best))
                                 : NULL;
}

static const char *colour_of(char sign)
{
    return sign == '+' ? "\033[32m" : sign == '-' ? "\033[31m" : sign == '@' ? "\033[36m" : "";
}

static int add_diff(struct buf *b, const char *diff, bool colour, struct err *e)
{
    while (*diff) {
        size_t n = strcspn(diff, "\n");
        const char *paint = colour ? colour_of(*diff) : "";
        if (buf_addf(b, e, "%s", paint) || plain_add(b, diff, n, e) ||
            buf_addf(b, e, "%s\n", *paint ? "\033[0m" : ""))
            return -1;
        diff += n + (diff[n] == '\n');
    }
    return 0;
}

static const char *sentence_of(const char *word)
{
    for (int i = 0; i < FIX_OUTCOME_COUNT_; i++)
        if (strcmp(word, fix_outcome_word((enum fix_outcome)i)) == 0)
            return fix_outcome_sentence((enum fix_outcome)i);
    return "was not tried";
}

/* "tried: moves the error to line 7: KeyError: 'b'" */
static int add_outcome(struct buf *b, const json_t *c, struct err *e)
{
    const json_t *error = json_object_get(c, "error"), *line = json_object_get(error, "line");
    const char *word = json_get_text(c, "outcome"), *reason = json_get_text(c, "reason");
    if (buf_addf(b, e, "tried: this %s", sentence_of(word)))
        return -1;
    if (strcmp(word, "moves") == 0 && json_is_integer(line) &&
        buf_addf(b, e, " to line %d", (int)json_integer_value(line)))
        return -1;
    if (json_is_object(error) && strcmp(word, "no_change") != 0 &&
        (buf_addf(b, e, ": ") ||
         plain_add(b, json_get_text(error, "type"), strlen(json_get_text(error, "type")), e) ||
         buf_addf(b, e, "%s", *json_get_text(error, "type") ? ": " : "") ||
         plain_add(b, json_get_text(error, "message"),
                   strcspn(json_get_text(error, "message"), "\n"), e)))
        return -1;
    if (*reason && (buf_addf(b, e, ": ") || plain_add(b, reason, strlen(reason), e)))
        return -1;
    return buf_addf(b, e, "\n");
}

int fixes_view_print(const json_t *result, FILE *out, struct err *e)
{
    scoped(buf) b = { 0 };
    const json_t *fixes = json_object_get(result, "fixes"), *c;
    const char *reason = json_get_text(fixes, "reason");
    bool colour = isatty(fileno(out)) && !getenv("NO_COLOR");
    size_t i;
    if (!json_is_object(fixes))
        return 0;
    json_array_foreach(json_object_get(fixes, "candidates"), i, c)
        if (add_diff(&b, json_get_text(c, "diff"), colour, e) || add_outcome(&b, c, e))
            return -1;
    if (*reason && (buf_addf(&b, e, "no suggestion was tried: ") ||
                    plain_add(&b, reason, strlen(reason), e) || buf_addf(&b, e, "\n")))
        return -1;
    (void)fputs(buf_str(&b), out);
    return 0;
}
