#include "cli/batch/repeat_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "cli/batch/figures.h"
#include "cli/batch/program.h"
#include "cli/commands/plain.h"
#include "run/json.h"

enum { LABEL_WIDTH = 16, COLUMN_WIDTH = 24, PIECE_MAX = 60 };

/* The measures, each a field of usage. */
static const struct measure {
    const char *key, *label, *unit;
    double scale;
} measures[] = {
    { "wall_ms", "time", "ms", 1 },
    { "cpu_ms", "cpu time", "ms", 1 },
    { "memory_peak_bytes", "memory", "MiB", 1.0 / (1 << 20) },
};

static size_t n_programs(const struct repeat *r)
{
    return r->names[1] ? 2 : 1;
}

static int figures_for(const json_t *results, const struct measure *m, struct figures *ret,
                       struct err *e)
{
    size_t n = json_array_size(results), used = 0;
    autofree double *values = calloc(n + 1, sizeof *values);
    if (!values)
        return err_no_memory(e, "the figures");
    for (size_t i = 0; i < n; i++) {
        const json_t *usage = json_object_get(json_array_get(results, i), "usage");
        const json_t *value = json_object_get(usage, m->key);
        if (json_is_number(value))
            values[used++] = json_number_value(value) * m->scale;
    }
    *ret = figures_of(values, used);
    return 0;
}

/* The word that all runs of a program have, or "mixed"; NULL: none has one. */
static const char *word_of(const json_t *results, const char *key)
{
    const char *first = NULL;
    for (size_t i = 0; i < json_array_size(results); i++) {
        const char *word = json_string_value(json_object_get(json_array_get(results, i), key));
        if (first && word && strcmp(first, word) != 0)
            return "mixed";
        first = first ? first : word;
    }
    return first;
}

/* A run that is not over has a state only. */
static const char *verdict_of(const json_t *results)
{
    const char *verdict = word_of(results, "verdict"), *state = word_of(results, "state");
    return verdict ? verdict : state ? state : "unknown";
}

static const json_t *output_of(const json_t *results, size_t i)
{
    return json_object_get(json_array_get(results, i), "stdout");
}

/* True if a program printed the same in each of its runs. */
static bool is_steady(const json_t *results)
{
    for (size_t i = 1; i < json_array_size(results); i++)
        if (!json_equal(output_of(results, 0), output_of(results, i)))
            return false;
    return true;
}

/* The first line that differs, from 1; 0: none. */
static size_t difference(const json_t *a, const json_t *b, const char *ret[2], size_t ret_len[2])
{
    const char *at[2] = { json_string_value(a), json_string_value(b) };
    for (size_t line = 1;; line++) {
        for (int i = 0; i < 2; i++) {
            ret[i] = at[i] && *at[i] ? at[i] : NULL;
            ret_len[i] = ret[i] ? strcspn(ret[i], "\n") : 0;
        }
        if (!ret[0] && !ret[1])
            return 0;
        if (!ret[0] || !ret[1] || ret_len[0] != ret_len[1] ||
            memcmp(ret[0], ret[1], ret_len[0]) != 0)
            return line;
        for (int i = 0; i < 2; i++)
            at[i] = ret[i][ret_len[i]] ? ret[i] + ret_len[i] + 1 : NULL;
    }
}

/* ---- text ---- */

/* Ends a row, without blanks at its end. */
static int end_row(struct buf *b, struct err *e)
{
    while (b->len > 0 && b->data[b->len - 1] == ' ')
        b->len--;
    return buf_add(b, "\n", 1, e);
}

static int add_range(struct buf *b, const struct figures f[], size_t programs, struct err *e)
{
    char cell[96];
    if (buf_addf(b, e, "%-*s", LABEL_WIDTH, "  from, to"))
        return -1;
    for (size_t i = 0; i < programs; i++) {
        (void)snprintf(cell, sizeof cell, "%.1f, %.1f", f[i].min, f[i].max);
        if (plain_add_column(b, cell, COLUMN_WIDTH, e))
            return -1;
    }
    return end_row(b, e);
}

static int add_figures(struct buf *b, const struct measure *m, const struct figures f[],
                       size_t programs, struct err *e)
{
    char cell[96];
    if (buf_addf(b, e, "%-*s", LABEL_WIDTH, m->label))
        return -1;
    for (size_t i = 0; i < programs; i++) {
        (void)snprintf(cell, sizeof cell, "%.1f %s", f[i].median, m->unit);
        if (f[i].n > 1)
            (void)snprintf(cell, sizeof cell, "%.1f %s ± %.1f", f[i].median, m->unit,
                           f[i].deviation);
        if (plain_add_column(b, cell, COLUMN_WIDTH, e))
            return -1;
    }
    if (programs > 1 && f[0].median > 0 && buf_addf(b, e, "x %.2f", f[1].median / f[0].median))
        return -1;
    if (end_row(b, e))
        return -1;
    return f[0].n > 1 ? add_range(b, f, programs, e) : 0;
}

static int add_words(struct buf *b, const char *label, const char *const words[], size_t n,
                     struct err *e)
{
    if (buf_addf(b, e, "%-*s", LABEL_WIDTH, label))
        return -1;
    for (size_t i = 0; i < n; i++)
        if (plain_add_column(b, words[i], COLUMN_WIDTH, e))
            return -1;
    return end_row(b, e);
}

static int add_output(struct buf *b, const struct repeat *r, json_t *const results[], struct err *e)
{
    const char *lines[2], *words[REPEAT_PROGRAMS];
    size_t len[2];
    for (size_t i = 0; i < n_programs(r); i++)
        words[i] = is_steady(results[i]) ? "the same each time" : "varies";
    if (r->times > 1 && add_words(b, "output", words, n_programs(r), e))
        return -1;
    if (!r->names[1])
        return 0;
    size_t line = difference(output_of(results[0], 0), output_of(results[1], 0), lines, len);
    if (!line)
        return buf_addf(b, e, "The outputs are the same.\n");
    if (buf_addf(b, e, "The outputs differ from line %zu on:\n", line))
        return -1;
    for (int i = 0; i < 2; i++) {
        if (buf_addf(b, e, "  %c ", i == 0 ? '-' : '+') ||
            plain_add(b, lines[i] ? lines[i] : "(the end)",
                      !lines[i]            ? strlen("(the end)")
                      : len[i] < PIECE_MAX ? len[i]
                                           : PIECE_MAX,
                      e) ||
            buf_addf(b, e, "\n"))
            return -1;
    }
    return 0;
}

static int show_text(const struct repeat *r, json_t *const results[], struct err *e)
{
    scoped(buf) b = { 0 };
    const char *verdicts[REPEAT_PROGRAMS], *starts[REPEAT_PROGRAMS];
    size_t n = n_programs(r);
    for (size_t i = 0; i < n; i++) {
        verdicts[i] = verdict_of(results[i]);
        starts[i] = word_of(results[i], "start");
    }
    if (add_words(&b, "", r->names, n, e) || add_words(&b, "result", verdicts, n, e) ||
        add_words(&b, "start", starts, n, e))
        return -1;
    for (size_t k = 0; k < ARRAY_LEN(measures); k++) {
        struct figures f[REPEAT_PROGRAMS];
        for (size_t i = 0; i < n; i++)
            if (figures_for(results[i], &measures[k], &f[i], e))
                return -1;
        if (add_figures(&b, &measures[k], f, n, e))
            return -1;
    }
    if (add_output(&b, r, results, e))
        return -1;
    (void)fwrite(buf_str(&b), 1, b.len, stdout);
    return 0;
}

/* ---- JSON ---- */

static json_t *figures_json(const struct figures *f, double scale)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f}", "min", f->min / scale, "median",
                     f->median / scale, "max", f->max / scale, "mean", f->mean / scale, "deviation",
                     f->deviation / scale);
}

static json_t *program_json(const char *name, json_t *results, struct err *e)
{
    json_t *o = json_pack("{s:s, s:s, s:I, s:b, s:O}", "name", name, "verdict", verdict_of(results),
                          "runs", (json_int_t)json_array_size(results), "steady",
                          is_steady(results), "results", results);
    for (size_t k = 0; o && k < ARRAY_LEN(measures); k++) {
        struct figures f;
        if (figures_for(results, &measures[k], &f, e) == 0)
            json_put(o, measures[k].key, figures_json(&f, measures[k].scale));
    }
    return o;
}

static int show_json(const struct repeat *r, json_t *const results[], bool same, struct err *e)
{
    json_auto_t *all = json_pack("{s:[]}", "programs");
    for (size_t i = 0; all && i < n_programs(r); i++)
        (void)json_array_append_new(json_object_get(all, "programs"),
                                    program_json(r->names[i], results[i], e));
    if (all && r->names[1])
        json_put(all, "same", json_boolean(same));
    return all ? program_print(all, e) : err_no_memory(e, "the result");
}

/* With one program: it ended well each time. With two: the same verdict and output. */
static bool is_good(const struct repeat *r, json_t *const results[])
{
    if (!r->names[1])
        return strcmp(verdict_of(results[0]), "ok") == 0;
    return strcmp(verdict_of(results[0]), verdict_of(results[1])) == 0 &&
           json_equal(output_of(results[0], 0), output_of(results[1], 0));
}

int repeat_show(const struct repeat *r, json_t *const results[REPEAT_PROGRAMS], struct err *e)
{
    bool good = is_good(r, results);
    if (r->json ? show_json(r, results, good, e) : show_text(r, results, e))
        return -1;
    return good ? REPEAT_SAME : REPEAT_DIFFERENT;
}
