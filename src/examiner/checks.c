#include "examiner/checks.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "checks/checks.h"
#include "checks/hidden.h"
#include "checks/risks.h"
#include "run/check_json.h"
#include "run/diagnosis_json.h"
#include "run/json.h"

struct finder {
    struct diagnoser *g;
    const struct question *question;
    struct diagnosis *d;
    json_t *languages;
    size_t problems;
    bool cut; /* there were more problems */
};

/* ---- answers ---- */

static json_t *answer_new(const char *tool)
{
    return json_pack("{s:s, s:s?, s:n, s:[]}", "state", check_states[CHECK_NONE], "tool", tool,
                     "install", "problems");
}

/* The object of a language; it is new if the report names the language for the first time. */
static json_t *language_entry(struct finder *f, const char *name)
{
    const struct checker *checker = checker_of(name);
    json_t *known;
    size_t i;
    json_array_foreach(f->languages, i, known)
        if (strcmp(json_string_value(json_object_get(known, "language")), name) == 0)
            return known;
    if (i == LANGUAGES_MAX)
        return NULL;
    json_t *o = json_pack("{s:s}", "language", name);
    for (int k = 0; k < CHECK_QUESTIONS; k++)
        json_put(o, check_steps[k],
                 answer_new(k == CHECK_TYPES && checker ? checker->types : NULL));
    return json_array_append_new(f->languages, o) ? NULL : o;
}

static enum check_state state_of(const json_t *answer)
{
    const char *word = json_string_value(json_object_get(answer, "state"));
    for (int i = 0; word && i < CHECK_STATE_COUNT_; i++)
        if (strcmp(check_states[i], word) == 0)
            return (enum check_state)i;
    return CHECK_UNKNOWN;
}

/* A state never gets better. */
static void raise_state(json_t *answer, enum check_state state)
{
    if (state > state_of(answer))
        json_put(answer, "state", json_string(check_states[state]));
}

/* ---- problems ---- */

static json_t *text_json(const char *text, size_t n, size_t max)
{
    scoped(buf) b = { 0 };
    struct err e;
    if (n > max)
        n = text_whole(text, max);
    if (text_add_utf8(&b, text, n, &e))
        return NULL;
    for (size_t i = 0; i < b.len; i++)
        if (b.data[i] == '\0')
            b.data[i] = '?';
    return json_stringn(buf_str(&b), b.len);
}

static json_t *number_or_null(uint32_t n)
{
    return n > 0 ? json_integer(n) : json_null();
}

/* The text of a diagnosis, which a cut may have left ill-formed. */
static json_t *words_json(const char *text, size_t max)
{
    return text_json(text, strlen(text), max);
}

/* message, type and place: of a diagnosis, of one of its further errors, or of none. */
static json_t *problem_new(const struct place_in_code *at, const char *type, json_t *message)
{
    json_t *o = json_object();
    json_put(o, "file", at->file[0] ? words_json(at->file, sizeof at->file) : json_null());
    json_put(o, "line", number_or_null(at->line));
    json_put(o, "column", number_or_null(at->column));
    json_put(o, "type", type[0] ? words_json(type, CHECK_TYPE_MAX) : json_null());
    json_put(o, "message", message);
    json_put(o, "name", json_null());
    json_put(o, "diagnosis", json_null());
    return o;
}

static void add_problem(struct finder *f, json_t *answer, json_t *problem)
{
    if (f->problems < CHECKS_PROBLEMS_MAX) {
        f->problems++;
        (void)json_array_append_new(json_object_get(answer, "problems"), problem);
        return;
    }
    f->cut = true;
    json_decref(problem);
}

static void copy_name(const struct check_entry *entry, char *out, size_t size)
{
    size_t n = entry->name_len < size - 1 ? text_whole(entry->name, entry->name_len) : 0;
    memcpy(out, entry->name, n);
    out[n] = '\0';
}

static bool explain(struct finder *f, const struct check_entry *entry, char *name, size_t size)
{
    struct diagnose_input in = f->question->input;
    copy_name(entry, name, size);
    in.language = entry->language;
    in.grammar = language_grammar(language_find(entry->language));
    in.compiling = entry->step == CHECK_COMPILE;
    in.text = entry->text;
    in.len = entry->text_len;
    in.printed = NULL;
    in.printed_len = 0;
    in.whereabouts = NULL;
    in.whereabouts_len = 0;
    in.main_name = entry->step != CHECK_IMPORTS && name[0] ? name : NULL;
    in.evidence = NULL; /* these are about the script */
    in.limits = NULL;
    in.usage = NULL;
    in.available = NULL;
    in.verdict = in.compiling ? VERDICT_COMPILE_ERROR : VERDICT_RUNTIME_ERROR;
    return f->g && diagnose(f->g, &in, f->d);
}

/* The last line of a text that is not blank. */
static json_t *last_line(const char *text, size_t n)
{
    while (n > 0 && (unsigned char)text[n - 1] <= ' ')
        n--;
    size_t at = n;
    while (at > 0 && text[at - 1] != '\n')
        at--;
    return text_json(text + at, n - at, CHECK_MESSAGE_MAX);
}

/* ---- the question that an error belongs to ---- */

static json_t *answer_of(const json_t *language, enum check_step step)
{
    return json_object_get(language, check_steps[step]);
}

static bool is_untyped(const char *language)
{
    const struct checker *c = checker_of(language);
    return c && c->untyped;
}

/* Words of compilers for errors that are not about types. */
static const struct {
    const char *words;
    bool at_begin;
    enum check_step step;
} phrases[] = {
    { "No such file or directory", false, CHECK_IMPORTS },
    { "cannot find package", false, CHECK_IMPORTS },
    { "is not in GOROOT", false, CHECK_IMPORTS },
    { "is not in std", false, CHECK_IMPORTS },
    { "no required module provides", false, CHECK_IMPORTS },
    { "Cannot find module", false, CHECK_IMPORTS },
    { "Can't locate ", true, CHECK_IMPORTS },
    { "unresolved import", true, CHECK_IMPORTS },
    { "can't find crate", true, CHECK_IMPORTS },
    { "does not exist", false, CHECK_IMPORTS }, /* javac: package x does not exist */
    { "syntax error", true, CHECK_SYNTAX },
    { "expected ", true, CHECK_SYNTAX },
    { "unexpected ", true, CHECK_SYNTAX },
    { "' expected", false, CHECK_SYNTAX },
    { "reached end of file", true, CHECK_SYNTAX },
};

static enum check_step step_of_words(const char *type, const char *message)
{
    if (strncmp(type, "TS1", 3) == 0 && strlen(type) == strlen("TS1000"))
        return CHECK_SYNTAX;
    for (size_t i = 0; i < ARRAY_LEN(phrases); i++) {
        const char *found = strstr(message, phrases[i].words);
        if (found && (!phrases[i].at_begin || found == message))
            return phrases[i].step;
    }
    return CHECK_TYPES;
}

/* category: CATEGORY_COMPILE if it is not known. */
static enum check_step step_of(const struct check_entry *entry, enum category category,
                               const char *type, const char *message)
{
    if (entry->step != CHECK_COMPILE)
        return entry->step;
    enum check_step step = category == CATEGORY_SYNTAX   ? CHECK_SYNTAX
                           : category == CATEGORY_IMPORT ? CHECK_IMPORTS
                                                         : step_of_words(type, message);
    return step == CHECK_TYPES && is_untyped(entry->language) ? CHECK_SYNTAX : step;
}

static void put_problem(struct finder *f, json_t *language, enum check_step step, json_t *problem)
{
    json_t *answer = answer_of(language, step);
    raise_state(answer, CHECK_FAILED);
    add_problem(f, answer, problem);
}

static void add_explained(struct finder *f, json_t *language, const struct check_entry *entry)
{
    const struct diagnosis *d = f->d;
    json_t *problem = problem_new(&d->location, d->type, words_json(d->message, CHECK_MESSAGE_MAX));
    if (entry->step == CHECK_IMPORTS && entry->name_len > 0)
        json_put(problem, "name", text_json(entry->name, entry->name_len, CHECKS_NAME_MAX));
    json_put(problem, "diagnosis", diagnosis_json(d));
    put_problem(f, language, step_of(entry, d->category, d->type, d->message), problem);
    for (size_t i = 0; i < d->n_further; i++) {
        const struct further_error *more = &d->further[i];
        put_problem(
            f, language, step_of(entry, CATEGORY_COMPILE, more->type, more->message),
            problem_new(&more->at, more->type, words_json(more->message, CHECK_MESSAGE_MAX)));
    }
    f->cut = f->cut || d->further_left_out > 0;
}

/* A text without a known error. */
static void add_unexplained(struct finder *f, json_t *language, const struct check_entry *entry,
                            enum check_state state, json_t *message)
{
    static const struct place_in_code nowhere;
    enum check_step step = entry->step == CHECK_COMPILE ? CHECK_SYNTAX : entry->step;
    json_t *problem = problem_new(&nowhere, "", message);
    if (entry->name_len > 0)
        json_put(problem, "file", text_json(entry->name, entry->name_len, CHECKS_NAME_MAX));
    raise_state(answer_of(language, step), state);
    add_problem(f, answer_of(language, step), problem);
}

/* A tool for several questions has failed: the ones without an error of their own. */
static void settle_others(const json_t *language)
{
    const json_t *syntax = answer_of(language, CHECK_SYNTAX);
    bool parsed = state_of(syntax) < CHECK_UNKNOWN;
    enum check_state imports = parsed ? CHECK_OK : CHECK_SKIPPED;
    raise_state(answer_of(language, CHECK_SYNTAX), CHECK_OK);
    raise_state(answer_of(language, CHECK_IMPORTS), imports);
    bool found = parsed && state_of(answer_of(language, CHECK_IMPORTS)) < CHECK_UNKNOWN;
    if (!is_untyped(json_string_value(json_object_get(language, "language"))))
        raise_state(answer_of(language, CHECK_TYPES), found ? CHECK_OK : CHECK_SKIPPED);
}

/* Tools that a shell could not start, or that a signal ended, have found nothing out. */
static bool has_died(const struct check_entry *entry)
{
    enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127, SIGNALLED = 128, SIGNALS = 64 };
    return entry->status == NOT_EXECUTABLE || entry->status == NOT_FOUND ||
           (entry->status > SIGNALLED && entry->status <= SIGNALLED + SIGNALS) ||
           entry->text_len == 0;
}

static void add_failure(struct finder *f, json_t *language, const struct check_entry *entry)
{
    char name[CHECKS_NAME_MAX + 1];
    if (has_died(entry)) {
        json_t *words = json_sprintf("%s ended with status %d", entry->tool, entry->status);
        add_unexplained(f, language, entry, CHECK_UNKNOWN, words);
    } else if (explain(f, entry, name, sizeof name)) {
        add_explained(f, language, entry);
    } else { /* a type checker that names no error did not check the types */
        add_unexplained(f, language, entry,
                        entry->step == CHECK_TYPES ? CHECK_UNKNOWN : CHECK_FAILED,
                        last_line(entry->text, entry->text_len));
    }
    if (entry->step == CHECK_COMPILE)
        settle_others(language);
}

static void set_install(json_t *answer, const struct check_entry *entry)
{
    const struct checker *c = checker_of(entry->language);
    const struct language *l = language_find(entry->language);
    const char *command = entry->step == CHECK_TYPES && c && c->types_install ? c->types_install
                          : l                                                 ? l->install
                                                                              : NULL;
    json_put(answer, "install", json_text_or_null(command));
}

static void take_entry(struct finder *f, const struct check_entry *entry)
{
    json_t *language = language_entry(f, entry->language);
    bool all = entry->step == CHECK_COMPILE;
    if (!language)
        return;
    for (int i = 0; i < CHECK_QUESTIONS; i++) {
        json_t *answer = answer_of(language, (enum check_step)i);
        if (all ? i == CHECK_TYPES && is_untyped(entry->language) : i != (int)entry->step)
            continue;
        bool named = json_is_string(json_object_get(answer, "tool"));
        if (strcmp(entry->tool, "-") != 0 && !(all && named))
            json_put(answer, "tool", json_string(entry->tool));
        if (entry->state == CHECK_NOT_INSTALLED)
            set_install(answer, entry);
        if (entry->state != CHECK_FAILED)
            raise_state(answer, entry->state);
    }
    if (entry->state == CHECK_FAILED)
        add_failure(f, language, entry);
}

/* ---- risks ---- */

static void add_not_looked_at(json_t *risks, const char *file, const char *why)
{
    (void)json_array_append_new(risks, json_pack("{s:s, s:i, s:i, s:s, s:s, s:s?}", "kind",
                                                 "not_looked_at", "line", 0, "column", 0, "excerpt",
                                                 "", "why", why, "file", file));
}

static void add_risks(json_t *risks, const struct language *l, const struct source_file *s)
{
    json_auto_t *hidden = json_array(), *found = NULL, *name = json_string(s->name);
    json_t *risk;
    size_t i;
    hidden_find(hidden, s->text, s->len, name, NULL);
    (void)json_array_extend(risks, hidden);
    found = risks_find(l->name, s->text, s->len);
    json_array_foreach(found, i, risk) {
        const json_t *excerpt = json_object_get(risk, "excerpt"); /* it may have a NUL */
        json_put(risk, "excerpt",
                 text_json(json_string_value(excerpt), json_string_length(excerpt),
                           (size_t)3 * RISK_EXCERPT_MAX));
        (void)json_object_set(risk, "file", name);
        (void)json_array_append(risks, risk);
    }
}

/* In the files with code. RISKS_MAX bounds those of one file, so this bounds the number of files. */
static json_t *find_risks(const struct question *q)
{
    const struct diagnose_input *in = &q->input;
    json_t *risks = json_array();
    for (size_t i = 0; i < in->n_sources; i++) {
        const struct source_file *s = &in->sources[i];
        const struct language *l = language_guess(s->name, s->text ? s->text : "", s->len);
        if (!l || strcmp(s->name, CHECKS_SCRIPT) == 0)
            continue;
        if (json_array_size(risks) >= CHECK_RISKS_MAX)
            add_not_looked_at(risks, s->name, "the files before it have many risks");
        else if (!s->text)
            add_not_looked_at(risks, s->name, "the file is large, or not text");
        else
            add_risks(risks, l, s);
    }
    if (in->n_sources == 0 || in->n_sources == QUESTION_SOURCES_MAX)
        add_not_looked_at(risks, NULL,
                          "there are many files, or large ones: some were not looked at");
    return risks;
}

json_t *checks_find(struct diagnoser *g, const struct question *q)
{
    autofree struct diagnosis *d = malloc(sizeof *d);
    struct finder f = { .g = g, .question = q, .d = d, .languages = json_array() };
    struct check_report report = check_report_of(q->input.printed ? q->input.printed : "",
                                                 q->input.printed_len);
    struct check_entry entry;
    json_t *o = json_object();
    json_put(o, "source", json_string(CHECK_SOURCE));
    json_put(o, "risks", find_risks(q));
    while (d && check_report_next(&report, &entry))
        take_entry(&f, &entry);
    json_put(o, "complete", json_boolean(report.complete));
    json_put(o, "cut", json_boolean(f.cut));
    json_put(o, "languages", f.languages);
    return o;
}
