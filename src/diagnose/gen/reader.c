/* Reads the entries of a data file. Runs on the build machine. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/core/diagnose.h"
#include "diagnose/gen/gen.h"

void refuse(const struct reader *r, const char *fmt, ...)
{
    va_list args;
    (void)fprintf(stderr, "%s:%u: ", r->path, r->line);
    va_start(args, fmt);
    (void)vfprintf(stderr, fmt, args);
    va_end(args);
    (void)fputc('\n', stderr);
    exit(EXIT_FAILURE);
}

char *kept(const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        abort();
    return copy;
}

bool is_identifier(const char *text)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
    return n > 0 && n <= NAME_MAX_BYTES && text[n] == '\0' && !strchr("0123456789", text[0]);
}

/* ---- lines ---- */

static void check_line(struct reader *r, size_t n)
{
    unsigned entry = r->line;
    r->line = r->read;
    if (n > LINE_MAX_BYTES)
        refuse(r, "the line has %zu bytes, and %d are accepted: continue it on an indented line", n,
               LINE_MAX_BYTES);
    if (strlen(r->ahead) != n)
        refuse(r, "a NUL byte: only text is accepted");
    for (const char *c = r->ahead; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            refuse(r, "the control character 0x%02x: only text is accepted, and spaces for tabs",
                   (unsigned)(unsigned char)*c);
    if (n > 0 && r->ahead[n - 1] == ' ')
        refuse(r, "the line ends with a space: remove it");
    r->line = entry;
}

/* The next line that is no comment goes into r->ahead. */
static void read_ahead(struct reader *r)
{
    do {
        ssize_t n = getline(&r->ahead, &r->ahead_room, r->in);
        if (n < 0) {
            free(r->ahead);
            r->ahead = NULL;
            return;
        }
        r->read++;
        if (n > 0 && r->ahead[n - 1] == '\n')
            r->ahead[--n] = '\0';
        check_line(r, (size_t)n);
    } while (r->ahead[0] == '#');
}

void reader_open(struct reader *r, const char *path)
{
    *r = (struct reader){ .path = path, .in = fopen(path, "re") };
    if (!r->in)
        refuse(r, "cannot be opened: %s", strerror(errno));
    read_ahead(r);
}

void reader_close(struct reader *r)
{
    (void)fclose(r->in);
    for (size_t i = 0; i < r->n_lets; i++)
        free(r->lets[i].text);
    free(r->ahead);
}

/* ---- {NAME} ---- */

static const struct let *let_of(const struct reader *r, const char *name, size_t n)
{
    for (size_t i = 0; i < r->n_lets; i++)
        if (strlen(r->lets[i].name) == n && strncmp(r->lets[i].name, name, n) == 0)
            return &r->lets[i];
    return NULL;
}

static void add(struct reader *r, size_t *at, const char *text, size_t n)
{
    if (*at + n + 1 > sizeof r->text)
        refuse(r, "the entry is longer than the %d bytes that are accepted", ENTRY_MAX - 1);
    memcpy(r->text + *at, text, n);
    *at += n;
    r->text[*at] = '\0';
}

/* Adds a line of the file to the entry, with each {NAME} replaced. "${NAME}" is a shell's. */
static void add_expanded(struct reader *r, size_t *at, const char *line)
{
    for (const char *c = line; *c; c++) {
        size_t n = c[0] == '{' ? strspn(c + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") : 0;
        if (n == 0 || c[n + 1] != '}' || (c > line && c[-1] == '$')) {
            add(r, at, c, 1);
            continue;
        }
        const struct let *let = let_of(r, c + 1, n);
        if (!let)
            refuse(r, "{%.*s} has no text: write `let %.*s TEXT` above", (int)n, c + 1, (int)n,
                   c + 1);
        add(r, at, let->text, strlen(let->text));
        c += n + 1;
    }
}

static void read_let(struct reader *r)
{
    char *rest, *name;
    (void)first_word(r, &rest);
    name = rest;
    rest += strcspn(rest, " ");
    if (*rest)
        *rest++ = '\0';
    rest += strspn(rest, " ");
    size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    if (n == 0 || name[n] || n > NAME_MAX_BYTES || !*rest)
        refuse(r, "`let` takes a name of capital letters and its text, not '%s %s'", name, rest);
    if (let_of(r, name, n))
        refuse(r, "'%s' has a text already", name);
    if (r->n_lets == LETS_MAX)
        refuse(r, "one `let` too many: a file has at most %d", LETS_MAX);
    struct let *let = &r->lets[r->n_lets++];
    (void)snprintf(let->name, sizeof let->name, "%s", name);
    let->text = kept(rest);
}

/* ---- entries ---- */

bool reader_next(struct reader *r)
{
    r->apart = false;
    for (; r->ahead && r->ahead[0] == '\0'; read_ahead(r))
        r->apart = true;
    if (!r->ahead)
        return false;
    size_t at = 0;
    r->line = r->read;
    if (r->ahead[0] == ' ')
        refuse(r, "an indented line continues the line above, and there is none");
    add_expanded(r, &at, r->ahead);
    for (read_ahead(r); r->ahead && r->ahead[0] == ' '; read_ahead(r))
        add_expanded(r, &at, r->ahead + strspn(r->ahead, " ") - 1);
    if (strncmp(r->text, "let ", 4) != 0)
        return true;
    read_let(r);
    return reader_next(r);
}

char *first_word(struct reader *r, char **ret_rest)
{
    char *end = r->text + strcspn(r->text, " ");
    *ret_rest = end + strspn(end, " ");
    *end = '\0';
    return r->text;
}

void read_name(const struct reader *r, char *text, const char **ret_name, bool *ret_shared)
{
    char *end = text + strcspn(text, " ");
    *ret_shared = strcmp(end, " shared") == 0;
    if (*end && !*ret_shared)
        refuse(r, "'%s' behind the name of a table: only `shared` is accepted", end + 1);
    *end = '\0';
    if (!is_identifier(text))
        refuse(r, "'%s' is not a name for a table: letters, digits and _ are accepted", text);
    *ret_name = kept(text);
}

/* ---- writing ---- */

void put_literal(FILE *out, const char *text)
{
    (void)fputc('"', out);
    for (const char *c = text; *c; c++)
        if (*c == '"' || *c == '\\')
            (void)fprintf(out, "\\%c", *c);
        else if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
            (void)fprintf(out, "\\%03o", (unsigned)(unsigned char)*c);
        else
            (void)fputc(*c, out);
    (void)fputc('"', out);
}

void put_place(FILE *out, const struct reader *r, unsigned line)
{
    (void)fprintf(out, "#line %u ", line);
    put_literal(out, r->path);
    (void)fputc('\n', out);
}

const char *category_id(const struct reader *r, const char *word)
{
    static const struct {
        const char *id, *word;
    } categories[] = {
#define X(id, word) { #id, word },
        CATEGORY_TABLE(X)
#undef X
    };
    char accepted[256] = "";
    for (size_t i = 0; i < sizeof categories / sizeof categories[0]; i++) {
        size_t n = strlen(accepted);
        if (strcmp(categories[i].word, word) == 0)
            return categories[i].id;
        (void)snprintf(accepted + n, sizeof accepted - n, "%s%s", n ? ", " : "",
                       categories[i].word);
    }
    refuse(r, "'%s' is not a category: %s", word, accepted);
}
