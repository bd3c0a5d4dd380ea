/* The outcomes as text and as JSON. */
#include "cli/verify/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/text.h"
#include "diagnose/core/diagnose.h"
#include "run/diagnosis_json.h"
#include "run/json.h"

enum { DETAIL_LINES = 40, DETAIL_BYTES = 8 << 10 };

struct totals totals_of(const struct checks *all)
{
    struct totals t = { 0 };
    for (size_t i = 0; i < all->n; i++)
        t.n[all->at[i].outcome]++;
    return t;
}

bool totals_are_good(const struct totals *t)
{
    return t->n[OUTCOME_FAILED] == 0 && t->n[OUTCOME_ERROR] == 0 && t->n[OUTCOME_PENDING] == 0;
}

/* ---- details ---- */

int report_add_printable(struct buf *b, const char *text, size_t len, struct err *e)
{
    for (size_t i = 0; i < len;) {
        size_t n = text_printable(text + i, len - i);
        bool layout = text[i] == '\n' || text[i] == '\t';
        if (n || layout ? buf_add(b, text + i, n ? n : 1, e) : buf_add(b, "\uFFFD", 3, e))
            return -1;
        i += n ? n : 1;
    }
    return 0;
}

static int add_diff(const struct check *c, struct buf *out, struct err *e)
{
    size_t i, n = 0;
    const json_t *line;
    if (json_is_null(c->diff))
        return buf_addf(out, e, "the output is too long to show the difference\n");
    json_array_foreach(c->diff, i, line) {
        if (n++ == DETAIL_LINES || out->len > DETAIL_BYTES)
            return buf_addf(out, e, "(%zu more lines)\n", json_array_size(c->diff) - i);
        size_t len = json_string_length(line);
        if (report_add_printable(out, json_string_value(line), len > 400 ? 400 : len, e) ||
            buf_add(out, "\n", 1, e))
            return -1;
    }
    return 0;
}

int report_add_tail(const json_t *stream, struct buf *out, struct err *e)
{
    const char *text = json_string_value(stream);
    size_t len = json_string_length(stream), from = len, lines = 0;
    while (from > 0 && len - from < DETAIL_BYTES) {
        if (text[from - 1] == '\n' && from < len && ++lines == DETAIL_LINES)
            break;
        from--;
    }
    return text ? report_add_printable(out, text + from, len - from, e) : 0;
}

static int add_diagnosis(const struct checks *all, const struct check *c, const json_t *json,
                         struct buf *out, struct err *e)
{
    autofree struct diagnosis *d = calloc(1, sizeof *d);
    size_t line = 0;
    if (!d)
        return err_no_memory(e, "a diagnosis");
    if (!diagnosis_from_json(json, d))
        return 0;
    if (d->location.line && program_place(all, c, d->location.line, &line) &&
        buf_addf(out, e, "at %s:%zu\n", c->file, line))
        return -1;
    return diagnosis_text(d, false, 0, out, e);
}

int report_details(const struct checks *all, const struct check *c, struct buf *out, struct err *e)
{
    const json_t *diagnosis = json_object_get(c->result, "diagnosis");
    if (c->outcome != OUTCOME_FAILED)
        return 0;
    if (c->diff && c->diff_line &&
        buf_addf(out, e, "%s:%zu: - expected, + printed\n", c->file, c->diff_line))
        return -1;
    if (c->diff)
        return add_diff(c, out, e);
    if (c->kind != CHECK_DOCTEST && c->kind != CHECK_COMMAND && json_is_object(diagnosis))
        return add_diagnosis(all, c, diagnosis, out, e);
    return report_add_tail(json_object_get(c->result, "stdout"), out, e) ||
                   report_add_tail(json_object_get(c->result, "stderr"), out, e)
               ? -1
               : 0;
}

/* ---- text ---- */

static const struct {
    const char *word, *colour;
} shown[OUTCOME_COUNT_] = {
    [OUTCOME_PENDING] = { "----", "" },          [OUTCOME_PASSED] = { "ok  ", "\033[32m" },
    [OUTCOME_FAILED] = { "FAIL", "\033[1;31m" }, [OUTCOME_ERROR] = { "FAIL", "\033[1;31m" },
    [OUTCOME_SKIPPED] = { "skip", "\033[33m" },
};

static const char *language_name(const struct check *c)
{
    const char *named = json_string_value(json_object_get(c->result, "language"));
    return c->language ? c->language->name : named ? named : "unknown";
}

void report_print_indented(const struct buf *b)
{
    for (const char *p = buf_str(b); *p;) {
        size_t n = strcspn(p, "\n");
        (void)printf("      %.*s\n", (int)n, p);
        p += n + (p[n] == '\n');
    }
}

void report_check(const struct text_report *r, const struct check *c)
{
    char place[4200];
    scoped(buf) details = { 0 }, name = { 0 }, why = { 0 };
    struct err e;
    if (c->outcome == OUTCOME_PASSED && !r->verbose)
        return;
    check_place(c, place, sizeof place);
    if (report_add_printable(&name, place, strlen(place), &e) ||
        report_add_printable(&why, c->why, strlen(c->why), &e) ||
        report_details(r->all, c, &details, &e))
        return;
    (void)printf("%s%s%s  %s", r->colour ? shown[c->outcome].colour : "", shown[c->outcome].word,
                 r->colour ? "\033[0m" : "", buf_str(&name));
    if (c->kind != CHECK_COMMAND)
        (void)printf(" (%s)", language_name(c));
    if (c->outcome == OUTCOME_PASSED)
        (void)printf(" %llu ms\n", (unsigned long long)c->wall_ms);
    else
        (void)printf(": %s\n", buf_str(&why));
    report_print_indented(&details);
    (void)fflush(stdout);
}

void report_totals(const struct text_report *r, uint64_t took_ms)
{
    struct totals t = totals_of(r->all);
    size_t failed = t.n[OUTCOME_FAILED] + t.n[OUTCOME_ERROR];
    (void)printf("%zu passed", t.n[OUTCOME_PASSED]);
    if (failed)
        (void)printf(", %zu failed", failed);
    if (t.n[OUTCOME_SKIPPED])
        (void)printf(", %zu skipped", t.n[OUTCOME_SKIPPED]);
    if (t.n[OUTCOME_PENDING])
        (void)printf(", %zu not run", t.n[OUTCOME_PENDING]);
    (void)printf(" in %llu.%llu s\n", (unsigned long long)took_ms / 1000,
                 (unsigned long long)took_ms % 1000 / 100);
    (void)fflush(stdout);
}

void report_list(const struct checks *all)
{
    for (size_t i = 0; i < all->n; i++) {
        const struct check *c = &all->at[i];
        char place[4200];
        scoped(buf) line = { 0 }, why = { 0 };
        struct err e;
        check_place(c, place, sizeof place);
        if (report_add_printable(&line, place, strlen(place), &e) == 0 &&
            report_add_printable(&why, c->why, strlen(c->why), &e) == 0)
            (void)printf("%s  %s %s%s%s\n", buf_str(&line), language_name(c),
                         check_kind_word(c->kind),
                         c->outcome == OUTCOME_SKIPPED ? "  skip: "
                         : c->outcome == OUTCOME_ERROR ? "  error: "
                                                       : "",
                         buf_str(&why));
    }
}

/* ---- JSON ---- */

static json_t *text_json(const struct buf *b)
{
    return json_stringn(buf_str(b), b->len);
}

static json_t *steps_json(const struct check *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->n_steps; i++) {
        const struct step *s = &c->steps[i];
        json_t *o = json_object();
        json_put(o, "line", json_integer((json_int_t)s->line));
        if (c->kind == CHECK_CONSOLE)
            json_put(o, "command", text_json(&s->command));
        json_put(o, "expected", s->compared ? text_json(&s->expected) : json_null());
        json_put(o, "got", text_json(&s->got));
        (void)json_array_append_new(list, o);
    }
    return list;
}

static json_t *check_json(const struct checks *all, const struct check *c)
{
    json_t *o = json_object();
    scoped(buf) details = { 0 };
    struct err e;
    json_put(o, "file", json_string(c->file));
    json_put(o, "line", c->line ? json_integer((json_int_t)c->line) : json_null());
    json_put(o, "kind", json_string(check_kind_word(c->kind)));
    json_put(o, "language", json_string(language_name(c)));
    json_put(o, "outcome", json_string(outcome_word(c->outcome)));
    json_put(o, "message", c->why[0] ? json_string(c->why) : json_null());
    json_put(o, "session", json_text_or_null(c->words.value[WORD_SESSION]));
    json_put(o, "verdict",
             json_text_or_null(json_string_value(json_object_get(c->result, "verdict"))));
    json_put(o, "wall_ms", json_integer((json_int_t)c->wall_ms));
    json_put(o, "code", text_json(&c->code));
    json_put(o, "steps", steps_json(c));
    if (report_details(all, c, &details, &e) == 0)
        json_put(o, "details", details.len ? text_json(&details) : json_null());
    return o;
}

json_t *report_json(const struct checks *all, uint64_t took_ms)
{
    json_t *o = json_object(), *list = json_array();
    struct totals t = totals_of(all);
    for (size_t i = 0; i < all->n; i++)
        (void)json_array_append_new(list, check_json(all, &all->at[i]));
    json_put(o, "checks", list);
    for (int i = 0; i < OUTCOME_COUNT_; i++)
        json_put(o, outcome_word((enum outcome)i), json_integer((json_int_t)t.n[i]));
    json_put(o, "time_ms", json_integer((json_int_t)took_ms));
    return o;
}
