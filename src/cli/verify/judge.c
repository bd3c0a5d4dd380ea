/* Judges a check by the result of its run. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/text.h"
#include "cli/verify/check.h"
#include "cli/verify/compare.h"
#include "run/diff.h"
#include "run/json.h"

[[gnu::format(printf, 3, 4)]]
static void end(struct check *c, enum outcome outcome, const char *fmt, ...)
{
    va_list args;
    c->outcome = outcome;
    va_start(args, fmt);
    (void)vsnprintf(c->why, sizeof c->why, fmt, args);
    va_end(args);
}

/* "runtime_error: KeyError: 'tee'" */
static void tell_failure(struct check *c)
{
    const json_t *d = json_object_get(c->result, "diagnosis");
    const char *type = json_get_text(d, "type"), *message = json_get_text(d, "message");
    const char *verdict = json_get_text(c->result, "verdict");
    bool named = *type && strcmp(type, verdict) != 0;
    if (c->kind == CHECK_DOCTEST && strcmp(type, "exit 1") == 0)
        end(c, OUTCOME_FAILED, "an example has another value");
    else if (*message)
        end(c, OUTCOME_FAILED, "%s: %s%s%s", verdict, named ? type : "", named ? ": " : "",
            message);
    else
        end(c, OUTCOME_FAILED, "%s: exit status %d", verdict,
            (int)json_integer_value(json_object_get(c->result, "exit_code")));
}

static bool says(const struct check *c, const char *text)
{
    const json_t *compile = json_object_get(c->result, "compile");
    return strcmp(json_get_text(c->result, "verdict"), text) == 0 ||
           strstr(json_get_text(c->result, "stderr"), text) ||
           strstr(json_get_text(compile, "stderr"), text) ||
           strstr(json_get_text(compile, "stdout"), text);
}

/* True if the program ended as it should. */
static bool judge_end(struct check *c)
{
    const char *verdict = json_get_text(c->result, "verdict");
    const char *wanted = c->words.value[WORD_EXPECT_ERROR];
    bool success = json_is_true(json_object_get(c->result, "success"));
    int status = (int)json_integer_value(json_object_get(c->result, "exit_code"));
    if (strcmp(verdict, "internal_error") == 0 || strcmp(verdict, "cancelled") == 0 ||
        strcmp(verdict, "rejected") == 0) {
        end(c, OUTCOME_ERROR, "%s: %s", verdict, json_get_text(c->result, "error"));
        return false;
    }
    if (c->words.given[WORD_EXIT]) {
        if ((success || strcmp(verdict, "runtime_error") == 0) && status == c->words.exit_status)
            return true;
        end(c, OUTCOME_FAILED, "%s: exit status %d, and %d was expected", verdict, status,
            c->words.exit_status);
        return false;
    }
    if (!c->words.given[WORD_EXPECT_ERROR]) {
        if (!success)
            tell_failure(c);
        return success;
    }
    if (success)
        end(c, OUTCOME_FAILED, "it ended well, and an error was expected");
    else if (wanted && !says(c, wanted))
        end(c, OUTCOME_FAILED, "%s: it failed without the expected '%s'", verdict, QUOTED(wanted));
    return !success && (!wanted || says(c, wanted));
}

/* The output of a block is the output of its program without that of the blocks before it. */
static struct buf own_output(const struct check *c, const struct check *prior)
{
    const json_t *out = json_object_get(c->result, "stdout");
    const json_t *before = prior ? json_object_get(prior->result, "stdout") : NULL;
    const char *text = json_string_value(out) ? json_string_value(out) : "";
    size_t len = json_string_length(out), skip = 0;
    if (before && len >= json_string_length(before) &&
        memcmp(text, json_string_value(before), json_string_length(before)) == 0)
        skip = json_string_length(before);
    else if (before) /* it prints another text each time: the number of lines is the same */
        for (const char *p = json_string_value(before); skip < len && (p = strchr(p, '\n')); p++) {
            const char *newline = memchr(text + skip, '\n', len - skip);
            skip = newline ? (size_t)(newline - text) + 1 : len;
        }
    struct buf own = { 0 };
    struct err e;
    if (buf_add(&own, text + skip, len - skip, &e))
        own = (struct buf){ 0 };
    return own;
}

/* A diff is of C strings: it shows a NUL as a character that cannot be printed. */
static json_t *difference(const struct buf *expected, const struct buf *got)
{
    scoped(buf) shown = { 0 };
    struct err e;
    for (size_t i = 0; i < got->len; i++)
        if (got->data[i] ? buf_add(&shown, got->data + i, 1, &e) : buf_add(&shown, "\uFFFD", 3, &e))
            return json_null();
    return diff_lines(expected ? buf_str(expected) : "", buf_str(&shown));
}

static bool compare(struct check *c, struct step *s)
{
    if (!s->compared ||
        output_matches(buf_str(&s->expected), s->expected.len, buf_str(&s->got), s->got.len))
        return true;
    c->diff = difference(&s->expected, &s->got);
    c->diff_line = s->line;
    end(c, OUTCOME_FAILED, "the output is not the expected one");
    return false;
}

/* A command with an output is judged by the output, any other command by its exit status. */
static void judge_console(struct check *c)
{
    const json_t *out = json_object_get(c->result, "stdout");
    struct err e;
    if (console_split(c, json_string_value(out) ? json_string_value(out) : "",
                      json_string_length(out), &e)) {
        end(c, OUTCOME_ERROR, "%s", e.text);
        return;
    }
    for (size_t i = 0; i < c->n_steps; i++) {
        struct step *s = &c->steps[i];
        if (!s->reached) {
            tell_failure(c);
            if (json_is_true(json_object_get(c->result, "success")))
                end(c, OUTCOME_FAILED, "the shell ended in the command of line %zu", s->line);
            return;
        }
        if (!compare(c, s))
            return;
        if (!s->compared && s->status != 0) {
            end(c, OUTCOME_FAILED, "the command of line %zu ended with exit status %d", s->line,
                s->status);
            c->diff = difference(NULL, &s->got);
            return;
        }
    }
    c->outcome = OUTCOME_PASSED;
}

/* The run ended without a result: its message says why. */
static void tell_refusal(struct check *c, const char *message)
{
    static const char own[] = "belljar: ";
    if (strncmp(message, own, strlen(own)) == 0)
        message += strlen(own);
    if (!*message)
        message = "the run ended without a result";
    end(c, OUTCOME_ERROR, "%.*s", (int)strcspn(message, "\n"), message);
}

void check_take(struct check *c, const char *result, size_t result_len, const char *message)
{
    json_error_t ignored;
    c->result = json_loadb(result, result_len, JSON_ALLOW_NUL, &ignored);
    if (!json_is_object(c->result))
        tell_refusal(c, message);
}

void check_judge(struct check *c, const struct check *prior)
{
    c->wall_ms = (uint64_t)json_number_value(
        json_object_get(json_object_get(c->result, "usage"), "wall_ms"));
    if (c->kind == CHECK_CONSOLE && !c->words.given[WORD_EXPECT_ERROR] &&
        !c->words.given[WORD_EXIT]) {
        judge_console(c);
        return;
    }
    if (!judge_end(c))
        return;
    if (c->kind != CHECK_CONSOLE)
        c->steps[0].got = own_output(c, prior);
    if (c->kind == CHECK_CONSOLE || compare(c, &c->steps[0]))
        c->outcome = OUTCOME_PASSED;
}
