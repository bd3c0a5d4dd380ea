/* Tables of advice, and what they ask of sources. */
#include "diagnose/core/advice.h"

#include <stdio.h>
#include <string.h>

struct piece text_of(const struct diagnose_input *in)
{
    return (struct piece){ in->text, in->len };
}

struct piece text_of_source(const struct source_file *f)
{
    if (!f)
        return NO_PIECE;
    return (struct piece){ f->text, f->len < DIAGNOSE_TEXT_MAX ? f->len : DIAGNOSE_TEXT_MAX };
}

bool match_text(struct diagnoser *g, const char *pattern, struct piece text, struct match *ret)
{
    struct piece line;
    for (unsigned n = 0; n < LINES_SEEN && next_line(&text, &line); n++)
        if (match(g, pattern, line, ret))
            return true;
    return false;
}

bool match_next(struct diagnoser *g, const char *pattern, struct piece *rest, struct match *ret)
{
    struct piece line;
    while (next_line(rest, &line))
        if (match(g, pattern, line, ret))
            return true;
    return false;
}

bool failed_by_itself(const struct diagnose_input *in)
{
    return !in->compiling && in->evidence && in->verdict == VERDICT_RUNTIME_ERROR &&
           in->evidence->signal == 0;
}

struct piece last_words(const struct diagnose_input *in)
{
    struct piece rest = text_of(in), line;
    for (unsigned n = 0; n < BLANKS_NEAR && last_line(&rest, &line); n++)
        if (piece_trim(line).len > 0)
            return piece_trim(line);
    return NO_PIECE;
}

void set_exit(const struct diagnose_input *in, struct diagnosis *d, struct piece message)
{
    COPY(message, d->message);
    (void)snprintf(d->type, sizeof d->type, "exit %d", in->evidence->exit_code);
}

/* ---- tables ---- */

struct subject {
    char text[sizeof((struct diagnosis *)NULL)->type + sizeof((struct diagnosis *)NULL)->message];
};

static struct piece subject_of(const struct diagnosis *d, struct subject *s)
{
    (void)snprintf(s->text, sizeof s->text, "%s%s%s", d->type, d->type[0] ? ": " : "", d->message);
    for (char *c = s->text; *c; c++)
        if (*c == '\n')
            *c = ' '; /* a pattern sees one line */
    return piece_of(s->text);
}

static const struct advice *find_row(struct diagnoser *g, const struct advice *table,
                                     struct piece subject, struct match *m)
{
    for (; table->pattern; table++)
        if (match(g, table->pattern, subject, m))
            return table;
    return NULL;
}

bool classify(struct diagnoser *g, struct diagnosis *d, const struct advice *table)
{
    struct subject s = { 0 };
    struct match m;
    const struct advice *row = find_row(g, table, subject_of(d, &s), &m);
    if (row)
        d->category = row->category;
    return row != NULL;
}

static void fill_in(const char *form, const struct match *m, char *out, size_t size)
{
    size_t n = 0;
    for (; *form && n + 1 < size; form++) {
        if (form[0] != '{' || form[1] < '1' || form[1] > '9' || form[2] != '}') {
            out[n++] = *form;
            continue;
        }
        copy_piece(m->group[form[1] - '1'], out + n, size - n);
        n += strlen(out + n);
        form += 2;
    }
    out[n] = '\0';
}

void say(struct diagnosis *d, unsigned rule, double confidence, const char *form,
         const struct match *m)
{
    char text[sizeof d->suggestions[0].text];
    fill_in(form, m, text, sizeof text);
    suggest(d, rule, confidence, "%s", text);
}

void advise_by(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d,
               const struct advice *table)
{
    struct subject s = { 0 };
    struct match m;
    const struct advice *row = find_row(g, table, subject_of(d, &s), &m);
    if (!row)
        return;
    if (row->docs && !d->docs[0])
        fill_in(row->docs, &m, d->docs, sizeof d->docs);
    size_t before = d->n_suggestions;
    if (row->tell)
        row->tell(&(struct advising){ g, in, d, row }, &m);
    if (!row->text || d->n_suggestions > before)
        return;
    say(d, row->rule, row->confidence, row->text, &m);
    if (row->replacement) {
        char replacement[sizeof d->suggestions[0].replacement];
        fill_in(row->replacement, &m, replacement, sizeof replacement);
        suggest_replacement(d, "%s", replacement);
    }
}

void tell_nearest(const struct advising *a, const struct match *m)
{
    char best[128];
    if (!nearest_name_in(a->in, m->group[0], a->row->names, best, sizeof best))
        return;
    suggest(a->d, a->row->rule, a->row->confidence > 0 ? a->row->confidence : 0.8,
            "Did you mean `%s`? There is no `%.*s`.", best, (int)m->group[0].len, m->group[0].at);
    (void)suggest_swap(a->in, a->d, m->group[0], best);
}

static struct piece without_end_space(struct piece line)
{
    while (line.len > 0 && strchr(" \t\r", line.at[line.len - 1]))
        line.len--;
    return line;
}

/* Where the `;` belongs: before what the compiler says it was expected before, or at the end of the line, but not of its comment.
 * Columns are bytes to some compilers and characters to others: behind what is not ASCII nobody knows. */
static size_t semicolon_at(const struct advising *a, struct piece line)
{
    struct match m;
    size_t at = a->d->location.column;
    if (!match(a->g, "\\bexpected\\b", piece_of(a->d->message), &m))
        return line.len;
    bool inside = at >= 2 && at <= line.len;
    for (size_t i = 0; inside && i + 1 < at; i++)
        inside = (unsigned char)line.at[i] < 0x80;
    if (inside)
        return without_end_space((struct piece){ line.at, at - 1 }).len;
    if (match(a->g, "^(.*?\\S)\\s*(?://[^\"']*|/\\*[^\"']*\\*/)$", line, &m))
        return m.group[0].len;
    return line.len;
}

void tell_semicolon(const struct advising *a, const struct match *m)
{
    (void)m;
    struct match word;
    struct piece line = without_end_space(line_at(a->in, a->d));
    if (line.len == 0 || strchr(";{", line.at[line.len - 1]))
        return;
    size_t at = semicolon_at(a, line);
    struct piece before = { line.at, at }, behind = { line.at + at, line.len - at };
    if (match(a->g, "^\\s*(?!//|/\\*)(\\w+|\\S)", behind, &word))
        suggest(a->d, a->row->rule, 0.9, "A `;` is missing before `%.*s`.", (int)word.group[0].len,
                word.group[0].at);
    else
        suggest(a->d, a->row->rule, 0.9, "Line %u has no `;` at its end.", a->d->location.line);
    suggest_replacement(a->d, "%.*s;%.*s", (int)before.len, before.at, (int)behind.len, behind.at);
}

void tell_brace(const struct advising *a, const struct match *m)
{
    (void)m;
    const struct source_file *f = find_source(a->in, piece_of(a->d->location.file));
    uint32_t line = unclosed(f, '{', '}');
    if (line == 0)
        return;
    struct piece opened = piece_trim(source_line(f, line));
    suggest(a->d, a->row->rule, 0.85, "The `{` on line %u has no `}`: `%.*s`. Close it.", line,
            (int)(opened.len < 120 ? opened.len : 120), opened.at);
}

bool tell_fence(const struct diagnose_input *in, struct diagnosis *d)
{
    const struct source_file *f = find_source(in, piece_of(d->location.file));
    for (uint32_t n = d->location.line; n > 0 && n + 2 > d->location.line; n--)
        if (starts_with(piece_trim(source_line(f, n)), "```")) {
            suggest(
                d, 20, 0.97,
                "Line %u is a Markdown fence, not a part of the program: leave the ``` lines out.",
                n);
            return true;
        }
    return false;
}

void tell_outside(const struct advising *a, const struct match *m)
{
    (void)m;
    suggest(a->d, a->row->rule, 0.75,
            "Line %u stands outside of any function: a `}` above it closes too early; remove the "
            "one that is too many.",
            a->d->location.line);
}

/* ---- sources ---- */

uint32_t open_quote_before(const struct source_file *f, char quote, uint32_t before)
{
    struct piece rest = text_of_source(f), line;
    uint32_t found = 0, odd = 0;
    for (uint32_t n = 1; n < before && n < LINES_SEEN && next_line(&rest, &line); n++) {
        unsigned quotes = 0;
        for (size_t i = 0; i < line.len; i++)
            quotes += line.at[i] == quote && (i == 0 || line.at[i - 1] != '\\');
        if (quotes % 2 == 0)
            continue;
        odd++;
        found = n;
    }
    return odd % 2 == 1 ? found : 0;
}

struct piece base_of(struct piece path)
{
    const char *slash = path.at ? memrchr(path.at, '/', path.len) : NULL;
    if (!slash)
        return path;
    size_t skip = (size_t)(slash + 1 - path.at);
    return (struct piece){ slash + 1, path.len - skip };
}

bool nearest_file(const struct diagnose_input *in, struct piece name, char *out, size_t size)
{
    struct nearest n = { .name = name };
    for (size_t i = 0; i < in->n_sources; i++)
        nearest_try(&n, piece_of(in->sources[i].name));
    copy_piece(piece_of(n.best), out, size);
    return n.best[0] != '\0';
}

static bool wordly(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (unsigned char)c >= 0x80;
}

bool has_word(struct piece line, struct piece word, size_t *ret_at)
{
    if (!line.at || !word.at || word.len == 0)
        return false;
    for (size_t i = 0; i + word.len <= line.len; i++) {
        if (memcmp(line.at + i, word.at, word.len) != 0 || (i > 0 && wordly(line.at[i - 1])))
            continue;
        if (i + word.len < line.len && wordly(line.at[i + word.len]))
            continue;
        *ret_at = i;
        return true;
    }
    return false;
}

void underline_word(const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece line = line_at(in, d);
    size_t from = d->location.column, n = 0;
    while (from > 0 && from - 1 + n < line.len && wordly(line.at[from - 1 + n]))
        n++;
    if (n > 0)
        d->location.end_column = d->location.column + (uint32_t)n;
}

uint32_t line_with_word(const struct source_file *f, struct piece word, uint32_t from)
{
    struct piece rest = text_of_source(f), line;
    size_t at;
    for (uint32_t n = 1; next_line(&rest, &line); n++)
        if (n >= from && has_word(line, word, &at))
            return n;
    return 0;
}

void point_at_end(const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece line = without_end_space(line_at(in, d));
    uint32_t column = 1;
    for (size_t i = 0; i < line.len; i++)
        column += ((unsigned char)line.at[i] & 0xC0) != 0x80;
    d->location.column = line.at ? column : 0;
    d->location.end_column = 0;
}

/* A line whose statement was ended by itself: by ';' or a brace, or it is a comment, a directive or a label. */
static bool is_ended(struct piece line)
{
    line = piece_trim(without_end_space(line));
    return line.len == 0 || strchr(";{}:,", line.at[line.len - 1]) || line.at[0] == '#' ||
           starts_with(line, "//") || starts_with(line, "<?") || starts_with(line, "/*");
}

/* The line before the location's that is not blank, and its number; 0: there is none, or the location's is the one. */
static uint32_t line_before(const struct diagnose_input *in, const struct diagnosis *d,
                            struct piece *ret)
{
    const struct source_file *f = find_source(in, piece_of(d->location.file));
    struct piece here = source_line(f, d->location.line);
    if (!here.at || (d->location.column > 0 && d->location.column - 1 > indent_of(here)))
        return 0; /* something stands before it in its own line */
    uint32_t line = d->location.line;
    *ret = NO_PIECE;
    for (unsigned n = 0; n < BLANKS_NEAR && line > 1 && piece_trim(*ret).len == 0; n++)
        *ret = source_line(f, --line);
    return line;
}

void go_back_to_brace(const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece before;
    uint32_t line = line_before(in, d, &before);
    if (line == 0 || !piece_is(piece_trim(without_end_space(before)), "}"))
        return;
    d->location.line = line;
    point_at_end(in, d);
}

void go_back_to_statement(const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece before;
    uint32_t line = line_before(in, d, &before);
    if (line == 0)
        return;
    if (is_ended(before))
        return;
    d->location.line = line;
    point_at_end(in, d);
}

/* ---- brackets ---- */

enum { OPEN_MAX = 256 };

struct scan {
    struct piece text;
    size_t at;
    uint32_t line;
    size_t indent; /* of the line */
    bool begins;   /* only blanks before, in the line */
    /* Up to there " and ' begin no text: looked for once, however many there are. */
    size_t plain[2];
};

static void new_line(struct scan *s)
{
    s->line++;
    s->indent = 0;
    s->begins = true;
}

/* Past a text in quotes that ends in its line. One that does not is no text: an apostrophe, or a mistake. */
static void skip_quoted(struct scan *s)
{
    char quote = s->text.at[s->at];
    size_t *plain = &s->plain[quote == '"'], i = s->at + 1;
    if (s->at < *plain)
        return;
    for (; i < s->text.len && s->text.at[i] != '\n'; i++) {
        if (s->text.at[i] == '\\') {
            i++;
        } else if (s->text.at[i] == quote) {
            s->at = i;
            return;
        }
    }
    *plain = i;
}

static void skip_line(struct scan *s)
{
    while (s->at + 1 < s->text.len && s->text.at[s->at + 1] != '\n')
        s->at++;
}

static void skip_comment(struct scan *s)
{
    while (s->at + 1 < s->text.len && !(s->text.at[s->at] == '*' && s->text.at[s->at + 1] == '/'))
        if (s->text.at[s->at++] == '\n')
            new_line(s);
}

/* The next character that is neither in quotes nor in a comment; '\0' at the end. */
static char next_code(struct scan *s)
{
    for (; s->at < s->text.len; s->at++) {
        char c = s->text.at[s->at], next = s->at + 1 < s->text.len ? s->text.at[s->at + 1] : '\0';
        if (c == '\n')
            new_line(s);
        else if (c == ' ' || c == '\t')
            s->indent += s->begins;
        else if ((c == '/' && next == '/') || (c == '#' && s->begins))
            skip_line(s);
        else if (c == '/' && next == '*')
            skip_comment(s);
        else if (c == '"' || c == '\'')
            skip_quoted(s), s->begins = false;
        else
            return c;
    }
    return '\0';
}

uint32_t unclosed(const struct source_file *f, char open, char close)
{
    struct scan s = { .text = text_of_source(f), .line = 1, .begins = true };
    struct {
        uint32_t line;
        size_t indent;
    } stack[OPEN_MAX];
    size_t n = 0;
    for (char c; (c = next_code(&s)) != '\0'; s.at++) {
        if (c == open && n == OPEN_MAX)
            return 0;
        if (c == open) {
            stack[n].line = s.line;
            stack[n++].indent = s.indent;
        } else if (c == close && n > 0) {
            n--;
            /* It closes a line that is less indented: what was opened last is still open. */
            if (s.begins && n > 0 && stack[n].indent > s.indent)
                return stack[n].line;
        }
        s.begins = false;
    }
    return n > 0 ? stack[n - 1].line : 0;
}
