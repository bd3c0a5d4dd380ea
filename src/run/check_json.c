#include "run/check_json.h"

#include <string.h>

#include "checks/checks.h"
#include "checks/risks.h"

#define X(id, word) id,
enum check_outcome { CHECK_OUTCOME_TABLE(X) };
#undef X

static enum check_state state_of(const json_t *language, enum check_step step)
{
    const json_t *answer = json_object_get(language, check_steps[step]);
    const char *word = json_string_value(json_object_get(answer, "state"));
    for (int i = 0; word && i < CHECK_STATE_COUNT_; i++)
        if (strcmp(check_states[i], word) == 0)
            return (enum check_state)i;
    return CHECK_UNKNOWN;
}

static enum check_outcome outcome_of(enum verdict verdict, const json_t *check)
{
    const json_t *list = json_object_get(check, "languages");
    bool open = !json_is_true(json_object_get(check, "complete")) || json_array_size(list) == 0;
    json_t *language;
    size_t i;
    if (verdict != VERDICT_OK && verdict != VERDICT_RUNTIME_ERROR)
        return CHECK_STOPPED;
    open = open || verdict != VERDICT_OK;
    json_array_foreach(list, i, language) {
        for (int k = 0; k < CHECK_QUESTIONS; k++) {
            enum check_state state = state_of(language, (enum check_step)k);
            if (state == CHECK_FAILED)
                return CHECK_BAD;
            open = open || state == CHECK_UNKNOWN;
        }
        open = open || state_of(language, CHECK_SYNTAX) != CHECK_OK;
    }
    return open ? CHECK_OPEN : CHECK_PASSED;
}

const char *check_outcome(enum verdict verdict, const json_t *check)
{
    static const char *const words[] = {
#define X(id, word) word,
        CHECK_OUTCOME_TABLE(X)
#undef X
    };
    return words[outcome_of(verdict, check)];
}

/* ---- checks ---- */

static bool is_text(const json_t *value, size_t max)
{
    return json_is_string(value) && json_string_length(value) <= max &&
           !memchr(json_string_value(value), '\0', json_string_length(value));
}

static bool is_text_or_null(const json_t *value, size_t max)
{
    return json_is_null(value) || is_text(value, max);
}

static bool is_number_or_null(const json_t *value)
{
    return json_is_null(value) || (json_is_integer(value) && json_integer_value(value) > 0);
}

static bool is_object_or_null(const json_t *value)
{
    return json_is_null(value) || json_is_object(value);
}

/* Repaired bytes take up to three times their room. */
static bool is_problem(const json_t *p)
{
    return is_text_or_null(json_object_get(p, "file"), (size_t)3 * 256) &&
           is_number_or_null(json_object_get(p, "line")) &&
           is_number_or_null(json_object_get(p, "column")) &&
           is_text_or_null(json_object_get(p, "type"), (size_t)3 * CHECK_TYPE_MAX) &&
           is_text(json_object_get(p, "message"), (size_t)3 * CHECK_MESSAGE_MAX) &&
           is_text_or_null(json_object_get(p, "name"), (size_t)3 * CHECKS_NAME_MAX) &&
           is_object_or_null(json_object_get(p, "diagnosis")) && json_object_size(p) == 7;
}

static bool is_state(const json_t *value)
{
    const char *word = json_string_value(value);
    for (int i = 0; word && i < CHECK_STATE_COUNT_; i++)
        if (strcmp(word, check_states[i]) == 0)
            return true;
    return false;
}

static bool is_answer(const json_t *a)
{
    const json_t *problems = json_object_get(a, "problems");
    json_t *problem;
    size_t i;
    if (!json_is_array(problems) || json_array_size(problems) > CHECKS_PROBLEMS_MAX)
        return false;
    json_array_foreach(problems, i, problem)
        if (!is_problem(problem))
            return false;
    return is_state(json_object_get(a, "state")) &&
           is_text_or_null(json_object_get(a, "tool"), CHECK_TOOL_SIZE) &&
           is_text_or_null(json_object_get(a, "install"), 200) && json_object_size(a) == 4;
}

static bool is_language(const json_t *l)
{
    for (int i = 0; i < CHECK_QUESTIONS; i++)
        if (!is_answer(json_object_get(l, check_steps[i])))
            return false;
    return is_text(json_object_get(l, "language"), LANGUAGE_NAME_SIZE) &&
           json_object_size(l) == 1 + CHECK_QUESTIONS;
}

static bool is_count(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

static bool is_risk(const json_t *r)
{
    enum { WORDS_MAX = 300 };
    return is_text(json_object_get(r, "kind"), 64) && is_count(json_object_get(r, "line")) &&
           is_count(json_object_get(r, "column")) &&
           is_text(json_object_get(r, "excerpt"), (size_t)3 * RISK_EXCERPT_MAX + 16) &&
           is_text(json_object_get(r, "why"), WORDS_MAX) &&
           is_text_or_null(json_object_get(r, "file"), (size_t)3 * 256) && json_object_size(r) == 6;
}

bool check_valid(const json_t *check)
{
    const json_t *list = json_object_get(check, "languages"),
                 *risks = json_object_get(check, "risks");
    const char *source = json_string_value(json_object_get(check, "source"));
    json_t *one;
    size_t i;
    if (!json_is_array(list) || json_array_size(list) > LANGUAGES_MAX || !json_is_array(risks))
        return false;
    json_array_foreach(list, i, one)
        if (!is_language(one))
            return false;
    json_array_foreach(risks, i, one)
        if (!is_risk(one))
            return false;
    return source && strcmp(source, CHECK_SOURCE) == 0 &&
           json_is_boolean(json_object_get(check, "complete")) &&
           json_is_boolean(json_object_get(check, "cut")) && json_object_size(check) == 5;
}
