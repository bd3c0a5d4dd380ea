/* Tables of rules, and the advice that several languages share. Runs in: keeper. */
#include "diagnose/core/rules.h"

#include <stdio.h>
#include <string.h>

void advice_begin(struct advice *a, struct diagnoser *g, const struct diagnose_input *in,
                  struct diagnosis *d)
{
    *a = (struct advice){ .g = g,
                          .in = in,
                          .d = d,
                          .line = line_at(in, d),
                          .file = find_source(in, piece_of(d->location.file)) };
    COPY(piece_of(d->type), a->type_text);
    COPY(piece_of(d->message), a->message_text);
    a->type = piece_of(a->type_text);
    a->message = piece_of(a->message_text);
}

void advice_use_own_error(struct advice *a)
{
    if (a->d->n_causes == 0 || strcmp(a->d->type, verdict_word(a->d->verdict)) != 0)
        return;
    COPY(piece_of(a->d->causes[0].type), a->type_text);
    COPY(piece_of(a->d->causes[0].message), a->message_text);
    a->type = piece_of(a->type_text);
    a->message = piece_of(a->message_text);
}

/* ---- tables ---- */

struct subject {
    char text[sizeof((struct diagnosis *)NULL)->type + sizeof((struct diagnosis *)NULL)->message];
};

static struct piece subject_of(const char *type, const char *message, struct subject *s)
{
    (void)snprintf(s->text, sizeof s->text, "%s%s%s", type, type[0] ? ": " : "", message);
    for (char *c = s->text; *c; c++)
        if (*c == '\n')
            *c = ' '; /* a pattern sees one line */
    return piece_of(s->text);
}

bool classify(struct diagnoser *g, struct diagnosis *d, const struct rule *rules)
{
    struct subject s = { 0 };
    struct match m;
    struct piece subject = subject_of(d->type, d->message, &s);
    for (; rules->pattern; rules++)
        if (match(g, rules->pattern, subject, &m)) {
            d->category = rules->category;
            return true;
        }
    return false;
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

static void apply(const struct advice *a)
{
    const struct rule *r = a->rule;
    struct diagnosis *d = a->d;
    size_t before = d->n_suggestions;
    if (r->docs && !d->docs[0])
        fill_in(r->docs, &a->m, d->docs, sizeof d->docs);
    if (r->advise)
        r->advise(a);
    if (!r->text || d->n_suggestions > before)
        return;
    struct suggestion s;
    fill_in(r->text, &a->m, s.text, sizeof s.text);
    suggest(d, r->number, r->confidence, "%s", s.text);
    if (r->replacement) {
        fill_in(r->replacement, &a->m, s.replacement, sizeof s.replacement);
        suggest_replacement(d, "%s", s.replacement);
    }
}

static bool fits(struct advice *a, const struct rule *r, struct piece subject)
{
    if (!r->type)
        return match(a->g, r->pattern, subject, &a->m);
    return (!r->type[0] || piece_is(a->type, r->type)) &&
           match(a->g, r->pattern, a->message, &a->m);
}

void rules_apply(struct advice *a, const struct rule *rules, enum rules_wanted wanted)
{
    struct subject s = { 0 };
    struct piece subject = subject_of(a->type_text, a->message_text, &s);
    for (a->rule = rules; a->rule->pattern; a->rule++) {
        if (!fits(a, a->rule, subject))
            continue;
        apply(a);
        if (wanted == FIRST_RULE)
            return;
    }
}

bool rules_apply_to_line(const struct advice *a, const struct rule *rules,
                         bool (*is_code)(struct piece line, size_t place))
{
    struct advice here = *a;
    for (here.rule = rules; here.rule->pattern; here.rule++) {
        if (!match(a->g, here.rule->pattern, a->line, &here.m) ||
            !is_code(a->line, piece_offset(a->line, here.m.all)))
            continue;
        apply(&here);
        return true;
    }
    return false;
}

void advise_by(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d,
               const struct rule *rules)
{
    struct advice a;
    advice_begin(&a, g, in, d);
    rules_apply(&a, rules, FIRST_RULE);
}

bool read_exit(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d,
               struct piece text, bool known, const struct rule *rules)
{
    COPY(text, d->message);
    (void)snprintf(d->type, sizeof d->type, "exit %d", in->evidence->exit_code);
    if (known || (text.at && classify(g, d, rules)))
        return true;
    d->type[0] = d->message[0] = '\0';
    return false;
}

/* ---- advice that several languages give ---- */

void advise_nearest(const struct advice *a)
{
    struct piece name = a->m.group[0];
    char best[128];
    if (!similar_name(a->in, name, a->rule->names, best, sizeof best))
        return;
    suggest(a->d, a->rule->number, a->rule->confidence > 0 ? a->rule->confidence : 0.8,
            "Did you mean `%s`? There is no `%.*s`.", best, P(name));
    (void)suggest_swap(a->in, a->d, name, best);
}

bool advise_own_name(const struct advice *a, const char *language, struct piece name,
                     const struct word_pair *foreign)
{
    const char *own = text_for(foreign, name);
    if (!own)
        return false;
    suggest(a->d, 0, 0.85, "In %s the name is `%s`.", language, own);
    (void)suggest_swap(a->in, a->d, name, own);
    return true;
}

uint32_t line_above_with(const struct advice *a, const char *pattern, struct match *ret)
{
    enum { LINES_ABOVE = 6 };
    for (uint32_t n = a->d->location.line; n > 0 && n + LINES_ABOVE > a->d->location.line; n--)
        if (match(a->g, pattern, source_line(a->file, n), ret))
            return n;
    return 0;
}

/* Where the `;` belongs: before the word that the compiler names behind "expected ... before", or
 * at the end of the code of the line. Columns are bytes to some compilers and characters to others,
 * so a column behind a character outside of ASCII is not used. */
static size_t semicolon_at(const struct advice *a, struct piece line)
{
    struct match m;
    size_t at = a->d->location.column;
    if (!match(a->g, "\\bexpected\\b", a->message, &m))
        return line.len;
    bool inside = at >= 2 && at <= line.len;
    for (size_t i = 0; inside && i + 1 < at; i++)
        inside = (unsigned char)piece_byte(line, i) < 0x80;
    if (inside)
        return piece_trim_end(piece_before(line, at)).len;
    if (match(a->g, "^(.*?\\S)\\s*(?://[^\"']*|/\\*[^\"']*\\*/)$", line, &m))
        return m.group[0].len;
    return line.len;
}

void advise_semicolon(const struct advice *a)
{
    struct match word;
    struct piece line = piece_trim_end(a->line);
    if (line.len == 0 || strchr(";{", piece_at(line, line.len)))
        return;
    size_t at = semicolon_at(a, line);
    struct piece before = piece_cut(line, at), behind = piece_skip(line, at);
    if (match(a->g, "^\\s*(?!//|/\\*)(\\w+|\\S)", behind, &word))
        suggest(a->d, a->rule->number, 0.9, "A `;` is missing before `%.*s`.", P(word.group[0]));
    else
        suggest(a->d, a->rule->number, 0.9, "Line %u has no `;` at its end.", a->d->location.line);
    suggest_replacement(a->d, "%.*s;%.*s", P(before), P(behind));
}

void advise_brace(const struct advice *a)
{
    uint32_t line = unclosed(a->file, '{', '}');
    if (line == 0)
        return;
    struct piece opened = piece_cut(piece_trim(source_line(a->file, line)), 120);
    suggest(a->d, a->rule->number, 0.85, "The `{` on line %u has no `}`: `%.*s`. Close it.", line,
            P(opened));
}

bool advise_fence(const struct diagnose_input *in, struct diagnosis *d)
{
    const struct source_file *f = find_source(in, piece_of(d->location.file));
    for (uint32_t n = d->location.line; n > 0 && n + 2 > d->location.line; n--)
        if (starts_with(piece_trim(source_line(f, n)), "```")) {
            suggest(
                d, 20, 0.97,
                "Line %u is a Markdown fence and not part of the program: remove the ``` lines.",
                n);
            return true;
        }
    return false;
}

void advise_outside(const struct advice *a)
{
    struct outside o = outside_at(a->file, a->d->location.line);
    if (o.any && o.extra && o.closed)
        suggest(
            a->d, a->rule->number, 0.75,
            "Line %u is outside of any function, and the file has more `}` than `{`: remove the "
            "extra `}`, most likely the one on line %u.",
            a->d->location.line, o.closed);
    else if (o.any && !o.extra)
        suggest(a->d, a->rule->number, 0.8, "Line %u is outside of any function: move it into one.",
                a->d->location.line);
}
