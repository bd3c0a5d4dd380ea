/* The values of variables at an error, by the program's own word (spec/job.h). After a line "Values"
 * each line is a frame or a variable of the frame before it, with tabs between its fields:
 *
 *     F line function file
 *     V name type size shape dtype flags preview
 *
 * The guest may have written it instead: it is bounded, and nothing depends on it. Runs in: reader. */
#include <string.h>

#include "base/array.h"
#include "base/secret_name.h"
#include "base/text.h"
#include "diagnose/core/grammar.h"

enum { LINES_MAX = 256, FIELDS = 8 };
enum { V_NAME = 1, V_TYPE, V_SIZE, V_SHAPE, V_DTYPE, V_FLAGS, V_PREVIEW };
enum { F_LINE = 1, F_FUNCTION, F_FILE };

/* The last field has the rest of the line. Returns their number. */
static size_t split(struct piece line, struct piece fields[FIELDS])
{
    size_t n = 0;
    while (n < FIELDS - 1) {
        size_t tab = piece_find(line, "\t");
        if (tab == line.len)
            break;
        fields[n++] = piece_cut(line, tab);
        line = piece_skip(line, tab + 1);
    }
    fields[n++] = line;
    return n;
}

/* False: it is no number. */
static bool read_size(struct piece p, uint64_t *ret)
{
    *ret = 0;
    if (p.len == 0 || p.len > 18)
        return false;
    for (size_t i = 0; i < p.len; i++) {
        char c = piece_byte(p, i);
        if (c < '0' || c > '9')
            return false;
        *ret = *ret * 10 + (uint64_t)(c - '0');
    }
    return true;
}

static void read_shape(struct piece p, struct value *v)
{
    while (p.len > 0 && v->n_shape < DIAGNOSE_SHAPE) {
        size_t blank = piece_find(p, " ");
        if (!read_size(piece_cut(p, blank), &v->shape[v->n_shape])) {
            v->n_shape = 0;
            return;
        }
        v->n_shape++;
        p = piece_skip(p, blank + 1);
    }
}

/* Names in a bound, which may have cut a character. */
static void take(struct piece p, char *out, size_t size)
{
    copy_piece(p, out, size);
    text_end_whole(out);
}
#define TAKE(piece, array) take((piece), (array), sizeof(array))

/* A line that the diagnosis names: the error is the one that the program told about. */
static bool is_named(const struct diagnosis *d, const struct place_in_code *at)
{
    if (d->location.line == at->line && strcmp(d->location.file, at->file) == 0)
        return true;
    for (size_t i = 0; i < d->n_frames; i++)
        if (d->frames[i].at.line == at->line && strcmp(d->frames[i].at.file, at->file) == 0)
            return true;
    return false;
}

static void read_frame(const struct diagnose_input *in, const struct diagnosis *d,
                       const struct piece fields[FIELDS], struct value *ret_frame)
{
    *ret_frame = (struct value){ 0 };
    (void)set_place(in, &ret_frame->at, fields[F_FILE], fields[F_LINE], NO_PIECE);
    TAKE(fields[F_FUNCTION], ret_frame->function);
    if (!is_named(d, &ret_frame->at))
        ret_frame->at.line = 0;
}

static void read_variable(const struct piece fields[FIELDS], const struct value *frame,
                          struct diagnosis *d)
{
    if (frame->at.line == 0 || d->n_values == DIAGNOSE_VALUES || fields[V_NAME].len == 0)
        return;
    struct value *v = &d->values[d->n_values++];
    *v = *frame;
    TAKE(fields[V_NAME], v->name);
    TAKE(fields[V_TYPE], v->type);
    TAKE(fields[V_DTYPE], v->dtype);
    v->sized = read_size(fields[V_SIZE], &v->size);
    read_shape(fields[V_SHAPE], v);
    v->masked = piece_has(fields[V_FLAGS], "m") || secret_name(v->name, strlen(v->name));
    v->cut = piece_has(fields[V_FLAGS], "c") && !v->masked;
    if (!v->masked)
        TAKE(fields[V_PREVIEW], v->preview);
}

void values_read(const struct diagnose_input *in, struct diagnosis *d)
{
    struct piece rest = piece_in(in->whereabouts, in->whereabouts ? in->whereabouts_len : 0), line;
    struct value frame = { 0 };
    if (!next_line(&rest, &line) || !piece_is(line, "Values"))
        return;
    for (size_t i = 0; i < LINES_MAX && next_line(&rest, &line); i++) {
        struct piece fields[FIELDS] = { 0 };
        size_t n = split(line, fields);
        if (n == FIELDS && piece_is(fields[0], "V"))
            read_variable(fields, &frame, d);
        else if (n > F_FILE && piece_is(fields[0], "F"))
            read_frame(in, d, fields, &frame);
    }
}

/* ---- questions of the rules ---- */

const struct value *value_of(const struct diagnosis *d, struct piece name)
{
    for (size_t i = 0; i < d->n_values; i++)
        if (d->values[i].at.line == d->location.line && piece_is(name, d->values[i].name) &&
            strcmp(d->values[i].at.file, d->location.file) == 0)
            return &d->values[i];
    return NULL;
}

bool value_is(const struct value *v, const char *type)
{
    return v && strcmp(v->type, type) == 0;
}

struct piece value_shown(const struct value *v)
{
    return v && v->preview[0] ? piece_of(v->preview) : NO_PIECE;
}

/* The offset behind the item that begins the text: of the ',', the ':' of a key, or the bracket that
 * ends all items. text.len when the item does not end. */
static size_t shown_end(struct piece text)
{
    char quote = '\0';
    long depth = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = piece_byte(text, i);
        if (quote) {
            i += c == '\\';
            quote = c == quote ? '\0' : quote;
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (depth == 0 && strchr(",:])}", c)) {
            return i;
        } else {
            depth += strchr("[({", c) ? 1 : strchr("])}", c) ? -1 : 0;
        }
    }
    return text.len;
}

bool next_shown(struct shown_items *s)
{
    if (!s->begun) {
        s->begun = true;
        if (s->rest.len == 0 || !strchr("[({", piece_byte(s->rest, 0)))
            s->rest = NO_PIECE;
        s->rest = piece_skip(s->rest, 1);
    }
    s->key = s->item = NO_PIECE;
    for (;;) {
        size_t end = shown_end(s->rest);
        if (end == s->rest.len)
            return false;
        char c = piece_byte(s->rest, end);
        struct piece part = piece_trim(piece_cut(s->rest, end));
        s->rest = c == ',' || c == ':' ? piece_skip(s->rest, end + 1) : NO_PIECE;
        if (part.len == 0 || piece_is(part, "…"))
            return false;
        if (c != ':') {
            s->item = part;
            return true;
        }
        s->key = part;
    }
}

bool shown_text(struct piece shown, struct piece *ret)
{
    if (shown.len < 2 || piece_byte(shown, 0) != '\'' || piece_last(shown) != '\'' ||
        piece_has(shown, "\\"))
        return false;
    *ret = piece_part(shown, 1, shown.len - 2);
    return true;
}
