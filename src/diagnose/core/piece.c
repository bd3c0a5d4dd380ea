/* Pieces of text, and checked access to them. Runs in: keeper. */
#include <string.h>

#include "base/text.h"
#include "diagnose/core/grammar.h"

static struct piece cut_line(struct piece line)
{
    if (line.len > 0 && line.at[line.len - 1] == '\r')
        line.len--;
    if (line.len > LINE_SEEN)
        line.len = LINE_SEEN;
    return line;
}

bool next_line(struct piece *rest, struct piece *ret_line)
{
    if (!rest->at || rest->len == 0)
        return false;
    const char *end = memchr(rest->at, '\n', rest->len);
    size_t len = end ? (size_t)(end - rest->at) : rest->len;
    *ret_line = cut_line((struct piece){ rest->at, len });
    len += end != NULL;
    rest->at += len;
    rest->len -= len;
    return true;
}

bool last_line(struct piece *rest, struct piece *ret_line)
{
    if (!rest->at || rest->len == 0)
        return false;
    size_t end = rest->len - (rest->at[rest->len - 1] == '\n');
    const char *before = end ? memrchr(rest->at, '\n', end) : NULL;
    size_t from = before ? (size_t)(before + 1 - rest->at) : 0;
    *ret_line = cut_line((struct piece){ rest->at + from, end - from });
    rest->len = from;
    return true;
}

struct piece piece_of(const char *text)
{
    return (struct piece){ text, text ? strlen(text) : 0 };
}

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

struct piece piece_trim(struct piece p)
{
    while (p.len > 0 && blank(p.at[0])) {
        p.at++;
        p.len--;
    }
    while (p.len > 0 && blank(p.at[p.len - 1]))
        p.len--;
    return p;
}

struct piece piece_trim_end(struct piece p)
{
    while (p.len > 0 && (blank(p.at[p.len - 1]) || p.at[p.len - 1] == '\r'))
        p.len--;
    return p;
}

struct piece piece_cut(struct piece p, size_t max)
{
    return (struct piece){ p.at, p.len < max ? p.len : max };
}

struct piece piece_skip(struct piece p, size_t bytes)
{
    if (!p.at)
        return p;
    size_t skip = bytes < p.len ? bytes : p.len;
    return (struct piece){ p.at + skip, p.len - skip };
}

struct piece piece_after(struct piece whole, struct piece part)
{
    return piece_skip(whole, (size_t)(part.at + part.len - whole.at));
}

char piece_at(struct piece line, size_t column)
{
    return column > 0 && column <= line.len ? line.at[column - 1] : '\0';
}

struct piece piece_before(struct piece line, size_t column)
{
    return column > 0 ? piece_cut(line, column - 1) : line;
}

struct piece piece_from(struct piece line, size_t column)
{
    return column > 0 ? piece_skip(line, column - 1) : piece_skip(line, line.len);
}

bool starts_with(struct piece p, const char *prefix)
{
    size_t n = strlen(prefix);
    return p.at && p.len >= n && memcmp(p.at, prefix, n) == 0;
}

bool piece_is(struct piece p, const char *text)
{
    return p.at && p.len == strlen(text) && memcmp(p.at, text, p.len) == 0;
}

bool piece_same(struct piece a, struct piece b)
{
    return a.at && b.at && a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

size_t piece_find(struct piece p, const char *word)
{
    const char *at = p.at ? memmem(p.at, p.len, word, strlen(word)) : NULL;
    return at ? (size_t)(at - p.at) : p.len;
}

bool piece_has(struct piece p, const char *word)
{
    return p.at && memmem(p.at, p.len, word, strlen(word)) != NULL;
}

bool piece_among(struct piece p, const char *const *words)
{
    for (; *words; words++)
        if (piece_is(p, *words))
            return true;
    return false;
}

const char *text_for(const struct word_pair *pairs, struct piece word)
{
    while (pairs->word && !piece_is(word, pairs->word))
        pairs++;
    return pairs->text;
}

const struct word_pair *pair_in(const struct word_pair *pairs, struct piece text)
{
    while (pairs->word && !piece_has(text, pairs->word))
        pairs++;
    return pairs->word ? pairs : NULL;
}

const char *word_with(const struct word_pair *pairs, struct piece name)
{
    for (; pairs->word; pairs++) {
        const char *at = pairs->text;
        for (size_t n; *at; at += n + (at[n] == ' ')) {
            n = strcspn(at, " ");
            if (piece_same(name, (struct piece){ at, n }))
                return pairs->word;
        }
    }
    return NULL;
}

struct piece piece_base(struct piece path)
{
    const char *slash = path.len ? memrchr(path.at, '/', path.len) : NULL;
    return slash ? piece_skip(path, (size_t)(slash + 1 - path.at)) : path;
}

struct piece piece_last_part(struct piece dotted)
{
    const char *dot = dotted.len ? memrchr(dotted.at, '.', dotted.len) : NULL;
    return dot ? piece_skip(dotted, (size_t)(dot + 1 - dotted.at)) : dotted;
}

uint32_t piece_characters(struct piece p)
{
    uint32_t n = 0;
    for (size_t i = 0; i < p.len; i++)
        n += ((unsigned char)p.at[i] & 0xC0) != 0x80;
    return n;
}

void copy_piece(struct piece p, char *out, size_t size)
{
    size_t n = 0;
    if (p.at)
        n = p.len < size ? p.len : text_whole(p.at, size - 1);
    if (n > 0)
        memcpy(out, p.at, n);
    out[n] = '\0';
}

uint32_t piece_number(struct piece p)
{
    uint64_t n = 0;
    for (size_t i = 0; i < p.len; i++) {
        if (p.at[i] < '0' || p.at[i] > '9')
            return 0;
        n = n * 10 + (uint64_t)(p.at[i] - '0');
        if (n > UINT32_MAX)
            return 0;
    }
    return (uint32_t)n;
}

size_t indent_of(struct piece line)
{
    size_t n = 0;
    while (n < line.len && blank(line.at[n]))
        n++;
    return n;
}

bool is_word_byte(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (unsigned char)c >= 0x80;
}

size_t find_word(struct piece line, struct piece word)
{
    if (!line.at || !word.at || word.len == 0)
        return line.len;
    for (size_t i = 0; i + word.len <= line.len; i++) {
        if (memcmp(line.at + i, word.at, word.len) != 0)
            continue;
        bool begins = i == 0 || !is_word_byte(word.at[0]) || !is_word_byte(line.at[i - 1]);
        bool ends = i + word.len == line.len || !is_word_byte(word.at[word.len - 1]) ||
                    !is_word_byte(line.at[i + word.len]);
        if (begins && ends)
            return i;
    }
    return line.len;
}

bool has_word(struct piece line, struct piece word)
{
    return find_word(line, word) < line.len;
}
