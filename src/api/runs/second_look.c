#include "api/runs/second_look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "run/json.h"

/* bash prints this and the line before each command. */
#define TRACE_MARK "+@belljar@"

static json_t *diagnosis_of(const struct run *run)
{
    return json_object_get(run->result_json, "diagnosis");
}

static bool has_line(const struct run *run)
{
    return json_is_integer(json_object_get(json_object_get(diagnosis_of(run), "location"), "line"));
}

static bool ran_out_of_time(const struct run *run)
{
    return run->result.verdict == VERDICT_TIMEOUT || run->result.verdict == VERDICT_CPU_TIMEOUT;
}

/* `set -e` ends a script without a word. */
static bool is_traced(const struct run *run)
{
    return strcmp(run->spec.language->name, "bash") == 0 && !run->spec.options.allow_commands &&
           (ran_out_of_time(run) || run->result.verdict == VERDICT_RUNTIME_ERROR);
}

bool look_helps(const struct run *run)
{
    if (!json_is_object(diagnosis_of(run)) || has_line(run))
        return false;
    return is_traced(run) || (ran_out_of_time(run) && run->spec.language->profile);
}

void look_change(const struct run *run, json_t *request)
{
    json_t *env = json_object_get(request, "env");
    if (!is_traced(run)) {
        json_put(request, "profile", json_true());
        return;
    }
    if (!env) {
        env = json_object();
        json_put(request, "env", env);
        env = json_object_get(request, "env");
    }
    json_put(env, "SHELLOPTS", json_string("xtrace"));
    json_put(env, "PS4", json_string(TRACE_MARK "${LINENO}: "));
}

/* The line of the last command that the trace has; 0: none. */
static unsigned long last_traced(const struct run *other)
{
    enum { SEEN = 64 << 10 };
    scoped(buf) text = { 0 };
    struct err e;
    unsigned long line = 0;
    if (journal_both_ends(&other->journal, JOURNAL_STDERR, SEEN, &text, &e))
        return 0;
    for (const char *at = buf_str(&text); (at = strstr(at, TRACE_MARK));) {
        at += strlen(TRACE_MARK);
        line = strtoul(at, NULL, 10);
    }
    return line < 1000000 ? line : 0;
}

/* The line of the program, as an excerpt has it. */
static json_t *excerpt_of(const char *code, unsigned long line)
{
    enum { SHOWN = 200 };
    for (unsigned long i = 1; i < line && code; i++) {
        code = strchr(code, '\n');
        code = code ? code + 1 : NULL;
    }
    size_t n = code ? strcspn(code, "\n") : 0;
    json_t *text = code ? json_stringn(code, n < SHOWN ? n : SHOWN) : NULL;
    return text ? json_pack("[{s:I, s:o}]", "line", (json_int_t)line, "text", text) : json_array();
}

static void take_trace(struct run *run, const struct run *other)
{
    unsigned long line = last_traced(other);
    json_t *d = diagnosis_of(run), *suggestions = json_object_get(d, "suggestions");
    if (line == 0)
        return;
    json_put(d, "location",
             json_pack("{s:s, s:I, s:n, s:n}", "file", run->spec.main_name, "line",
                       (json_int_t)line, "column", "end_column"));
    json_put(d, "excerpt", excerpt_of(run->spec.code, line));
    (void)json_array_insert_new(
        suggestions, 0,
        json_pack("{s:o, s:f}", "text",
                  json_sprintf("%s line %lu, as a second run with a trace shows.",
                               ran_out_of_time(run) ? "The last command that it began is at"
                                                    : "The command that ended it is at",
                               line),
                  "confidence", 0.9));
}

void look_take(struct run *run, const struct run *other)
{
    static const char *const keys[] = { "location", "excerpt", "suggestions" };
    if (other->result.verdict != run->result.verdict)
        return;
    if (is_traced(run)) {
        take_trace(run, other);
        return;
    }
    for (size_t i = 0; has_line(other) && i < sizeof keys / sizeof *keys; i++)
        (void)json_object_set(diagnosis_of(run), keys[i],
                              json_object_get(diagnosis_of(other), keys[i]));
}
