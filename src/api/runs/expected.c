#include "api/runs/expected.h"

#include <string.h>

const char *const compare_words[] = {
#define X(id, word) word,
    COMPARE_TABLE(X)
#undef X
        NULL,
};

enum compare_mode compare_parse(const char *word)
{
    for (int i = 0; word && compare_words[i]; i++) {
        if (strcmp(word, compare_words[i]) == 0)
            return (enum compare_mode)i;
    }
    return COMPARE_TRIM;
}

/* As in the C locale: the result must not depend on the locale of the service. */
static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static const char *right_strip(const char *start, const char *end)
{
    while (end > start && is_space(end[-1]))
        end--;
    return end;
}

void output_cursor_init(struct output_cursor *c, enum compare_mode mode, const char *bytes,
                        size_t n)
{
    const char *at = bytes ? bytes : "";
    *c = (struct output_cursor){ .mode = mode, .at = at, .end = at + n };
    if (mode == COMPARE_TRIM)
        c->end = right_strip(c->at, c->end);
}

/* With its newline: a missing one at the end is a difference, too. */
static void next_line(struct output_cursor *c, struct output_piece *ret)
{
    const char *newline = memchr(c->at, '\n', (size_t)(c->end - c->at));
    const char *end = newline ? newline + 1 : c->end;
    *ret = (struct output_piece){ c->at, (size_t)(end - c->at) };
    c->line = ++c->lines_seen;
    c->at = end;
}

static bool next_word(struct output_cursor *c, struct output_piece *ret)
{
    for (; c->at < c->end && is_space(*c->at); c->at++)
        c->lines_seen += *c->at == '\n';
    const char *start = c->at;
    while (c->at < c->end && !is_space(*c->at))
        c->at++;
    c->line = c->lines_seen + 1;
    *ret = (struct output_piece){ start, (size_t)(c->at - start) };
    return ret->len > 0;
}

bool output_next(struct output_cursor *c, struct output_piece *ret)
{
    if (c->mode == COMPARE_TOKENS)
        return next_word(c, ret);
    if (c->at == c->end)
        return false;
    next_line(c, ret);
    if (c->mode == COMPARE_TRIM)
        ret->len = (size_t)(right_strip(ret->bytes, ret->bytes + ret->len) - ret->bytes);
    return true;
}

bool output_same(enum compare_mode mode, struct output_piece expected, struct output_piece got,
                 struct difference *ret)
{
    struct output_cursor a, b;
    output_cursor_init(&a, mode, expected.bytes, expected.len);
    output_cursor_init(&b, mode, got.bytes, got.len);
    for (;;) {
        struct output_piece x = { 0 }, y = { 0 };
        bool has_x = output_next(&a, &x), has_y = output_next(&b, &y);
        if (!has_x && !has_y)
            return true;
        if (has_x && has_y && x.len == y.len && memcmp(x.bytes, y.bytes, x.len) == 0)
            continue;
        *ret = (struct difference){ .line = has_x ? a.line : b.line };
        if (has_x)
            ret->expected = x;
        if (has_y)
            ret->got = y;
        return false;
    }
}
