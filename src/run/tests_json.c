#include "run/tests_json.h"

#include <string.h>

#include "run/json.h"

#define SOURCE "guest"

static json_t *case_json(const struct suite_case *c, const json_t *diagnosis)
{
    json_t *o = json_object();
    json_put(o, "name", json_string(c->name));
    json_put(o, "outcome", json_string(suite_outcomes[c->outcome]));
    json_put(o, "duration_ms", c->duration_ms < 0 ? json_null() : json_real(c->duration_ms));
    json_put(o, "message", json_text_or_null(c->message));
    json_put(o, "file", json_text_or_null(c->file));
    json_put(o, "line", c->line ? json_integer(c->line) : json_null());
    json_put(o, "details", json_text_or_null(c->details));
    json_put(o, "diagnosis", diagnosis ? json_incref((json_t *)diagnosis) : json_null());
    return o;
}

json_t *tests_json(const struct suite_runner *runner, const struct suite_report *r,
                   json_t *const *diagnoses)
{
    size_t counts[SUITE_OUTCOME_COUNT_] = { 0 };
    json_t *o = json_object(), *cases = json_array();
    for (size_t i = 0; i < r->n; i++) {
        counts[r->cases[i].outcome]++;
        (void)json_array_append_new(cases,
                                    case_json(&r->cases[i], diagnoses ? diagnoses[i] : NULL));
    }
    json_put(o, "runner", json_string(runner->name));
    json_put(o, "language", json_string(runner->language));
    json_put(o, "source", json_string(SOURCE));
    json_put(o, "total", json_integer((json_int_t)r->n));
    for (int i = 0; i < SUITE_OUTCOME_COUNT_; i++)
        json_put(o, suite_outcomes[i], json_integer((json_int_t)counts[i]));
    json_put(o, "cut", json_boolean(r->cut));
    json_put(o, "cases", cases);
    return o;
}

#define X(id, word) id,
enum tests_outcome { TESTS_OUTCOME_TABLE(X) };
#undef X

static enum tests_outcome outcome_of(enum verdict verdict, int exit_code, enum test_runner runner,
                                     const json_t *tests)
{
    const struct suite_runner *r = suite_runner(runner);
    if (verdict != VERDICT_OK && verdict != VERDICT_RUNTIME_ERROR)
        return TESTS_STOPPED;
    if (!tests || !r)
        return TESTS_UNKNOWN;
    if (json_integer_value(json_object_get(tests, "total")) == 0 &&
        (verdict == VERDICT_OK || exit_code == r->no_tests))
        return TESTS_NONE;
    bool bad = json_integer_value(json_object_get(tests, suite_outcomes[SUITE_FAILED])) > 0 ||
               json_integer_value(json_object_get(tests, suite_outcomes[SUITE_ERROR])) > 0;
    return verdict == VERDICT_OK && !bad ? TESTS_PASSED : TESTS_FAILED;
}

const char *tests_outcome(enum verdict verdict, int exit_code, enum test_runner runner,
                          const json_t *tests)
{
    static const char *const words[] = {
#define X(id, word) word,
        TESTS_OUTCOME_TABLE(X)
#undef X
    };
    return words[outcome_of(verdict, exit_code, runner, tests)];
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

static bool is_outcome(const json_t *value)
{
    const char *word = json_string_value(value);
    for (int i = 0; word && i < SUITE_OUTCOME_COUNT_; i++)
        if (strcmp(word, suite_outcomes[i]) == 0)
            return true;
    return false;
}

/* Repaired bytes take up to three times their room. */
static bool is_case(json_t *c)
{
    const json_t *diagnosis = json_object_get(c, "diagnosis"), *line = json_object_get(c, "line"),
                 *duration = json_object_get(c, "duration_ms");
    return is_text(json_object_get(c, "name"), (size_t)3 * SUITE_NAME_MAX) &&
           is_outcome(json_object_get(c, "outcome")) &&
           (json_is_null(duration) || json_is_number(duration)) &&
           is_text_or_null(json_object_get(c, "message"), (size_t)3 * SUITE_MESSAGE_MAX) &&
           is_text_or_null(json_object_get(c, "file"), (size_t)3 * 256) &&
           (json_is_null(line) || (json_is_integer(line) && json_integer_value(line) > 0)) &&
           is_text_or_null(json_object_get(c, "details"), (size_t)3 * SUITE_DETAILS_MAX) &&
           (json_is_null(diagnosis) || json_is_object(diagnosis)) && json_object_size(c) == 8;
}

static bool is_runner(const char *name, const char *language)
{
    for (int i = TEST_RUNNER_NONE + 1; name && language && i < TEST_RUNNER_COUNT_; i++) {
        const struct suite_runner *r = suite_runner((enum test_runner)i);
        if (strcmp(r->name, name) == 0)
            return strcmp(r->language, language) == 0;
    }
    return false;
}

/* The counts are those of the cases. */
static bool are_counts(const json_t *tests, const json_t *cases)
{
    json_int_t counts[SUITE_OUTCOME_COUNT_] = { 0 };
    size_t i;
    json_t *c;
    json_array_foreach(cases, i, c)
        for (int k = 0; k < SUITE_OUTCOME_COUNT_; k++)
            counts[k] += strcmp(json_string_value(json_object_get(c, "outcome")),
                                suite_outcomes[k]) == 0;
    for (int k = 0; k < SUITE_OUTCOME_COUNT_; k++)
        if (json_integer_value(json_object_get(tests, suite_outcomes[k])) != counts[k])
            return false;
    return json_integer_value(json_object_get(tests, "total")) ==
           (json_int_t)json_array_size(cases);
}

bool tests_valid(const json_t *tests)
{
    const json_t *cases = json_object_get(tests, "cases");
    const char *source = json_string_value(json_object_get(tests, "source"));
    size_t i;
    json_t *c;
    if (!json_is_array(cases) || json_array_size(cases) > SUITE_CASES_MAX)
        return false;
    json_array_foreach(cases, i, c)
        if (!is_case(c))
            return false;
    return is_runner(json_string_value(json_object_get(tests, "runner")),
                     json_string_value(json_object_get(tests, "language"))) &&
           source && strcmp(source, SOURCE) == 0 &&
           json_is_boolean(json_object_get(tests, "cut")) && are_counts(tests, cases) &&
           json_object_size(tests) == 6 + (size_t)SUITE_OUTCOME_COUNT_;
}
