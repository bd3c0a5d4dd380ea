#include "api/runs/second_look.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
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

/* The value of this key, which is the given one if there is none yet. Takes over `otherwise`. */
static json_t *member(json_t *object, const char *key, json_t *otherwise)
{
    if (json_object_get(object, key))
        json_decref(otherwise);
    else
        json_put(object, key, otherwise);
    return json_object_get(object, key);
}

static void take(struct run *run, const struct run *other, const char *const *keys)
{
    for (; *keys; keys++)
        (void)json_object_set(diagnosis_of(run), *keys,
                              json_object_get(diagnosis_of(other), *keys));
}

static bool ran_out_of_time(const struct run *run)
{
    return run->result.verdict == VERDICT_TIMEOUT || run->result.verdict == VERDICT_CPU_TIMEOUT;
}

/* ---- the line of a crash: the sanitizers ---- */

static bool has_crashed(const struct run *run)
{
    static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP };
    char *const *args = run->spec.options.compiler_args;
    const char *language = run->spec.language->name;
    bool known = false;
    if (strcmp(language, "c") != 0 && strcmp(language, "cpp") != 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(crashes); i++)
        known |= run->result.evidence.signal == crashes[i];
    for (; known && args && *args; args++)
        known = strncmp(*args, "-fsanitize", strlen("-fsanitize")) != 0;
    return known;
}

/* handle_abort tells the place of abort() and of an exception that nothing catches. The others are
 * those of the language (runtime/c/lang.c). */
static void ask_sanitizers(json_t *request)
{
    json_t *args = member(request, "compiler_args", json_array());
    (void)json_array_append_new(args, json_string("-fsanitize=address,undefined"));
    /* Its words for a write beyond a block are those for a wrong type; those of address are exact. */
    (void)json_array_append_new(args, json_string("-fno-sanitize=object-size"));
    (void)json_array_append_new(args, json_string("-g"));
    json_put(member(request, "env", json_object()), "ASAN_OPTIONS",
             json_string("disable_coredump=0:detect_leaks=0:handle_abort=1"));
}

/* A program that ended itself has said why. Of another end, the sanitizers know more than its signal. */
static void take_crash(struct run *run, const struct run *other)
{
    static const char *const place[] = { "location", "excerpt", "frames", NULL };
    static const char *const reason[] = {
        "category", "type", "message", "suggestions", "docs", NULL
    };
    const char *type = json_find_text(diagnosis_of(other), "type");
    if (!has_line(other))
        return;
    take(run, other, place);
    if (type && strcmp(type, "ABRT") != 0)
        take(run, other, reason);
}

/* ---- the last command of a shell: a trace ---- */

/* `set -e` ends a script without a word. */
static bool is_traced(const struct run *run)
{
    return strcmp(run->spec.language->name, "bash") == 0 && !run->spec.options.allow_commands &&
           (ran_out_of_time(run) || run->result.verdict == VERDICT_RUNTIME_ERROR);
}

static void ask_trace(json_t *request)
{
    json_t *env = member(request, "env", json_object());
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

/* ---- where the time went: a profile ---- */

static bool is_profiled(const struct run *run)
{
    return ran_out_of_time(run) && run->spec.language->profile;
}

static void ask_profile(json_t *request)
{
    json_put(request, "profile", json_true());
}

static void take_profile(struct run *run, const struct run *other)
{
    static const char *const keys[] = { "location", "excerpt", "suggestions", NULL };
    if (has_line(other))
        take(run, other, keys);
}

/* ---- all of them ---- */

static const struct look {
    bool (*helps)(const struct run *run);
    void (*ask)(json_t *request);
    void (*take)(struct run *run, const struct run *other);
} looks[] = {
    { is_traced, ask_trace, take_trace },
    { is_profiled, ask_profile, take_profile },
    { has_crashed, ask_sanitizers, take_crash },
};

static const struct look *look_for(const struct run *run)
{
    for (size_t i = 0; i < ARRAY_LEN(looks); i++)
        if (looks[i].helps(run))
            return &looks[i];
    return NULL;
}

bool look_helps(const struct run *run)
{
    return json_is_object(diagnosis_of(run)) && !has_line(run) && look_for(run);
}

void look_change(const struct run *run, json_t *request)
{
    look_for(run)->ask(request);
}

void look_take(struct run *run, const struct run *other)
{
    if (other->result.verdict == run->result.verdict)
        look_for(run)->take(run, other);
}
