/* Which names a Python program defines, and in which function or class a line stands. Runs in: keeper. */
#include "base/array.h"
#include "diagnose/python/python.h"

enum { LINES_NAMES = 1 << 12 }; /* lines whose names are read; each meets several patterns */

struct py_scope py_scope_of(const struct advice *a, uint32_t number)
{
    struct piece rest = text_of_source(a->file), line;
    struct {
        struct py_scope scope;
        size_t indent;
    } around[16] = { 0 };
    size_t depth = 0;
    for (uint32_t i = 1; i <= number && i < LINES_SEEN && next_line(&rest, &line); i++) {
        struct match m;
        struct piece t = piece_trim(line);
        if (t.len == 0 || piece_byte(t, 0) == '#')
            continue;
        while (depth > 0 && indent_of(line) <= around[depth - 1].indent)
            depth--;
        /* the failing line stands in its own function if the body is behind the ':' */
        bool own = i == number && i == a->d->location.line;
        if (depth == ARRAY_LEN(around) || (i == number && !own) ||
            !match(a->g,
                   own ? "^\\s*(?:async )?(?:def|class) (\\w+)[^#]*:\\s+[^\\s,#][^,:]*$"
                       : "^\\s*(?:async )?(?:def|class) (\\w+)",
                   line, &m))
            continue;
        around[depth].scope = (struct py_scope){ .line = i, .head = t, .name = m.group[0] };
        around[depth++].indent = indent_of(line);
    }
    return depth > 0 ? around[depth - 1].scope : (struct py_scope){ 0 };
}

bool py_in_class(struct py_scope scope)
{
    return starts_with(scope.head, "class ");
}

bool py_can_see(const struct advice *a, uint32_t number)
{
    uint32_t there = py_scope_of(a, number).line;
    return there == 0 || there == py_scope_of(a, a->d->location.line).line;
}

/* Each word of the code that no '.' stands before. */
static void try_words(struct similar *s, struct piece code)
{
    for (size_t i = 0; i < code.len;) {
        size_t from = i;
        while (i < code.len && is_word_byte(piece_byte(code, i)))
            i++;
        if (i > from && piece_at(code, from) != '.')
            similar_try(s, piece_part(code, from, i - from));
        i += i == from;
    }
}

void py_try_names(const struct advice *a, struct similar *s)
{
    static const char *const forms[] = {
        "^\\s*(?:async )?(?:def|class) (.*)$",
        "\\b(?:for) ([\\w, ()*]+?) in\\b",
        "^\\s*(?:import|from .* import) ([^#]*)",
        "\\bas (\\w+)",
        "^\\s*([A-Za-z_][\\w, ()*]*?)\\s*(?::[^=]+)?=[^=]",
        "(\\w+) :=",
        "\\blambda ([\\w, *]+)",
    };
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (unsigned i = 0; i < LINES_NAMES && next_line(&rest, &line); i++)
        for (size_t k = 0; k < ARRAY_LEN(forms); k++)
            if (match(a->g, forms[k], line, &m))
                try_words(s, m.group[0]);
}

/* The class with that name, and the classes that it is derived from, as far as the program has them. */
void py_try_members(const struct advice *a, struct piece class, struct similar *s)
{
    struct piece head, line;
    uint32_t number;
    const struct source_file *f;
    struct match m;
    for (unsigned level = 0; level < 4 && class.len > 0; level++) {
        if (!py_defined(a, class, &head, &number, &f) || !starts_with(head, "class "))
            return;
        struct piece rest = text_of_source(f);
        size_t own = 0;
        for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
            if (i == number)
                own = indent_of(line);
            if (i <= number || piece_trim(line).len == 0)
                continue;
            if (indent_of(line) <= own)
                break;
            if (match(a->g, "^\\s*(?:async )?def (\\w+)", line, &m) ||
                match(a->g, "\\bself\\.(\\w+)\\s*(?::[^=]+)?=[^=]", line, &m) ||
                match(a->g, "^\\s*(\\w+)\\s*(?::|=[^=])", line, &m))
                similar_try(s, m.group[0]);
        }
        class = match(a->g, "^class \\w+\\(\\s*(\\w+)", head, &m) ? m.group[0] : NO_PIECE;
    }
}

uint32_t py_line_with(const struct advice *a, const char *pattern, struct piece name)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++)
        if (match(a->g, pattern, line, &m) && piece_same(m.group[0], name))
            return i;
    return 0;
}
