#include "guests/sql/fixtures.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/auto.h"
#include "base/fdio.h"

enum { FIXTURE_MAX_BYTES = 64 << 20 };

static int complain(const char *file, size_t line, const char *what)
{
    (void)fprintf(stderr, "%s:%zu:1: error: %s\n", file, line, what);
    return -1;
}

int fixture_add_name(struct buf *b, const char *name, struct err *e)
{
    if (buf_add(b, "\"", 1, e))
        return -1;
    for (; *name; name++)
        if (buf_add(b, "\"\"", *name == '"' ? 2 : 0, e) || (*name != '"' && buf_add(b, name, 1, e)))
            return -1;
    return buf_add(b, "\"", 1, e);
}

int fixture_add_names(struct buf *b, const struct fixture_table *t, struct err *e)
{
    for (size_t i = 0; i < t->n_columns; i++)
        if (buf_addf(b, e, "%s", i > 0 ? ", " : "(") || fixture_add_name(b, t->names[i], e))
            return -1;
    return buf_addf(b, e, ")");
}

int fixture_add_create(struct buf *b, const struct fixture_table *t,
                       const char *const types[CSV_TYPE_COUNT_], struct err *e)
{
    if (buf_addf(b, e, "CREATE TABLE IF NOT EXISTS ") || fixture_add_name(b, t->table, e))
        return -1;
    for (size_t i = 0; i < t->n_columns; i++)
        if (buf_addf(b, e, "%s", i > 0 ? ", " : " (") || fixture_add_name(b, t->names[i], e) ||
            buf_addf(b, e, " %s", types[t->types[i]]))
            return -1;
    return buf_addf(b, e, ")");
}

/* ---- CSV ---- */

static void table_done(struct fixture_table *t)
{
    for (size_t i = 0; t->names && i < t->n_columns; i++)
        free(t->names[i]);
    free(t->names);
    free(t->types);
}

static char *trimmed(const char *text)
{
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        n--;
    while (n > 0 && isspace((unsigned char)*text)) {
        text++;
        n--;
    }
    return strndup(text, n);
}

static int take_header(struct fixture_table *t, struct csv *c)
{
    struct err e = { 0 };
    int got = csv_next(c, &e);
    if (got <= 0)
        return complain(t->file, c->row_line,
                        got < 0 ? e.text : "the first line must name the columns");
    t->names = calloc(c->n_fields + 1, sizeof *t->names);
    t->types = calloc(c->n_fields + 1, sizeof *t->types);
    if (!t->names || !t->types)
        return complain(t->file, 1, "no memory for its columns");
    for (size_t i = 0; i < c->n_fields; i++) {
        t->names[i] = trimmed(csv_text(c, i));
        t->n_columns = i + 1;
        if (!t->names[i] || t->names[i][0] == '\0')
            return complain(t->file, c->row_line, "a column has no name in the first line");
    }
    return 0;
}

int fixture_next(const struct fixture_table *t, struct csv *c)
{
    struct err e = { 0 };
    char what[128];
    int got = csv_next(c, &e);
    if (got < 0)
        return complain(t->file, c->row_line, e.text);
    if (got == 0 || c->n_fields == t->n_columns)
        return got;
    (void)snprintf(what, sizeof what, "%zu field%s: the first line names %zu columns", c->n_fields,
                   c->n_fields == 1 ? "" : "s", t->n_columns);
    return complain(t->file, c->row_line, what);
}

int fixture_rows(const struct fixture_table *t, struct csv *c)
{
    struct err e;
    csv_init(c, t->bytes, t->n);
    return csv_next(c, &e) == 1 ? 0 : -1; /* the same row was parsed before */
}

static int find_types(struct fixture_table *t)
{
    scoped(csv) c = { 0 };
    int got;
    if (fixture_rows(t, &c))
        return -1;
    while ((got = fixture_next(t, &c)) > 0)
        for (size_t i = 0; i < t->n_columns; i++) {
            enum csv_type type = csv_is_null(&c, i)   ? CSV_NOTHING
                                 : c.fields[i].quoted ? CSV_TEXT
                                                      : csv_type_of(csv_text(&c, i), c.fields[i].n);
            t->types[i] = type > t->types[i] ? type : t->types[i];
        }
    for (size_t i = 0; i < t->n_columns; i++)
        t->types[i] = t->types[i] == CSV_NOTHING ? CSV_TEXT : t->types[i];
    return got;
}

/* "fixtures/01_users.csv": "users". */
static char *table_name(const char *file_name)
{
    const char *digits = file_name;
    while (isdigit((unsigned char)*digits))
        digits++;
    if (digits > file_name && (*digits == '_' || *digits == '-'))
        file_name = digits + 1;
    return strndup(file_name, strlen(file_name) - strlen(".csv"));
}

static int load_csv(const struct fixture_ops *ops, void *context, const char *file,
                    const struct buf *text)
{
    autofree char *table = table_name(file + strlen(FIXTURES_DIR "/"));
    struct fixture_table t = {
        .file = file, .table = table, .bytes = buf_str(text), .n = text->len
    };
    scoped(csv) c = { 0 };
    csv_init(&c, t.bytes, t.n);
    int failed = !table || table[0] == '\0'
                     ? complain(file, 1, "its name is not a valid table name")
                     : take_header(&t, &c) || find_types(&t) || ops->table(context, &t);
    table_done(&t);
    return failed ? -1 : 0;
}

/* ---- files ---- */

static bool ends_with(const char *name, const char *extension)
{
    size_t n = strlen(name), k = strlen(extension);
    return n > k && strcasecmp(name + n - k, extension) == 0;
}

static int is_fixture(const struct dirent *d)
{
    return ends_with(d->d_name, ".sql") || ends_with(d->d_name, ".csv");
}

static int load_file(const struct fixture_ops *ops, void *context, const char *name)
{
    autofree char *path = NULL;
    scoped(buf) text = { 0 };
    struct err e = { 0 };
    if (asprintf(&path, FIXTURES_DIR "/%s", name) < 0) {
        path = NULL;
        return complain(name, 1, "no memory for the file");
    }
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fd_read_to_buf(fd, FIXTURE_MAX_BYTES, &text, &e))
        return complain(path, 1, fd < 0 ? strerror(errno) : e.text);
    if (ends_with(name, ".csv"))
        return load_csv(ops, context, path, &text);
    const struct script s = { path, buf_str(&text), text.len };
    return ops->script(context, &s);
}

int fixtures_load(const struct fixture_ops *ops, void *context)
{
    struct dirent **names = NULL;
    int n = scandir(FIXTURES_DIR, &names, is_fixture, alphasort);
    int failed = 0;
    for (int i = 0; i < n; i++) {
        failed = failed || load_file(ops, context, names[i]->d_name);
        free(names[i]);
    }
    free(names);
    return failed ? -1 : 0;
}
