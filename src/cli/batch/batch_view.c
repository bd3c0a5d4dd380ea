#include "cli/batch/batch_view.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/text.h"
#include "cli/commands/plain.h"

enum { NAME_MAX_WIDTH = 32, STATUS_WIDTH = 16, NOTE_MAX = 400, AROUND = 3 };

void batch_view_done(struct batch_view *v)
{
    json_decref(v->results);
}

static const char *name_of(const struct batch_view *v, size_t i, char number[24])
{
    const char *name = json_string_value(json_object_get(json_array_get(v->inputs, i), "name"));
    (void)snprintf(number, 24, "%zu", i + 1);
    return name ? name : number;
}

int batch_view_init(struct batch_view *v, const json_t *inputs, struct err *e)
{
    struct winsize size = { 0 };
    *v = (struct batch_view){ .inputs = inputs,
                              .results = json_array(),
                              .n = json_array_size(inputs),
                              .name_width = (int)strlen("INPUT") };
    for (size_t i = 0; v->results && i < v->n; i++) {
        char number[24];
        const char *name = name_of(v, i, number);
        int width = (int)text_characters(name, strlen(name));
        v->name_width = width > v->name_width ? width : v->name_width;
        (void)json_array_append_new(v->results, json_null());
    }
    if (json_array_size(v->results) != v->n)
        return err_no_memory(e, "the results");
    v->name_width = (v->name_width < NAME_MAX_WIDTH ? v->name_width : NAME_MAX_WIDTH) + 2;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
        v->rows = size.ws_row;
        v->columns = size.ws_col;
    }
    v->in_place = v->n + AROUND <= v->rows && v->columns > 0;
    progress_begin(&v->progress, v->in_place ? -1 : STDERR_FILENO, "batch");
    return 0;
}

/* ---- one row ---- */

static const char *status_of(const json_t *r)
{
    const json_t *passed = json_object_get(r, "passed");
    const char *verdict = json_string_value(json_object_get(r, "verdict"));
    const char *state = json_string_value(json_object_get(r, "state"));
    if (json_is_null(r))
        return "...";
    if (json_is_true(passed))
        return "passed";
    if (json_is_false(passed) && verdict && strcmp(verdict, "ok") == 0)
        return "wrong";
    return verdict ? verdict : state ? state : "failed";
}

static int add_piece(struct buf *b, const json_t *text, struct err *e)
{
    const char *s = json_string_value(text);
    size_t n = json_string_length(text);
    if (!s)
        return buf_addf(b, e, "nothing");
    return buf_addf(b, e, "'") || plain_add(b, s, n < 60 ? n : 60, e) ||
                   buf_addf(b, e, n < 60 ? "'" : "...'")
               ? -1
               : 0;
}

static int add_note(struct buf *b, const json_t *r, struct err *e)
{
    const json_t *d = json_object_get(r, "difference"), *error = json_object_get(r, "error");
    const json_t *title = json_object_get(json_object_get(r, "diagnosis"), "title");
    if (json_is_object(d))
        return buf_addf(b, e, "line %lld: expected ",
                        (long long)json_integer_value(json_object_get(d, "line"))) ||
                       add_piece(b, json_object_get(d, "expected"), e) ||
                       buf_addf(b, e, ", got ") || add_piece(b, json_object_get(d, "got"), e)
                   ? -1
                   : 0;
    const json_t *why = json_is_string(error) ? error : title;
    size_t n = json_string_length(why);
    return json_is_string(why)
               ? plain_add(b, json_string_value(why), n < NOTE_MAX ? n : NOTE_MAX, e)
               : 0;
}

static int add_figures(struct buf *b, const json_t *r, struct err *e)
{
    const json_t *usage = json_object_get(r, "usage");
    const json_t *wall = json_object_get(usage, "wall_ms"),
                 *memory = json_object_get(usage, "memory_peak_bytes");
    if (!json_is_number(wall) || !json_is_integer(memory))
        return buf_addf(b, e, "%9s  %9s  ", "", "");
    return buf_addf(b, e, "%6.0f ms  %5.1f MiB  ", json_number_value(wall),
                    (double)json_integer_value(memory) / (1 << 20));
}

/* Cut to the width of the terminal: a row that wraps would move the others. */
static int add_cut(struct buf *out, const struct buf *row, unsigned columns, struct err *e)
{
    size_t n = row->len;
    while (columns > 1 && n > 0 && text_characters(buf_str(row), n) > columns - 1)
        do
            n--;
        while (n > 0 && ((unsigned char)row->data[n] & 0xC0) == 0x80);
    return buf_add(out, buf_str(row), n, e);
}

static int add_row(struct buf *out, const struct batch_view *v, size_t i, struct err *e)
{
    char number[24];
    scoped(buf) row = { 0 };
    const json_t *r = json_array_get(v->results, i);
    if (plain_add_column(&row, name_of(v, i, number), v->name_width, e) ||
        plain_add_column(&row, status_of(r), STATUS_WIDTH, e) || add_figures(&row, r, e) ||
        add_note(&row, r, e))
        return -1;
    while (row.len > 0 && row.data[row.len - 1] == ' ')
        row.len--;
    return add_cut(out, &row, v->columns, e);
}

static void put(const struct buf *text)
{
    (void)fwrite(buf_str(text), 1, text->len, stdout);
    (void)fflush(stdout);
}

/* ---- the table ---- */

int batch_view_begin(struct batch_view *v, struct err *e)
{
    scoped(buf) out = { 0 };
    if (buf_addf(&out, e, "%-*s%-*s%9s  %9s\n", v->name_width, "INPUT", STATUS_WIDTH, "RESULT",
                 "TIME", "MEMORY"))
        return -1;
    for (size_t i = 0; v->in_place && i < v->n; i++)
        if (add_row(&out, v, i, e) || buf_addf(&out, e, "\n"))
            return -1;
    put(&out);
    return 0;
}

static int redraw(const struct batch_view *v, size_t i, struct err *e)
{
    scoped(buf) out = { 0 };
    size_t up = v->n - i;
    if (buf_addf(&out, e, "\033[%zuA\r", up) || add_row(&out, v, i, e) ||
        buf_addf(&out, e, "\033[K\033[%zuB\r", up))
        return -1;
    put(&out);
    return 0;
}

static int print_next(struct batch_view *v, struct err *e)
{
    scoped(buf) out = { 0 };
    for (; v->told < v->n && !json_is_null(json_array_get(v->results, v->told)); v->told++)
        if (add_row(&out, v, v->told, e) || buf_addf(&out, e, "\n"))
            return -1;
    if (out.len > 0) {
        progress_clear(&v->progress);
        put(&out);
    }
    progress_update(&v->progress, v->n_over, v->n, NULL);
    return 0;
}

int batch_view_result(struct batch_view *v, size_t i, json_t *result, struct err *e)
{
    if (i >= v->n || !json_is_object(result) || json_array_set(v->results, i, result))
        return err_set(e, ERR_PROTOCOL, 0, "the service sent a result of no input");
    v->n_over++;
    return v->in_place ? redraw(v, i, e) : print_next(v, e);
}

static long long number(const json_t *o, const char *key)
{
    return (long long)json_integer_value(json_object_get(o, key));
}

void batch_view_summary(struct batch_view *v, const json_t *summary)
{
    long long skipped = number(summary, "skipped"), cancelled = number(summary, "cancelled");
    progress_clear(&v->progress);
    (void)printf("%lld of %lld passed", number(summary, "ok"), number(summary, "total"));
    if (skipped + cancelled > 0)
        (void)printf(", %lld did not run to their end", skipped + cancelled);
    (void)printf(" (%.1f s)\n", json_number_value(json_object_get(summary, "wall_ms")) / 1000);
}
