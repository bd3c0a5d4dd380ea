/* Questions about the output and the job's sources that several languages ask. Runs in: keeper. */
#include <string.h>

#include "diagnose/core/grammar.h"

struct piece text_of(const struct diagnose_input *in)
{
    return piece_in(in->text, in->len);
}

struct piece text_printed(const struct diagnose_input *in)
{
    return piece_in(in->printed, in->printed ? in->printed_len : 0);
}

struct piece text_of_source(const struct source_file *f)
{
    return piece_cut(whole_source(f), DIAGNOSE_TEXT_MAX);
}

struct piece whole_source(const struct source_file *f)
{
    return f ? piece_in(f->text, f->len) : NO_PIECE;
}

bool next_source_line(struct source_lines *s)
{
    for (;;) {
        if (!s->begun && s->in && s->next_file < s->in->n_sources)
            s->file = &s->in->sources[s->next_file++];
        else if (!s->begun && (s->in || !s->file))
            return false;
        if (!s->begun) {
            s->rest = text_of_source(s->file);
            s->number = 0;
            s->begun = true;
        }
        if (s->number + 1 < LINES_SEEN && next_line(&s->rest, &s->line)) {
            s->number++;
            return true;
        }
        if (!s->in)
            return false;
        s->begun = false;
    }
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

uint32_t open_quote_before(const struct source_file *f, char quote, uint32_t before)
{
    struct piece rest = text_of_source(f), line;
    uint32_t found = 0, odd = 0;
    for (uint32_t n = 1; n < before && n < LINES_SEEN && next_line(&rest, &line); n++) {
        unsigned quotes = 0;
        for (size_t i = 0; i < line.len; i++)
            quotes += piece_byte(line, i) == quote && (i == 0 || piece_byte(line, i - 1) != '\\');
        if (quotes % 2 == 0)
            continue;
        odd++;
        found = n;
    }
    return odd % 2 == 1 ? found : 0;
}

uint32_t line_with_word(const struct source_file *f, struct piece word, uint32_t from)
{
    struct piece rest = text_of_source(f), line;
    for (uint32_t n = 1; next_line(&rest, &line); n++)
        if (n >= from && has_word(line, word))
            return n;
    return 0;
}

/* Whether the statement of the line has its end: ';', a brace, or it is a comment, a directive or a
 * label. */
static bool is_ended(struct piece line)
{
    line = piece_trim(piece_trim_end(line));
    return line.len == 0 || strchr(";{}:,", piece_last(line)) || piece_byte(line, 0) == '#' ||
           starts_with(line, "//") || starts_with(line, "<?") || starts_with(line, "/*");
}

/* The line before the location's line that is not blank, and its number. 0 when there is none, or
 * when code stands before the location in its own line. */
static uint32_t line_before(const struct diagnose_input *in, const struct diagnosis *d,
                            struct piece *ret)
{
    const struct source_file *f = find_source(in, piece_of(d->location.file));
    struct piece here = source_line(f, d->location.line);
    if (!here.at || (d->location.column > 0 && d->location.column - 1 > indent_of(here)))
        return 0; /* code stands before it in its own line */
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
    if (line == 0 || !piece_is(piece_trim(piece_trim_end(before)), "}"))
        return;
    d->location.line = line;
    point_at_end(in, d);
}

void go_back_to_statement(const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece before;
    uint32_t line = line_before(in, d, &before);
    if (line == 0 || is_ended(before))
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
    bool begins;   /* only blanks stand before it in the line */
    /* Up to these offsets a " or ' begins no text, so that each line is searched once
     * (DIAGNOSE-1). */
    size_t plain[2];
};

static void new_line(struct scan *s)
{
    s->line++;
    s->indent = 0;
    s->begins = true;
}

/* Skips a text in quotes that ends in its line. A quote without a partner there begins no text: it
 * is an apostrophe, or a mistake. */
static void skip_quoted(struct scan *s)
{
    char quote = piece_byte(s->text, s->at);
    size_t *plain = &s->plain[quote == '"'], i = s->at + 1;
    if (s->at < *plain)
        return;
    for (; i < s->text.len && piece_byte(s->text, i) != '\n'; i++) {
        if (piece_byte(s->text, i) == '\\') {
            i++;
        } else if (piece_byte(s->text, i) == quote) {
            s->at = i;
            return;
        }
    }
    *plain = i;
}

static void skip_line(struct scan *s)
{
    while (s->at + 1 < s->text.len && piece_byte(s->text, s->at + 1) != '\n')
        s->at++;
}

static void skip_comment(struct scan *s)
{
    while (s->at + 1 < s->text.len &&
           !(piece_byte(s->text, s->at) == '*' && piece_byte(s->text, s->at + 1) == '/'))
        if (piece_byte(s->text, s->at++) == '\n')
            new_line(s);
}

/* The next character that is neither in quotes nor in a comment; '\0' at the end. */
static char next_code(struct scan *s)
{
    for (; s->at < s->text.len; s->at++) {
        char c = piece_byte(s->text, s->at),
             next = s->at + 1 < s->text.len ? piece_byte(s->text, s->at + 1) : '\0';
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

struct outside outside_at(const struct source_file *f, uint32_t line)
{
    struct scan s = { .text = text_of_source(f), .line = 1, .begins = true };
    struct outside ret = { .any = true };
    size_t depth = 0;
    for (char c; (c = next_code(&s)) != '\0'; s.at++) {
        s.begins = false;
        if (c != '{' && c != '}')
            continue;
        bool last = c == '}' && depth <= 1;
        ret.extra = ret.extra || (c == '}' && depth == 0);
        depth = c == '{' ? depth + 1 : depth > 0 ? depth - 1 : 0;
        if (s.line >= line)
            continue;
        ret.any = depth == 0;
        ret.closed = last ? s.line : ret.closed;
    }
    return ret;
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
            /* It closes a line that is less indented: the last bracket is still open. */
            if (s.begins && n > 0 && stack[n].indent > s.indent)
                return stack[n].line;
        }
        s.begins = false;
    }
    return n > 0 ? stack[n - 1].line : 0;
}
