/* A function that calls itself on every path: seen in the source, for a program that a limit or a crash ended. Runs
 * in: keeper. */
#include <stdio.h>
#include <string.h>

#include "diagnose/core/grammar.h"

enum { LINES_BODY = 60, FILE_BYTES = 64 << 10 };

/* Languages whose functions have braces. */
static const char *const braces[] = { "c",   "cpp",        "go",         "java",
                                      "php", "javascript", "typescript", NULL };
static const char *const words[] = { "if",   "for",    "while", "switch",   "catch", "return",
                                     "main", "sizeof", "func",  "function", "else",  NULL };

/* The line of the body that calls the function on every path; 0 when a condition stands before. */
static uint32_t call_on_every_path(struct diagnoser *g, const struct source_file *f,
                                   struct piece name, uint32_t from, struct match *call)
{
    struct match m;
    long depth = 0;
    bool begun = false;
    for (uint32_t n = from; n < from + LINES_BODY; n++) {
        struct piece line = source_line(f, n), code = line;
        if (n == from)
            code = piece_skip(line, piece_find(line, "{"));
        if (match(g,
                  "\\b(?:if|switch|while|for|case|select|try|foreach|match|yield|await|setTimeout)"
                  "\\b|\\?|&&|\\|\\||=>",
                  code, &m))
            return 0;
        if (begun || n == from) {
            struct piece rest = code;
            while (match(g,
                         "(?:^|[^\\w.$>:])(?:this\\.|this->|self::|\\$this->)?(\\w+)\\s*\\(([^;]*)",
                         rest, call)) {
                if (piece_same(call->group[0], name))
                    return n;
                rest = piece_after(code, call->group[0]);
            }
        }
        for (size_t i = 0; i < code.len; i++) {
            char c = piece_byte(code, i);
            depth += c == '{' ? 1 : c == '}' ? -1 : 0;
            begun = begun || c == '{';
        }
        if ((begun && depth <= 0) || (!begun && n > from + 1))
            return 0;
    }
    return 0;
}

bool endless_recursion(struct diagnoser *g, const struct diagnose_input *in, struct diagnosis *d)
{
    if (!in->language || !piece_among(piece_of(in->language), braces))
        return false;
    for (size_t k = 0; k < in->n_sources && k < 4; k++) {
        const struct source_file *f = &in->sources[k];
        struct piece rest = text_of_source(f), line;
        struct match m, call;
        for (uint32_t n = 1; f->len < FILE_BYTES && n < LINES_SEEN && next_line(&rest, &line);
             n++) {
            if (!match(g,
                       "(?:^|\\s|\\*)(\\w+)\\s*\\([^;{}]*\\)[^;{}()]*\\{|\\bfunc\\s+(?:\\([^)]*\\)"
                       "\\s*)?(\\w+)\\s*\\(",
                       line, &m))
                continue;
            struct piece name = m.group[1].at ? m.group[1] : m.group[0];
            uint32_t at = 0;
            if (piece_among(name, words) || !(at = call_on_every_path(g, f, name, n, &call)))
                continue;
            struct match less;
            char base[120] = "";
            if (match(g, "\\b(\\w+)\\s*-\\s*1\\b", call.group[1], &less))
                (void)snprintf(base, sizeof base, ", such as one for %.*s <= 0",
                               P(piece_cut(less.group[0], 60)));
            if (d->location.line == 0)
                set_location(d, f->name, at);
            bool alike = match(g, "^\\s*\\)", call.group[1], &less);
            suggest(
                d, 24, 0.93,
                alike ? "%.*s() calls itself on every path (line %u), so the recursion never "
                        "ends: return a value or a member in place of the call, or add a case that "
                        "ends it%s."
                      : "%.*s() calls itself on every path (line %u), so the recursion never "
                        "ends: add a base case that returns without the call%s.",
                P(name), at, base);
            return true;
        }
    }
    return false;
}
