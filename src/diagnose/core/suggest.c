/* Suggestions, and names that are similar to another. Runs in: keeper. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "diagnose/core/grammar.h"

void suggest(struct diagnosis *d, unsigned number, double confidence, const char *fmt, ...)
{
    size_t at = 0;
    d->last = DIAGNOSE_SUGGESTIONS;
    for (size_t i = 0; i < d->n_suggestions; i++)
        if (number != 0 && d->suggestions[i].rule == number)
            return;
    while (at < d->n_suggestions && d->suggestions[at].confidence >= confidence)
        at++;
    if (at == DIAGNOSE_SUGGESTIONS)
        return;
    if (d->n_suggestions == DIAGNOSE_SUGGESTIONS)
        d->n_suggestions--;
    struct suggestion *s = &d->suggestions[at];
    memmove(s + 1, s, (d->n_suggestions - at) * sizeof *s);
    *s = (struct suggestion){ .rule = number, .confidence = confidence };
    d->n_suggestions++;
    d->last = at;
    va_list ap;
    va_start(ap, fmt);
    char text[2 * sizeof s->text];
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    COPY(piece_of(text), s->text);
}

void suggest_replacement(struct diagnosis *d, const char *fmt, ...)
{
    if (d->last >= d->n_suggestions)
        return; /* the suggestion was not added */
    struct suggestion *s = &d->suggestions[d->last];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(s->replacement, sizeof s->replacement, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof s->replacement)
        s->replacement[0] = '\0'; /* half a line is of no use */
}

void suggestions_drop_idle(struct diagnosis *d, struct piece line)
{
    for (size_t i = 0; i < d->n_suggestions; i++)
        if (piece_is(line, d->suggestions[i].replacement))
            d->suggestions[i].replacement[0] = '\0';
}

/* ---- a corrected line, or a further one ---- */

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (c & 0x80);
}

/* The next word at or after *at, which is set behind it; length 0 at the end. */
static struct piece next_word(const char **at)
{
    while (**at && !is_word_char(**at))
        (*at)++;
    const char *from = *at;
    while (is_word_char(**at))
        (*at)++;
    return piece_in(from, (size_t)(*at - from));
}

bool suggestion_corrects_line(const struct diagnosis *d, const struct suggestion *s)
{
    /* A line that makes a name known stands alone, unless the faulty line is one of them, too. */
    static const char *const openers[] = { "import",  "from",   "include", "use",      "using",
                                           "require", "pragma", "global",  "nonlocal", NULL };
    const char *line = NULL, *at, *fixed = s->replacement;
    for (size_t i = 0; i < d->n_excerpt; i++)
        if (d->excerpt[i].line == d->location.line)
            line = d->excerpt[i].text;
    if (!line)
        return false;
    struct piece first = next_word(&(const char *){ line }), opener = next_word(&fixed);
    for (size_t i = 0; openers[i]; i++)
        if (piece_is(opener, openers[i]) && !piece_same(first, opener))
            return false;
    size_t words = 0, kept = 0;
    at = line;
    for (struct piece w; (w = next_word(&at)).len > 0; words++)
        kept += has_word(piece_of(s->replacement), w);
    return 2 * kept >= words;
}

/* ---- similar names ---- */

enum { CANDIDATES_MAX = 4096 };

void similar_try(struct similar *s, struct piece candidate)
{
    char name[NEAREST_WORD_MAX + 1], other[NEAREST_WORD_MAX + 1];
    size_t len = s->name.len,
           more = candidate.len > len ? candidate.len - len : len - candidate.len;
    if (len >= sizeof name || candidate.len == 0 || more > len / 2 || s->tried == CANDIDATES_MAX ||
        candidate.len >= sizeof other || piece_same(s->name, candidate))
        return;
    COPY(s->name, name);
    COPY(candidate, other);
    s->tried++;
    size_t distance = nearest_distance(name, other);
    /* A longer name that begins with this one is another name, not a slip. */
    if (distance >= candidate.len || (s->best[0] && distance >= s->distance))
        return;
    s->distance = distance;
    COPY(candidate, s->best);
}

void similar_try_list(struct similar *s, const char *const *words)
{
    for (; words && *words; words++)
        similar_try(s, piece_of(*words));
}

void similar_try_files(struct similar *s, const struct diagnose_input *in)
{
    for (size_t i = 0; i < in->n_sources; i++)
        similar_try(s, piece_base(piece_of(in->sources[i].name)));
}

static bool begins_word(char c)
{
    return is_word_byte(c) && (c < '0' || c > '9');
}

/* The end of the quoted text that begins at that offset; 0 when it does not end in this line. */
static size_t quoted_end(struct piece line, size_t from)
{
    char quote = piece_byte(line, from);
    for (size_t i = from + 1; i < line.len; i++) {
        if (piece_byte(line, i) == '\\')
            i++;
        else if (piece_byte(line, i) == quote)
            return i;
    }
    return 0;
}

static void try_line(struct similar *s, struct piece line, bool literals)
{
    bool plain[2] = { false, false }; /* " and ' without a partner: searched once in a line */
    for (size_t i = 0; i < line.len;) {
        char c = piece_byte(line, i);
        bool quote = (c == '"' || c == '\'') && !plain[c == '"'];
        size_t from = i, end = quote ? quoted_end(line, i) : 0;
        if (quote && end == 0)
            plain[c == '"'] = true;
        if (end > 0) {
            if (literals)
                similar_try(s, piece_part(line, i + 1, end - i - 1));
            i = end + 1;
        } else if (begins_word(c)) {
            while (i < line.len && is_word_byte(piece_byte(line, i)))
                i++;
            if (!literals)
                similar_try(s, piece_part(line, from, i - from));
        } else {
            i++;
        }
    }
}

static void try_all(struct similar *s, const struct diagnose_input *in, bool literals)
{
    for (size_t i = 0; i < in->n_sources; i++) {
        struct piece rest = text_of_source(&in->sources[i]), line;
        while (s->tried < CANDIDATES_MAX && next_line(&rest, &line))
            try_line(s, line, literals);
    }
}

void similar_try_sources(struct similar *s, const struct diagnose_input *in)
{
    try_all(s, in, false);
}

void similar_try_literals(struct similar *s, const struct diagnose_input *in)
{
    try_all(s, in, true);
}

static void try_words(struct similar *s, struct piece text)
{
    for (size_t i = 0; i < text.len && s->tried < CANDIDATES_MAX;) {
        size_t from = i;
        while (i < text.len && is_word_byte(piece_byte(text, i)))
            i++;
        similar_try(s, piece_part(text, from, i - from));
        i += i == from;
    }
}

/* Texts of several lines stand between three quotes. Each part between two of them is read once. */
static void try_long_texts(struct similar *s, struct piece text)
{
    size_t from = 0;
    char open = 0;
    for (size_t i = 0; i + 3 <= text.len; i++) {
        char c = piece_byte(text, i);
        if ((c != '"' && c != '\'') || piece_byte(text, i + 1) != c ||
            piece_byte(text, i + 2) != c || (open && open != c))
            continue;
        if (open)
            try_words(s, piece_part(text, from, i - from));
        open = open ? 0 : c;
        i += 2;
        from = i + 1;
    }
}

void similar_try_texts(struct similar *s, const struct diagnose_input *in)
{
    const char *dot = in->main_name ? strrchr(in->main_name, '.') : NULL;
    for (size_t i = 0; i < in->n_sources; i++) {
        const struct source_file *f = &in->sources[i];
        struct piece text = text_of_source(f);
        const char *other = strrchr(f->name, '.');
        if (dot && other && strcmp(dot, other) != 0)
            try_words(s, text);
        else
            try_long_texts(s, text);
    }
}

bool similar_name(const struct diagnose_input *in, struct piece name, const char *const *also,
                  char *out, size_t size)
{
    struct similar s = { .name = name };
    similar_try_sources(&s, in);
    similar_try_list(&s, also);
    if (s.best[0])
        copy_piece(piece_of(s.best), out, size);
    return s.best[0] != '\0';
}

bool similar_file(const struct diagnose_input *in, struct piece name, char *out, size_t size)
{
    struct similar s = { .name = name };
    for (size_t i = 0; i < in->n_sources; i++)
        similar_try(&s, piece_of(in->sources[i].name));
    copy_piece(piece_of(s.best), out, size);
    return s.best[0] != '\0';
}
