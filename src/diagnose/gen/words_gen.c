/* Lists of words and tables of texts: *.words. Runs on the build machine. */
#include <stdlib.h>
#include <string.h>

#include "diagnose/gen/gen.h"

enum { COLUMNS_MAX = 4, ROWS_MAX = 4000 };

enum kind { LIST, PAIRS, TABLE };

struct column {
    const char *name;
    bool optional; /* '-' stands for no text */
    bool category;
};

struct words {
    enum kind kind;
    const char *name;
    bool shared;
    struct column columns[COLUMNS_MAX];
    size_t n_columns;
    struct row {
        unsigned line;
        const char *cells[COLUMNS_MAX]; /* NULL: no text */
    } rows[ROWS_MAX];
    size_t n;
};

/* ---- heads ---- */

/* "NAME: COLUMN COLUMN? ..." */
static void read_columns(const struct reader *r, struct words *w, char *columns)
{
    for (char *left, *word = strtok_r(columns, " ", &left); word;
         word = strtok_r(NULL, " ", &left)) {
        size_t n = strlen(word);
        if (w->n_columns == COLUMNS_MAX)
            refuse(r, "'%s' is one column too many: %d are accepted", word, COLUMNS_MAX);
        struct column *c = &w->columns[w->n_columns++];
        c->optional = word[n - 1] == '?';
        if (c->optional)
            word[n - 1] = '\0';
        c->category = strcmp(word, "category") == 0;
        if (!is_identifier(word))
            refuse(r, "'%s' is not a name for a column: letters, digits and _ are accepted", word);
        c->name = kept(word);
    }
    if (w->n_columns < 2)
        refuse(r, "a table has two columns or more: write `table NAME: COLUMN COLUMN`, or `list "
                  "NAME`");
}

static bool read_head(struct reader *r, struct words *w, const char *word, char *rest)
{
    static const char *const heads[] = { [LIST] = "list", [PAIRS] = "pairs", [TABLE] = "table" };
    enum kind kind = LIST;
    while (kind <= TABLE && strcmp(heads[kind], word) != 0)
        kind++;
    if (kind > TABLE)
        return false;
    *w = (struct words){ .kind = kind, .n_columns = kind == PAIRS ? 2 : 0 };
    char *columns = strstr(rest, ": ");
    if (kind == TABLE && !columns)
        refuse(r, "a table names its columns: `table NAME: COLUMN COLUMN`");
    if (kind == TABLE) {
        *columns = '\0';
        read_columns(r, w, columns + 2);
    }
    read_name(r, rest, &w->name, &w->shared);
    return true;
}

/* ---- rows ---- */

static struct row *add_row(const struct reader *r, struct words *w)
{
    if (w->n == ROWS_MAX)
        refuse(r, "one row too many: a table has at most %d", ROWS_MAX);
    w->rows[w->n] = (struct row){ .line = r->line };
    return &w->rows[w->n++];
}

/* Cuts the next cell off. A cell ends before `gap`. In quotes, it ends at the quote before `gap`,
 * and may hold `gap` itself. NULL at the end. */
static const char *next_cell(const struct reader *r, char **text, const char *gap)
{
    char *cell = *text + strspn(*text, " ");
    if (!*cell)
        return NULL;
    bool quoted = *cell == '"';
    char *end = cell + quoted;
    for (;; end++) {
        bool over = !quoted && (!*end || strncmp(end, gap, strlen(gap)) == 0);
        if (quoted && *end == '"' && (!end[1] || strncmp(end + 1, gap, strlen(gap)) == 0))
            over = true;
        if (over)
            break;
        if (!*end)
            refuse(r, "the cell %s has no quote at its end", cell);
    }
    *text = *end ? end + 1 : end;
    *end = '\0';
    return kept(cell + quoted);
}

static void read_list(const struct reader *r, struct words *w, char *text)
{
    const char *word;
    while ((word = next_cell(r, &text, " "))) {
        for (size_t i = 0; i < w->n; i++)
            if (strcmp(w->rows[i].cells[0], word) == 0)
                refuse(r, "'%s' stands in line %u already", word, w->rows[i].line);
        add_row(r, w)->cells[0] = word;
    }
}

static void check_row(const struct reader *r, const struct words *w)
{
    const struct row *last = &w->rows[w->n - 1];
    for (size_t i = 0; i + 1 < w->n; i++) {
        size_t k = 0;
        /* In pairs the first row with a word is the only one that is found. */
        while (k < (w->kind == PAIRS ? 1 : w->n_columns) && w->rows[i].cells[k] && last->cells[k] &&
               strcmp(w->rows[i].cells[k], last->cells[k]) == 0)
            k++;
        if (k == (w->kind == PAIRS ? 1 : w->n_columns))
            refuse(r, "'%s' stands in line %u already", last->cells[0], w->rows[i].line);
    }
}

static void read_row(const struct reader *r, struct words *w, char *text)
{
    struct row *row = add_row(r, w);
    const char *cell;
    size_t n = 0;
    while ((cell = next_cell(r, &text, "  "))) {
        if (n == w->n_columns)
            refuse(r,
                   "'%s' is one cell too many: the table has %zu columns, with two spaces "
                   "between them",
                   cell, w->n_columns);
        const struct column *c = &w->columns[n];
        row->cells[n++] = c->optional && strcmp(cell, "-") == 0 ? NULL : cell;
        if (c->category)
            (void)category_id(r, cell);
    }
    if (n < w->n_columns)
        refuse(r, "the row has %zu of %zu cells: two spaces stand between cells", n, w->n_columns);
    check_row(r, w);
}

/* ---- writing ---- */

static void put_row(const struct reader *r, FILE *out, const struct words *w, const struct row *row)
{
    for (size_t k = 0; k < w->n_columns; k++) {
        (void)fputs(k ? ", " : "{ ", out);
        if (!row->cells[k])
            (void)fputs("NULL", out);
        else if (w->columns[k].category)
            (void)fputs(category_id(r, row->cells[k]), out);
        else
            put_literal(out, row->cells[k]);
    }
    (void)fputs(" },\n", out);
}

static void put_words(const struct reader *r, FILE *out, const struct words *w)
{
    if (w->n == 0)
        refuse(r, "'%s' is empty", w->name);
    (void)fputs(w->shared ? "const " : "static const ", out);
    if (w->kind == TABLE) {
        (void)fputs("struct {\n", out);
        for (size_t k = 0; k < w->n_columns; k++)
            (void)fprintf(out, w->columns[k].category ? "enum category %s;\n" : "const char *%s;\n",
                          w->columns[k].name);
        (void)fprintf(out, "} %s[] = {\n", w->name);
    } else {
        (void)fprintf(out, "%s%s[] = {\n", w->kind == LIST ? "char *const " : "struct word_pair ",
                      w->name);
    }
    for (size_t i = 0; i < w->n; i++)
        if (w->kind == LIST) {
            put_literal(out, w->rows[i].cells[0]);
            (void)fputs(",\n", out);
        } else {
            put_row(r, out, w, &w->rows[i]);
        }
    (void)fputs(w->kind == LIST    ? "NULL,\n};\n"
                : w->kind == PAIRS ? "{ NULL, NULL },\n};\n"
                                   : "};\n",
                out);
}

void write_words(struct reader *r, FILE *out)
{
    static struct words w;
    bool open = false;
    while (reader_next(r)) {
        char whole[ENTRY_MAX], *rest;
        (void)snprintf(whole, sizeof whole, "%s", r->text);
        const char *word = first_word(r, &rest);
        bool head = r->apart || !open;
        if (head && open)
            put_words(r, out, &w);
        if (head && !read_head(r, &w, word, rest))
            refuse(r,
                   "'%s' begins no table: `list NAME`, `pairs NAME` or `table NAME: COLUMN "
                   "COLUMN` does, behind a blank line",
                   word);
        open = true;
        if (head)
            put_place(out, r, r->line);
        else if (w.kind == LIST)
            read_list(r, &w, whole);
        else
            read_row(r, &w, whole);
    }
    if (!open)
        refuse(r, "no table: write `list NAME`, `pairs NAME` or `table NAME: COLUMN COLUMN`");
    put_words(r, out, &w);
}
