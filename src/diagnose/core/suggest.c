/* Suggestions, and names that are like another. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "diagnose/core/grammar.h"

void suggest(struct diagnosis *d, unsigned rule, double confidence, const char *fmt, ...)
{
    size_t at = 0;
    d->last = DIAGNOSE_SUGGESTIONS;
    for (size_t i = 0; i < d->n_suggestions; i++)
        if (rule != 0 && d->suggestions[i].rule == rule)
            return;
    while (at < d->n_suggestions && d->suggestions[at].confidence >= confidence)
        at++;
    if (at == DIAGNOSE_SUGGESTIONS)
        return;
    if (d->n_suggestions == DIAGNOSE_SUGGESTIONS)
        d->n_suggestions--;
    struct suggestion *s = &d->suggestions[at];
    memmove(s + 1, s, (d->n_suggestions - at) * sizeof *s);
    *s = (struct suggestion){ .rule = rule, .confidence = confidence };
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
        return; /* it was not added */
    struct suggestion *s = &d->suggestions[d->last];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(s->replacement, sizeof s->replacement, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof s->replacement)
        s->replacement[0] = '\0'; /* half a line helps nobody */
}

/* ---- names that are like another ---- */

enum { CANDIDATES_MAX = 4096 };

/* How far from a name of that length another may be and still be meant. */
static size_t near_enough(size_t len)
{
    return len < 2 ? 0 : len < 5 ? 1 : len < 9 ? 2 : 3;
}

/* Two letters changed places: one slip, though two letters differ. */
static bool swapped(const char *a, const char *b)
{
    size_t i = 0;
    while (a[i] && a[i] == b[i])
        i++;
    return a[i] && a[i + 1] && a[i] == b[i + 1] && a[i + 1] == b[i] &&
           strcmp(a + i + 2, b + i + 2) == 0;
}

static size_t how_far(const char *a, const char *b)
{
    if (strcasecmp(a, b) == 0 || swapped(a, b))
        return 1;
    return text_distance(a, b);
}

void nearest_try(struct nearest *n, struct piece candidate)
{
    char name[TEXT_DISTANCE_MAX], other[TEXT_DISTANCE_MAX];
    if (n->name.len >= sizeof name || candidate.len >= sizeof other || n->asked == CANDIDATES_MAX)
        return;
    size_t most = near_enough(n->name.len);
    size_t longer = n->name.len > candidate.len ? n->name.len - candidate.len
                                                : candidate.len - n->name.len;
    if (longer > most || candidate.len == 0 || piece_same(n->name, candidate))
        return;
    COPY(n->name, name);
    COPY(candidate, other);
    n->asked++;
    size_t far = how_far(name, other);
    if (far > most || (n->best[0] && far >= n->distance))
        return;
    n->distance = far;
    COPY(candidate, n->best);
}

void nearest_try_list(struct nearest *n, const char *const *words)
{
    for (; words && *words; words++)
        nearest_try(n, piece_of(*words));
}

static bool begins_word(char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

/* The end of the quoted text that begins at line.at[from], or 0 when it does not end in this line. */
static size_t quoted_end(struct piece line, size_t from)
{
    char quote = line.at[from];
    for (size_t i = from + 1; i < line.len; i++) {
        if (line.at[i] == '\\')
            i++;
        else if (line.at[i] == quote)
            return i;
    }
    return 0;
}

static void try_line(struct nearest *n, struct piece line, bool literals)
{
    bool plain[2] = { false, false }; /* " and ' that no other ends: looked for once in a line */
    for (size_t i = 0; i < line.len;) {
        char c = line.at[i];
        bool quote = (c == '"' || c == '\'') && !plain[c == '"'];
        size_t from = i, end = quote ? quoted_end(line, i) : 0;
        if (quote && end == 0)
            plain[c == '"'] = true;
        if (end > 0) {
            if (literals)
                nearest_try(n, (struct piece){ line.at + i + 1, end - i - 1 });
            i = end + 1;
        } else if (begins_word(c)) {
            while (i < line.len &&
                   (begins_word(line.at[i]) || (line.at[i] >= '0' && line.at[i] <= '9')))
                i++;
            if (!literals)
                nearest_try(n, (struct piece){ line.at + from, i - from });
        } else {
            i++;
        }
    }
}

static void try_all(struct nearest *n, const struct diagnose_input *in, bool literals)
{
    for (size_t i = 0; i < in->n_sources; i++) {
        struct piece rest = { in->sources[i].text, in->sources[i].len }, line;
        if (rest.len > DIAGNOSE_TEXT_MAX)
            rest.len = DIAGNOSE_TEXT_MAX;
        while (n->asked < CANDIDATES_MAX && next_line(&rest, &line))
            try_line(n, line, literals);
    }
}

void nearest_try_sources(struct nearest *n, const struct diagnose_input *in)
{
    try_all(n, in, false);
}

void nearest_try_literals(struct nearest *n, const struct diagnose_input *in)
{
    try_all(n, in, true);
}

static void try_words(struct nearest *n, struct piece text)
{
    for (size_t i = 0; i < text.len && n->asked < CANDIDATES_MAX;) {
        size_t from = i;
        while (i < text.len &&
               (begins_word(text.at[i]) || (text.at[i] >= '0' && text.at[i] <= '9')))
            i++;
        nearest_try(n, (struct piece){ text.at + from, i - from });
        i += i == from;
    }
}

/* Texts over several lines are between three quotes. Each part between two of them is looked at once. */
static void try_long_texts(struct nearest *n, struct piece text)
{
    size_t from = 0;
    char open = 0;
    for (size_t i = 0; i + 3 <= text.len; i++) {
        char c = text.at[i];
        if ((c != '"' && c != '\'') || text.at[i + 1] != c || text.at[i + 2] != c ||
            (open && open != c))
            continue;
        if (open)
            try_words(n, (struct piece){ text.at + from, i - from });
        open = open ? 0 : c;
        i += 2;
        from = i + 1;
    }
}

void nearest_try_texts(struct nearest *n, const struct diagnose_input *in)
{
    const char *dot = in->main_name ? strrchr(in->main_name, '.') : NULL;
    for (size_t i = 0; i < in->n_sources; i++) {
        const struct source_file *f = &in->sources[i];
        struct piece text = { f->text, f->len < DIAGNOSE_TEXT_MAX ? f->len : DIAGNOSE_TEXT_MAX };
        const char *other = strrchr(f->name, '.');
        if (dot && other && strcmp(dot, other) != 0)
            try_words(n, text);
        else
            try_long_texts(n, text);
    }
}

bool nearest_name_in(const struct diagnose_input *in, struct piece name, const char *const *also,
                     char *out, size_t size)
{
    struct nearest n = { .name = name };
    nearest_try_sources(&n, in);
    nearest_try_list(&n, also);
    if (n.best[0])
        copy_piece(piece_of(n.best), out, size);
    return n.best[0] != '\0';
}
