#include "guests/sql/render.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"

struct waiting_cell {
    size_t at, n; /* position in render.text */
    bool number, null;
};

struct render {
    enum table_format format;
    FILE *out;
    uint64_t results; /* number of results before this one */
    uint64_t rows;
    size_t n;     /* columns */
    char **names; /* unique in JSON */
    /* for formats that align: waiting rows, and the widths found in them */
    bool flowing; /* the widths are final */
    struct buf text;
    struct waiting_cell *cells;
    size_t n_cells, cap_cells;
    size_t *widths;
    bool *right;
};

/* ---- shared ---- */

static int no_memory(struct err *e)
{
    return err_no_memory(e, "a result");
}

struct render *render_new(enum table_format format, FILE *out)
{
    struct render *r = calloc(1, sizeof *r);
    if (r)
        *r = (struct render){ .format = format, .out = out };
    return r;
}

static void forget_result(struct render *r)
{
    for (size_t i = 0; r->names && i < r->n; i++)
        free(r->names[i]);
    free(r->names);
    free(r->widths);
    free(r->right);
    r->names = NULL;
    r->widths = NULL;
    r->right = NULL;
    r->n = r->n_cells = 0;
    r->text.len = 0;
}

void render_free(struct render *r)
{
    if (!r)
        return;
    forget_result(r);
    buf_done(&r->text);
    free(r->cells);
    free(r);
}

static int print(struct render *r, const char *bytes, size_t n, struct err *e)
{
    if (n > 0 && fwrite(bytes, 1, n, r->out) != n)
        return err_set(e, ERR_KERNEL, 0, "the output could not be written");
    return 0;
}

static void pad(struct buf *line, size_t n, char c, struct err *e, int *failed)
{
    if (*failed || (*failed = buf_reserve(line, n + 1, e)))
        return;
    memset(line->data + line->len, c, n);
    line->len += n;
    line->data[line->len] = '\0';
}

static void put(struct buf *line, const char *bytes, size_t n, struct err *e, int *failed)
{
    *failed = *failed || buf_add(line, bytes, n, e);
}

/* ---- csv ---- */

static int csv_field(struct render *r, const struct cell *c, struct err *e)
{
    scoped(buf) shown = { 0 };
    const char *bytes = c->bytes;
    size_t n = c->n;
    if (c->kind == CELL_NULL)
        return 0; /* NULL is nothing at all; "" is the empty text */
    if (c->kind == CELL_BLOB) {
        if (cell_add_shown(&shown, c, e))
            return -1;
        bytes = shown.data;
        n = shown.len;
    }
    bool quoted = n == 0;
    /* a NUL as well */
    for (size_t i = 0; i < n && !quoted; i++)
        quoted = strchr(",\"\r\n", bytes[i]) != NULL;
    if (!quoted)
        return print(r, bytes, n, e);
    (void)fputc('"', r->out);
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '"')
            (void)fputc('"', r->out);
        (void)fputc(bytes[i], r->out);
    }
    (void)fputc('"', r->out);
    return 0;
}

static int csv_row(struct render *r, const struct cell *cells, struct err *e)
{
    for (size_t i = 0; i < r->n; i++) {
        if (i > 0)
            (void)fputc(',', r->out);
        if (csv_field(r, &cells[i], e))
            return -1;
    }
    return print(r, "\r\n", 2, e);
}

static int csv_begin(struct render *r, struct err *e)
{
    if (r->results > 0)
        (void)fputs("\r\n", r->out);
    for (size_t i = 0; i < r->n; i++) {
        const struct cell name = { CELL_TEXT, r->names[i], strlen(r->names[i]) };
        if (i > 0)
            (void)fputc(',', r->out);
        if (csv_field(r, &name, e))
            return -1;
    }
    return print(r, "\r\n", 2, e);
}

static int no_op(struct render *r, struct err *e)
{
    (void)r;
    (void)e;
    return 0;
}

/* ---- json: a list of objects for each result ---- */

static int json_begin(struct render *r, struct err *e)
{
    return print(r, "[", 1, e);
}

static int json_row(struct render *r, const struct cell *cells, struct err *e)
{
    scoped(buf) line = { 0 };
    int failed = buf_addf(&line, e, "%s", r->rows > 0 ? ",\n " : "");
    put(&line, "{", 1, e, &failed);
    for (size_t i = 0; i < r->n && !failed; i++) {
        put(&line, ", ", i > 0 ? 2 : 0, e, &failed);
        failed = failed || cell_add_json_text(&line, r->names[i], strlen(r->names[i]), e) ||
                 buf_add(&line, ": ", 2, e) || cell_add_json(&line, &cells[i], e);
    }
    put(&line, "}", 1, e, &failed);
    return failed ? -1 : print(r, line.data, line.len, e);
}

static int json_end(struct render *r, struct err *e)
{
    return print(r, "]\n", 2, e);
}

/* ---- html ---- */

static void html_text(struct render *r, const char *text, size_t n)
{
    static const struct {
        char c;
        const char *entity;
    } entities[] = { { '&', "&amp;" },  { '<', "&lt;" },   { '>', "&gt;" },
                     { '"', "&quot;" }, { '\'', "&#39;" }, { '\n', "<br>" } };
    for (size_t i = 0; i < n; i++) {
        const char *entity = NULL;
        for (size_t k = 0; k < ARRAY_LEN(entities); k++)
            entity = text[i] == entities[k].c ? entities[k].entity : entity;
        if (entity)
            (void)fputs(entity, r->out);
        else
            (void)fputc(text[i], r->out);
    }
}

static int html_begin(struct render *r, struct err *e)
{
    (void)fputs("<table>\n<thead><tr>", r->out);
    for (size_t i = 0; i < r->n; i++) {
        (void)fputs("<th>", r->out);
        html_text(r, r->names[i], strlen(r->names[i]));
        (void)fputs("</th>", r->out);
    }
    static const char rest[] = "</tr></thead>\n<tbody>\n";
    return print(r, rest, sizeof rest - 1, e);
}

static int html_row(struct render *r, const struct cell *cells, struct err *e)
{
    scoped(buf) shown = { 0 };
    (void)fputs("<tr>", r->out);
    for (size_t i = 0; i < r->n; i++) {
        shown.len = 0;
        if (cell_add_shown(&shown, &cells[i], e))
            return -1;
        (void)fputs(cells[i].kind == CELL_NULL  ? "<td class=\"null\">"
                    : cell_is_number(&cells[i]) ? "<td class=\"number\">"
                                                : "<td>",
                    r->out);
        html_text(r, buf_str(&shown), shown.len);
        (void)fputs("</td>", r->out);
    }
    return print(r, "</tr>\n", 6, e);
}

static int html_end(struct render *r, struct err *e)
{
    static const char end[] = "</tbody>\n</table>\n";
    return print(r, end, sizeof end - 1, e);
}

/* ---- aligned, for people and for Markdown ---- */

static bool is_markdown(const struct render *r)
{
    return r->format == TABLE_MARKDOWN;
}

/* In Markdown a cell is one line, a bar ends it, and tags are HTML. */
static int add_markdown(struct buf *b, const char *text, size_t n, struct err *e)
{
    int failed = 0;
    for (size_t i = 0; i < n && !failed; i++) {
        if (text[i] == '|' || text[i] == '\\' || text[i] == '<')
            put(b, "\\", 1, e, &failed);
        if (text[i] == '\n')
            put(b, "<br>", 4, e, &failed);
        else
            put(b, &text[i], 1, e, &failed);
    }
    return failed;
}

static int hold_text(struct render *r, const struct cell *c, struct waiting_cell *ret,
                     struct err *e)
{
    scoped(buf) shown = { 0 };
    if (cell_add_shown(&shown, c, e))
        return -1;
    *ret = (struct waiting_cell){ .at = r->text.len,
                                  .number = cell_is_number(c),
                                  .null = c->kind == CELL_NULL };
    if (is_markdown(r) ? add_markdown(&r->text, buf_str(&shown), shown.len, e)
                       : buf_add(&r->text, buf_str(&shown), shown.len, e))
        return -1;
    ret->n = r->text.len - ret->at;
    return 0;
}

static int hold_row(struct render *r, const struct cell *cells, struct err *e)
{
    if (r->n_cells + r->n > r->cap_cells) {
        size_t cap = 2 * r->cap_cells + r->n;
        struct waiting_cell *grown = realloc(r->cells, cap * sizeof *grown);
        if (!grown)
            return no_memory(e);
        r->cells = grown;
        r->cap_cells = cap;
    }
    for (size_t i = 0; i < r->n; i++)
        if (hold_text(r, &cells[i], &r->cells[r->n_cells + i], e))
            return -1;
    r->n_cells += r->n;
    return 0;
}

/* Line k of a cell; NULL if it has fewer lines. */
static const char *line_of(const char *text, size_t n, size_t k, size_t *ret_n)
{
    const char *end = text + n;
    while (text) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        *ret_n = (size_t)((newline ? newline : end) - text);
        if (k-- == 0)
            return text;
        text = newline ? newline + 1 : NULL;
    }
    return NULL;
}

static size_t widest_line(const char *text, size_t n)
{
    size_t widest = 0, len = 0;
    const char *line;
    for (size_t k = 0; (line = line_of(text, n, k, &len)); k++) {
        size_t w = text_columns(line, len);
        widest = w > widest ? w : widest;
    }
    return widest;
}

static void measure(struct render *r)
{
    for (size_t i = 0; i < r->n; i++) {
        size_t width = widest_line(r->names[i], strlen(r->names[i]));
        size_t numbers = 0, others = 0;
        width = is_markdown(r) && width < 3 ? 3 : width;
        for (size_t k = i; k < r->n_cells; k += r->n) {
            const struct waiting_cell *h = &r->cells[k];
            size_t w = widest_line(buf_str(&r->text) + h->at, h->n);
            width = w > width ? w : width;
            numbers += h->number;
            others += !h->number && !h->null;
        }
        r->widths[i] = width < RENDER_WIDTH_MAX ? width : RENDER_WIDTH_MAX;
        r->right[i] = numbers > 0 && others == 0;
    }
}

/* One line of a cell between its spaces; '+' means that the cell continues in the next line. */
static void put_cell(const struct render *r, struct buf *line, size_t i, const char *text, size_t n,
                     bool goes_on, struct err *e, int *failed)
{
    size_t w = text ? text_columns(text, n) : 0;
    size_t gap = w < r->widths[i] ? r->widths[i] - w : 0;
    if (i > 0 || is_markdown(r))
        put(line, "|", 1, e, failed);
    pad(line, 1 + (r->right[i] ? gap : 0), ' ', e, failed);
    if (text)
        put(line, text, n, e, failed);
    pad(line, r->right[i] ? 0 : gap, ' ', e, failed);
    put(line, goes_on ? "+" : " ", 1, e, failed);
}

static int print_line(struct render *r, struct buf *line, struct err *e)
{
    int failed = 0;
    if (is_markdown(r))
        put(line, "|", 1, e, &failed);
    while (line->len > 0 && line->data[line->len - 1] == ' ')
        line->len--;
    put(line, "\n", 1, e, &failed);
    return failed ? -1 : print(r, line->data, line->len, e);
}

/* One row, with as many lines as its tallest cell. */
static int print_texts(struct render *r, const char *const *texts, const size_t *lens,
                       struct err *e)
{
    bool more = true;
    for (size_t k = 0; more; k++) {
        scoped(buf) line = { 0 };
        int failed = 0;
        more = false;
        for (size_t i = 0; i < r->n; i++) {
            size_t n = 0, next_n;
            const char *text = line_of(texts[i], lens[i], k, &n);
            bool goes_on = text && line_of(texts[i], lens[i], k + 1, &next_n);
            more = more || goes_on;
            put_cell(r, &line, i, text, n, goes_on, e, &failed);
        }
        if (failed || print_line(r, &line, e))
            return -1;
    }
    return 0;
}

static int print_held(struct render *r, size_t first, struct err *e)
{
    autofree const char **texts = calloc(r->n + 1, sizeof *texts);
    autofree size_t *lens = calloc(r->n + 1, sizeof *lens);
    if (!texts || !lens)
        return no_memory(e);
    for (size_t i = 0; i < r->n; i++) {
        texts[i] = buf_str(&r->text) + r->cells[first + i].at;
        lens[i] = r->cells[first + i].n;
    }
    return print_texts(r, texts, lens, e);
}

static int print_names(struct render *r, struct err *e)
{
    autofree const char **texts = calloc(r->n + 1, sizeof *texts);
    autofree size_t *lens = calloc(r->n + 1, sizeof *lens);
    if (!texts || !lens)
        return no_memory(e);
    for (size_t i = 0; i < r->n; i++) {
        texts[i] = r->names[i];
        lens[i] = strlen(r->names[i]);
    }
    return print_texts(r, texts, lens, e);
}

static int print_rule(struct render *r, struct err *e)
{
    scoped(buf) line = { 0 };
    int failed = 0;
    for (size_t i = 0; i < r->n; i++) {
        if (is_markdown(r)) {
            put(&line, "| ", 2, e, &failed);
            pad(&line, r->widths[i] - r->right[i], '-', e, &failed);
            put(&line, r->right[i] ? ": " : " ", r->right[i] ? 2 : 1, e, &failed);
        } else {
            put(&line, "+", i > 0 ? 1 : 0, e, &failed);
            pad(&line, r->widths[i] + 2, '-', e, &failed);
        }
    }
    return failed ? -1 : print_line(r, &line, e);
}

static int flow(struct render *r, struct err *e)
{
    measure(r);
    r->flowing = true;
    if (r->results > 0)
        (void)fputc('\n', r->out);
    if (print_names(r, e) || print_rule(r, e))
        return -1;
    for (size_t k = 0; r->n > 0 && k < r->n_cells; k += r->n)
        if (print_held(r, k, e))
            return -1;
    r->n_cells = 0;
    r->text.len = 0;
    return 0;
}

static int aligned_begin(struct render *r, struct err *e)
{
    r->widths = calloc(r->n + 1, sizeof *r->widths);
    r->right = calloc(r->n + 1, sizeof *r->right);
    r->flowing = false;
    return r->widths && r->right ? 0 : no_memory(e);
}

static int aligned_row(struct render *r, const struct cell *cells, struct err *e)
{
    if (hold_row(r, cells, e))
        return -1;
    if (!r->flowing)
        return r->rows + 1 >= RENDER_WAITING_ROWS || r->text.len >= RENDER_WAITING_BYTES
                   ? flow(r, e)
                   : 0;
    int failed = r->n > 0 && print_held(r, 0, e);
    r->n_cells = 0;
    r->text.len = 0;
    return failed ? -1 : 0;
}

static int aligned_end(struct render *r, struct err *e)
{
    if (!r->flowing && flow(r, e))
        return -1;
    if (!is_markdown(r))
        (void)fprintf(r->out, "(%" PRIu64 " row%s)\n", r->rows, r->rows == 1 ? "" : "s");
    return 0;
}

/* ---- the table of formats ---- */

static const struct {
    int (*begin)(struct render *r, struct err *e);
    int (*row)(struct render *r, const struct cell *cells, struct err *e);
    int (*end)(struct render *r, struct err *e);
} formats[TABLE_FORMAT_COUNT_] = {
    [TABLE_ALIGNED] = { aligned_begin, aligned_row, aligned_end },
    [TABLE_CSV] = { csv_begin, csv_row, no_op },
    [TABLE_MARKDOWN] = { aligned_begin, aligned_row, aligned_end },
    [TABLE_JSON] = { json_begin, json_row, json_end },
    [TABLE_HTML] = { html_begin, html_row, html_end },
};

static bool is_taken(const struct render *r, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (r->names[i] && strcmp(r->names[i], name) == 0)
            return true;
    return false;
}

/* Makes the names unique within an object: "a", "a_2". */
static char *name_for_json(const struct render *r, size_t i, const char *name)
{
    char *unique = strdup(name);
    for (unsigned k = 2; unique && is_taken(r, i, unique); k++) {
        free(unique);
        if (asprintf(&unique, "%s_%u", name, k) < 0)
            unique = NULL;
    }
    return unique;
}

/* Removes control characters from a name. */
static char *name_shown(const struct render *r, const char *name)
{
    const struct cell c = { CELL_TEXT, name, strlen(name) };
    scoped(buf) shown = { 0 };
    struct buf made = { 0 };
    struct err ignored;
    if (cell_add_shown(&shown, &c, &ignored) ||
        (is_markdown(r) ? add_markdown(&made, buf_str(&shown), shown.len, &ignored)
                        : buf_add(&made, buf_str(&shown), shown.len, &ignored))) {
        buf_done(&made);
        return NULL;
    }
    return made.data ? made.data : strdup("");
}

int render_begin(struct render *r, const struct column *columns, size_t n, struct err *e)
{
    bool raw = r->format == TABLE_CSV;
    r->rows = 0;
    r->names = calloc(n + 1, sizeof *r->names);
    if (!r->names)
        return no_memory(e);
    for (; r->n < n; r->n++) {
        const char *name = columns[r->n].name;
        char *made = r->format == TABLE_JSON ? name_for_json(r, r->n, name)
                     : raw                   ? strdup(name)
                                             : name_shown(r, name);
        if (!made)
            return no_memory(e);
        r->names[r->n] = made;
    }
    return formats[r->format].begin(r, e);
}

int render_row(struct render *r, const struct cell *cells, struct err *e)
{
    if (formats[r->format].row(r, cells, e))
        return -1;
    r->rows++;
    return 0;
}

int render_end(struct render *r, struct err *e)
{
    int failed = formats[r->format].end(r, e);
    forget_result(r);
    r->results++;
    return failed;
}

void render_tag(struct render *r, const char *tag)
{
    if (r->format != TABLE_ALIGNED)
        return;
    (void)fprintf(r->out, "%s\n", tag);
}
