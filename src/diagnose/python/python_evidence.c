/* Rules that the real values of variables decide: which keys a dict has, how long a list is, which name
 * is None. Without values they say nothing, and the other rules do. Runs in: keeper. */
#include <stdio.h>
#include <string.h>

#include "diagnose/python/python.h"

enum { KEYS_SHOWN = 6 };

/* ---- which expression failed ---- */

struct piece py_container(const struct advice *a)
{
    struct match m, other;
    size_t column = a->d->location.column;
    struct piece before;
    if (column > 1 && piece_at(a->line, column) == '[')
        before = piece_before(a->line, column);
    else if (match(a->g, "^([^\\[]*[\\w)])\\[[^\\[\\]]*\\][^\\[]*$", a->line, &other))
        before = other.group[0];
    else
        return NO_PIECE;
    return match(a->g, "([A-Za-z_][\\w.]*(?:\\[[^\\[\\]]*\\])*)$", before, &m) ? m.group[0]
                                                                               : NO_PIECE;
}

/* The item of a dict or list that is shown, for an index as the source writes it. */
static struct piece item_shown(const struct advice *a, struct piece shown, struct piece index)
{
    struct shown_items s = { .rest = shown };
    struct piece text = NO_PIECE, key;
    struct match m;
    bool quoted = match(a->g, "^[\"']([^\"'\\\\]*)[\"']$", index, &m), number = false;
    if (quoted) {
        text = m.group[0];
    } else if (match(a->g, "^\\d{1,6}$", index, &m)) {
        number = true;
    } else {
        index = value_shown(value_of(a->d, index));
        quoted = shown_text(index, &text);
    }
    for (uint32_t at = 0; index.len > 0 && next_shown(&s); at++) {
        bool same = s.key.at
                        ? quoted ? shown_text(s.key, &key) && piece_same(key, text)
                                 : piece_same(s.key, index)
                        : number && at == piece_number(index) && (at > 0 || piece_is(index, "0"));
        if (same)
            return s.item;
    }
    return NO_PIECE;
}

struct piece py_shown(const struct advice *a, struct piece expression)
{
    struct match m;
    size_t bracket = piece_find(expression, "[");
    struct piece rest = piece_skip(expression, bracket);
    struct piece shown = value_shown(value_of(a->d, piece_cut(expression, bracket)));
    while (shown.len > 0 && match(a->g, "^\\[([^\\[\\]]*)\\]", rest, &m)) {
        shown = item_shown(a, shown, piece_trim(m.group[0]));
        rest = piece_after(rest, m.all);
    }
    return shown;
}

struct piece py_short(struct piece p, size_t max)
{
    while (max > 0 && (piece_byte(p, max) & 0xc0) == 0x80) /* not within a character */
        max--;
    return piece_cut(p, max);
}

bool py_next_name(struct piece *rest, struct piece *ret_name)
{
    size_t i = 0;
    while (i < rest->len) {
        size_t from = i;
        while (i < rest->len &&
               (is_word_byte(piece_byte(*rest, i)) || (i > from && piece_byte(*rest, i) == '.')))
            i++;
        char c = piece_byte(*rest, from);
        if (i > from && (c < '0' || c > '9')) {
            struct piece name = piece_part(*rest, from, i - from);
            while (piece_last(name) == '.')
                name = piece_cut(name, name.len - 1);
            *rest = piece_skip(*rest, i);
            *ret_name = name;
            return true;
        }
        i += i == from;
    }
    return false;
}

struct piece py_name_of_type(const struct advice *a, const char *type)
{
    struct piece rest = a->line, name;
    for (unsigned n = 0; n < NAMES_ASKED && py_next_name(&rest, &name); n++)
        if (value_is(value_of(a->d, name), type))
            return name;
    return NO_PIECE;
}

/* ---- keys ---- */

/* "'a', 'b' and 3 more". */
static void list_keys(struct piece shown, uint64_t size, char *out, size_t room)
{
    struct shown_items s = { .rest = shown };
    size_t used = 0, n = 0;
    for (; n < KEYS_SHOWN && next_shown(&s) && s.key.at && used + s.key.len + 24 < room; n++)
        used += (size_t)snprintf(out + used, room - used, "%s%.*s", n ? ", " : "", P(s.key));
    if (size > n && used + 24 < room)
        (void)snprintf(out + used, room - used, " and %llu more", (unsigned long long)(size - n));
}

/* How a key that the dict has differs from the one that the program asks for. */
enum slip {
    SLIP_NONE,
    SLIP_CASE,
    SLIP_BLANKS,
    SLIP_MARK,   /* a byte order mark */
    SLIP_KIND,   /* 1 and '1' */
    SLIP_HEADER, /* the whole header of a table is one key */
    SLIP_NEAR,
    SLIP_NESTED,
};

static bool same_letters(struct piece a, struct piece b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        char x = piece_byte(a, i), y = piece_byte(b, i);
        x = x >= 'A' && x <= 'Z' ? (char)(x + 32) : x;
        y = y >= 'A' && y <= 'Z' ? (char)(y + 32) : y;
        if (x != y)
            return false;
    }
    return true;
}

static bool is_near(struct piece a, struct piece b)
{
    struct similar s = { .name = a };
    similar_try(&s, b);
    return s.best[0] != '\0';
}

static enum slip slip_of(const struct advice *a, struct piece wanted, bool number,
                         const struct shown_items *s)
{
    struct piece key;
    struct match m;
    if (!shown_text(s->key, &key))
        return !number && piece_same(s->key, wanted) ? SLIP_KIND : SLIP_NONE;
    if (number)
        return piece_same(key, wanted) ? SLIP_KIND : SLIP_NONE;
    if (same_letters(key, wanted))
        return SLIP_CASE;
    if (starts_with(key, "\xef\xbb\xbf") && piece_same(piece_skip(key, 3), wanted))
        return SLIP_MARK;
    if (key.len != wanted.len && same_letters(piece_trim(key), piece_trim(wanted)))
        return SLIP_BLANKS;
    if (has_word(key, wanted) && match(a->g, "[;|,\\t]|\\\\t", key, &m))
        return SLIP_HEADER;
    return is_near(wanted, key) ? SLIP_NEAR : SLIP_NONE;
}

/* The line with the reader of a table, "csv.DictReader(". */
static uint32_t reader_line(const struct advice *a, struct piece *ret_call)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++)
        if ((piece_has(line, "eader(") || piece_has(line, "read_csv(")) &&
            match(a->g, "\\b((?:csv\\.)?(?:DictReader|reader)|read_csv)\\(", line, &m)) {
            *ret_call = m.group[0];
            return i;
        }
    return 0;
}

/* Offers the line with another key in place of the one in the brackets. */
static void offer_key(const struct advice *a, struct piece container, struct piece wanted,
                      struct piece key)
{
    char old[240], now[240];
    for (const char *q = "\"'"; *q; q++) {
        (void)snprintf(old, sizeof old, "%.*s[%c%.*s%c]", P(container), *q, P(wanted), *q);
        (void)snprintf(now, sizeof now, "%.*s[%c%.*s%c]", P(container), *q, P(key), *q);
        if (suggest_swap(a->in, a->d, piece_of(old), now))
            return;
    }
}

static void say_slip(const struct advice *a, struct piece container, struct piece wanted,
                     enum slip slip, const struct shown_items *s)
{
    struct piece key = NO_PIECE, call = NO_PIECE;
    uint32_t reader = reader_line(a, &call);
    bool text = shown_text(s->key, &key);
    struct match m;
    char at[64] = "";
    if (reader)
        (void)snprintf(at, sizeof at, " in line %u", reader);
    if (slip == SLIP_HEADER && reader) {
        struct piece mark = match(a->g, "[;|,]", key, &m) ? m.all : PIECE("\\t");
        suggest(a->d, 8, 0.95,
                "'%.*s' has one key, '%.*s', the whole header: another delimiter separates the "
                "columns. Write %.*s(..., delimiter=\"%.*s\")%s.",
                P(container), P(py_short(key, 120)), P(call), P(mark), at);
    } else if (slip == SLIP_MARK) {
        suggest(a->d, 8, 0.95,
                "The key is '\\ufeff%.*s': a byte order mark stands before it. Open the file with "
                "encoding=\"utf-8-sig\", which removes the mark.",
                P(wanted));
    } else if (slip == SLIP_BLANKS) {
        suggest(a->d, 8, 0.95,
                "The key is '%.*s', with blanks around it: remove them with strip()%s%s.", P(key),
                reader ? ", or with skipinitialspace=True" : "", at);
        offer_key(a, container, wanted, key);
    } else if (slip == SLIP_KIND) {
        suggest(a->d, 8, 0.95,
                text ? "The keys of '%.*s' are texts, such as '%.*s', and the program asks for "
                       "the number: write str(...) around the key%s."
                     : "The keys of '%.*s' are numbers, such as %.*s, and the program asks for "
                       "text: write int(...) around the key%s.",
                P(container), P(text ? key : s->key),
                text && piece_has(text_of_source(a->file), "json")
                    ? " (JSON makes texts of all keys)"
                    : "");
    } else {
        suggest(a->d, 8, slip == SLIP_CASE ? 0.95 : 0.92,
                "Did you mean '%.*s'? '%.*s' has that key%s.", P(key), P(container),
                slip == SLIP_CASE ? "; capital letters count" : "");
        offer_key(a, container, wanted, key);
    }
}

/* An inner dict that has the key. */
static bool is_nested(const struct advice *a, struct piece container, struct piece wanted,
                      bool number, const struct shown_items *outer)
{
    struct shown_items s = { .rest = outer->item };
    struct piece key;
    bool list = starts_with(outer->item, "[");
    if (list && (!next_shown(&s) || !starts_with(s.item, "{")))
        return false;
    if (list)
        s = (struct shown_items){ .rest = s.item };
    if (!starts_with(s.rest, "{"))
        return false;
    while (next_shown(&s)) {
        bool text = shown_text(s.key, &key);
        if (!piece_same(text ? key : s.key, wanted) || text == number)
            continue;
        suggest(a->d, 8, 0.94,
                list ? "The key is one level deeper, in the items of a list: "
                       "%.*s[%.*s][0][%s%.*s%s], or "
                       "loop over %.*s[%.*s]."
                     : "The key is one level deeper: %.*s[%.*s][%s%.*s%s].",
                P(container), P(outer->key), number ? "" : "'", P(wanted), number ? "" : "'",
                P(container), P(outer->key));
        return true;
    }
    return false;
}

/* A number is asked for as if a dict had positions. */
static bool is_position(const struct advice *a, struct piece container, struct piece wanted,
                        struct piece shown)
{
    struct shown_items s = { .rest = shown };
    struct piece key;
    bool counts = piece_number(wanted) > 0 || piece_is(wanted, "0");
    if (!counts || !next_shown(&s) || !shown_text(s.key, &key))
        return false;
    suggest(a->d, 8, 0.92,
            "A dict has no positions, and the keys of '%.*s' are texts, such as '%.*s': "
            "list(%.*s.values())[%.*s] takes an item by its position.",
            P(container), P(key), P(container), P(wanted));
    return true;
}

static bool is_number(const struct advice *a)
{
    return !starts_with(a->message, "'") && !starts_with(a->message, "\"");
}

bool py_key_by_values(const struct advice *a, struct piece wanted)
{
    struct piece container = py_container(a), shown = py_shown(a, container);
    struct shown_items s = { .rest = shown }, best_item = { 0 };
    enum slip best = SLIP_NONE;
    bool number = is_number(a);
    if (!starts_with(shown, "{") || starts_with(a->message, "("))
        return false;
    while (next_shown(&s) && s.key.at) {
        enum slip slip = slip_of(a, wanted, number, &s);
        if (slip != SLIP_NONE && (best == SLIP_NONE || slip < best)) {
            best = slip;
            best_item = s;
        }
    }
    if (best != SLIP_NONE && (best != SLIP_HEADER || reader_line(a, &(struct piece){ 0 }))) {
        say_slip(a, container, wanted, best, &best_item);
        return true;
    }
    for (s = (struct shown_items){ .rest = shown }; next_shown(&s) && s.key.at;)
        if (is_nested(a, container, wanted, number, &s))
            return true;
    return number && is_position(a, container, wanted, shown);
}

/* Without values: a header in the source has the key among others, with another delimiter. */
bool py_key_of_header(const struct advice *a, struct piece wanted)
{
    struct piece rest = text_of_source(a->file), line, call;
    struct match m;
    uint32_t reader = reader_line(a, &call);
    struct piece call_line = source_line(a->file, reader);
    if (!reader || piece_has(call_line, "delimiter") || piece_has(call_line, "sep=") ||
        piece_has(call_line, "dialect"))
        return false;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++) {
        if (i == a->d->location.line || !has_word(line, wanted) ||
            !match(a->g, "(?:^|[\"'])([\\w -]+([;|]|\\\\t|\\t)(?:[\\w -]+(?:\\2)?)+)", line, &m) ||
            !has_word(m.group[0], wanted))
            continue;
        bool tab = piece_byte(m.group[1], 0) == '\t';
        suggest(
            a->d, 8, 0.94,
            "The header in line %u has another delimiter: write %.*s(..., %s=\"%.*s\") in line %u. "
            "Without it the whole header is one key.",
            i, P(call), piece_is(call, "read_csv") ? "sep" : "delimiter",
            P(tab ? PIECE("\\t") : m.group[1]), reader);
        return true;
    }
    return false;
}

bool py_key_elsewhere(const struct advice *a, struct piece key)
{
    struct piece rest = text_of_source(a->file), line;
    struct match m;
    for (uint32_t i = 1; i < LINES_SEEN && next_line(&rest, &line); i++)
        while (i != a->d->location.line && line.len > 0 &&
               match(a->g, "[\"']([^\"']+)[\"']\\s*(?::|\\]\\s*=[^=])", line, &m)) {
            if (piece_same(m.group[0], key))
                return true;
            line = piece_after(line, m.all);
        }
    return false;
}

bool py_say_keys(const struct advice *a, struct piece wanted)
{
    struct piece container = py_container(a);
    const struct value *v = value_of(a->d, container);
    char keys[200] = "";
    bool number = is_number(a);
    if (!v || !v->sized || !starts_with(value_shown(v), "{") || starts_with(a->message, "("))
        return false;
    list_keys(value_shown(v), v->size, keys, sizeof keys);
    if (keys[0])
        suggest(a->d, 8, 0.88,
                "'%.*s' has the key%s %s here, and not %s%.*s%s: test it first with `in`, or give "
                "a default, %.*s.get(key, default).",
                P(container), v->size == 1 ? "" : "s", keys, number ? "" : "'", P(wanted),
                number ? "" : "'", P(container));
    return keys[0];
}

/* ---- positions ---- */

/* The one item of a list is a line of a table, with another delimiter. */
static bool is_one_cell(const struct advice *a, struct piece container, struct piece shown)
{
    struct shown_items s = { .rest = shown };
    struct piece text, call, value;
    struct match m, by;
    uint32_t number, reader = reader_line(a, &call);
    if (!next_shown(&s) || !shown_text(s.item, &text) || !match(a->g, "([;|,:]|\\t| )", text, &m))
        return false;
    if (py_assigned(a, container, &value, &number) &&
        match(a->g, "\\.split\\(([^()]*)\\)", value, &by)) {
        suggest(
            a->d, 9, 0.94,
            "'%.*s' has one item, '%.*s': the text has no %.*s, by which line %u splits it. Check "
            "the separator, or test len(%.*s) first.",
            P(container), P(py_short(text, 60)), P(by.group[0].len ? by.group[0] : PIECE("blank")),
            number, P(container));
        return true;
    }
    if (!reader || piece_is(m.all, " "))
        return false;
    suggest(a->d, 9, 0.95,
            "'%.*s' has one item, '%.*s', the whole line: another delimiter separates the cells. "
            "Write %.*s(..., delimiter=\"%.*s\") in line %u.",
            P(container), P(py_short(text, 60)), P(call), P(m.all), reader);
    return true;
}

bool py_index_by_values(const struct advice *a)
{
    struct piece container = py_container(a);
    const struct value *v = value_of(a->d, container);
    struct piece shown = value_shown(v), index = NO_PIECE, behind;
    struct match m;
    if (!v || !v->sized || v->n_shape > 0)
        return false;
    behind = piece_skip(a->line, piece_find(a->line, v->name) + container.len);
    size_t column = a->d->location.column;
    if (column > 1 && piece_at(a->line, column) == '[')
        behind = piece_from(a->line, column);
    if (match(a->g, "^\\[([^\\[\\]]+)\\]", behind, &m))
        index = m.group[0];
    const struct value *at = value_of(a->d, index);
    char is[64] = "";
    if (value_is(at, "int"))
        (void)snprintf(is, sizeof is, ", and %.*s is %.20s", P(piece_cut(index, 30)), at->preview);
    if (v->size == 1 && is_one_cell(a, container, shown))
        return true;
    if (v->size == 0)
        suggest(a->d, 9, 0.92,
                "'%.*s' is empty here, so it has no position %.*s: test it first (`if %.*s:`), or "
                "check the line that fills it.",
                P(container), P(index), P(container));
    else if (v->size == 1)
        suggest(a->d, 9, 0.92,
                "'%.*s' has 1 item here, at position 0%s: check the position, or test len(%.*s) "
                "first.",
                P(container), is, P(container));
    else
        suggest(a->d, 9, 0.92,
                "'%.*s' has %llu items here, at the positions 0 to %llu%s: check the position, or "
                "test len(%.*s) first.",
                P(container), (unsigned long long)v->size, (unsigned long long)(v->size - 1), is,
                P(container));
    return true;
}
