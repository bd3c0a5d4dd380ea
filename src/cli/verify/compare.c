#include "cli/verify/compare.h"

#include <ctype.h>
#include <string.h>

struct span {
    const char *at;
    size_t n;
};

/* The lines of a text, from its start to its last line that is not blank. */
struct reader {
    const char *at, *end;
};

static struct reader reader_of(const char *text, size_t len)
{
    while (len > 0 && (isspace((unsigned char)text[len - 1]) || text[len - 1] == '\0'))
        len--;
    return (struct reader){ text, text + len };
}

static bool next_line(struct reader *r, struct span *ret)
{
    if (r->at >= r->end)
        return false;
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    const char *end = newline ? newline : r->end;
    *ret = (struct span){ r->at, (size_t)(end - r->at) };
    r->at = end + 1;
    while (ret->n > 0 && strchr(" \t\r", ret->at[ret->n - 1]) && ret->at[ret->n - 1])
        ret->n--;
    return true;
}

static bool starts(struct span s, const char *word)
{
    return s.n >= strlen(word) && memcmp(s.at, word, strlen(word)) == 0;
}

/* The length of the dots that stand for any text at the start of the span; 0: none. */
static size_t dots(struct span s)
{
    return starts(s, "…") ? strlen("…") : starts(s, "...") ? 3 : 0;
}

static struct span after(struct span s, size_t n)
{
    return (struct span){ s.at + n, s.n - n };
}

/* One line. On a difference after dots, the dots take one more byte. */
static bool line_matches(struct span want, struct span got)
{
    struct span again_want = { 0 }, again_got = { 0 };
    while (got.n > 0 || want.n > 0) {
        size_t any = dots(want);
        if (any) {
            want = again_want = after(want, any);
            again_got = got;
        } else if (want.n > 0 && got.n > 0 && *want.at == *got.at) {
            want = after(want, 1);
            got = after(got, 1);
        } else if (again_want.at && again_got.n > 0) {
            again_got = after(again_got, 1);
            want = again_want;
            got = again_got;
        } else {
            return false;
        }
    }
    return true;
}

static bool is_any_lines(struct span line)
{
    while (line.n > 0 && (*line.at == ' ' || *line.at == '\t'))
        line = after(line, 1);
    size_t n = dots(line);
    return n > 0 && n == line.n;
}

bool output_matches(const char *expected, size_t expected_len, const char *got, size_t got_len)
{
    struct reader want = reader_of(expected, expected_len), have = reader_of(got, got_len);
    struct reader again_want = { 0 }, again_have = { 0 };
    for (;;) {
        struct reader have_before = have;
        struct span w, g;
        bool more_want = next_line(&want, &w), more_have = next_line(&have, &g);
        if (!more_want && !more_have)
            return true;
        if (more_want && is_any_lines(w)) {
            again_want = want;
            again_have = have = have_before;
            continue;
        }
        if (more_want && more_have && line_matches(w, g))
            continue;
        if (!again_want.end || !next_line(&again_have, &g))
            return false;
        want = again_want;
        have = again_have;
    }
}
