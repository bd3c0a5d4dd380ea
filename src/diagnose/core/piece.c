/* Pieces of text, and checked access to them. Runs in: keeper. */
#include <string.h>

#include "base/text.h"
#include "diagnose/core/grammar.h"

static struct piece cut_line(struct piece line)
{
    if (line.len > 0 && piece_last(line) == '\r')
        line.len--;
    if (line.len > LINE_SEEN)
        line.len = LINE_SEEN;
    return line;
}

size_t piece_behind_last(struct piece p, char c)
{
    const char *at = p.len ? memrchr(p.at, c, p.len) : NULL;
    return at ? (size_t)(at - piece_bytes(p)) + 1 : 0;
}

bool next_line(struct piece *rest, struct piece *ret_line)
{
    if (!rest->at || rest->len == 0)
        return false;
    size_t len = piece_find(*rest, "\n");
    *ret_line = cut_line(piece_cut(*rest, len));
    *rest = piece_skip(*rest, len + 1);
    return true;
}

bool last_line(struct piece *rest, struct piece *ret_line)
{
    if (!rest->at || rest->len == 0)
        return false;
    size_t end = rest->len - (piece_last(*rest) == '\n');
    size_t from = piece_behind_last(piece_cut(*rest, end), '\n');
    *ret_line = cut_line(piece_part(*rest, from, end - from));
    rest->len = from;
    return true;
}

struct piece piece_of(const char *text)
{
    return piece_in(text, text ? strlen(text) : 0);
}

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

struct piece piece_trim(struct piece p)
{
    p = piece_skip(p, indent_of(p));
    while (p.len > 0 && blank(piece_last(p)))
        p.len--;
    return p;
}

struct piece piece_trim_end(struct piece p)
{
    while (p.len > 0 && (blank(piece_last(p)) || piece_last(p) == '\r'))
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
    return piece_in(piece_bytes(p) + skip, p.len - skip);
}

struct piece piece_part(struct piece p, size_t offset, size_t bytes)
{
    return piece_cut(piece_skip(p, offset), bytes);
}

struct piece piece_through(struct piece first, struct piece last)
{
    return (struct piece){ first.at, piece_end(first, last) };
}

size_t piece_offset(struct piece whole, struct piece part)
{
    return (size_t)(piece_bytes(part) - piece_bytes(whole));
}

size_t piece_end(struct piece whole, struct piece part)
{
    return piece_offset(whole, part) + part.len;
}

struct piece piece_after(struct piece whole, struct piece part)
{
    return piece_skip(whole, piece_end(whole, part));
}

char piece_at(struct piece line, size_t column)
{
    return piece_byte(line, column - 1); /* column 0 becomes the largest offset */
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

bool ends_with(struct piece p, const char *suffix)
{
    size_t n = strlen(suffix);
    return p.len >= n && piece_is(piece_skip(p, p.len - n), suffix);
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
    return at ? (size_t)(at - piece_bytes(p)) : p.len;
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
            if (piece_same(name, piece_in(at, n)))
                return pairs->word;
        }
    }
    return NULL;
}

struct piece piece_base(struct piece path)
{
    return piece_skip(path, piece_behind_last(path, '/'));
}

struct piece piece_last_part(struct piece dotted)
{
    return piece_skip(dotted, piece_behind_last(dotted, '.'));
}

uint32_t piece_characters(struct piece p)
{
    uint32_t n = 0;
    for (size_t i = 0; i < p.len; i++)
        n += ((unsigned char)piece_byte(p, i) & 0xC0) != 0x80;
    return n;
}

void copy_piece(struct piece p, char *out, size_t size)
{
    size_t n = 0;
    if (p.at)
        n = p.len < size ? p.len : text_whole(piece_bytes(p), size - 1);
    if (n > 0)
        memcpy(out, p.at, n);
    out[n] = '\0';
}

uint32_t piece_number(struct piece p)
{
    uint64_t n = 0;
    for (size_t i = 0; i < p.len; i++) {
        if (piece_byte(p, i) < '0' || piece_byte(p, i) > '9')
            return 0;
        n = n * 10 + (uint64_t)(piece_byte(p, i) - '0');
        if (n > UINT32_MAX)
            return 0;
    }
    return (uint32_t)n;
}

size_t indent_of(struct piece line)
{
    size_t n = 0;
    while (n < line.len && blank(piece_byte(line, n)))
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
        if (!piece_same(piece_part(line, i, word.len), word))
            continue;
        bool begins = i == 0 || !is_word_byte(piece_byte(word, 0)) ||
                      !is_word_byte(piece_byte(line, i - 1));
        bool ends = i + word.len == line.len || !is_word_byte(piece_last(word)) ||
                    !is_word_byte(piece_byte(line, i + word.len));
        if (begins && ends)
            return i;
    }
    return line.len;
}

bool has_word(struct piece line, struct piece word)
{
    return find_word(line, word) < line.len;
}
