#include "session/events.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"

enum { MIME_MAX = 200, MIMES_MAX = 64 };

/* ---- values ---- */

/* Text of a guest, repaired. */
static json_t *text_json(const char *bytes, size_t n)
{
    scoped(buf) b = { 0 };
    struct err e;
    if (text_is_utf8(bytes, n))
        return json_stringn_nocheck(bytes, n);
    return text_add_utf8(&b, bytes, n, &e) ? NULL : json_stringn_nocheck(buf_str(&b), b.len);
}

static json_t *field_text(const struct buf *data, enum frame_tag tag)
{
    struct frame_field f;
    return frame_find_field(data, tag, &f) ? text_json(f.bytes, f.n) : json_string("");
}

static bool has_field(const struct buf *data, enum frame_tag tag)
{
    struct frame_field f;
    return frame_find_field(data, tag, &f);
}

json_t *guest_json(const char *bytes, size_t n, size_t *room)
{
    size_t values = 1; /* at most: a comma may be part of a string */
    for (size_t i = 0; i < n; i++)
        values += bytes[i] == ',' || bytes[i] == '[' || bytes[i] == '{';
    if (values > *room)
        return NULL;
    *room -= values;
    return json_loadb(bytes, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

/* The data of a message on its way into an event. */
struct source {
    const struct buf *data;
    size_t *room; /* for values of JSON */
};

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcasecmp(text + n - m, end) == 0;
}

static bool is_json_type(const char *mime)
{
    return strcasecmp(mime, "application/json") == 0 || ends_with(mime, "+json");
}

static bool is_text_type(const char *mime)
{
    static const char *const types[] = { "application/javascript", "application/xml",
                                         "application/x-latex", "application/sql" };
    if (strncasecmp(mime, "text/", 5) == 0 || ends_with(mime, "+xml") || is_json_type(mime))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (strcasecmp(mime, types[i]) == 0)
            return true;
    return false;
}

/* "image/png" and the like: printable ASCII. */
static bool take_mime(const struct frame_field *f, char out[MIME_MAX + 1])
{
    if (f->n == 0 || f->n > MIME_MAX)
        return false;
    for (size_t i = 0; i < f->n; i++)
        if (f->bytes[i] <= ' ' || f->bytes[i] > '~')
            return false;
    memcpy(out, f->bytes, f->n);
    out[f->n] = '\0';
    return strchr(out, '/') != NULL;
}

/* Bytes are base64, as in Jupyter. */
static json_t *data_json(const char *mime, const struct frame_field *f, size_t *room)
{
    scoped(buf) b = { 0 };
    struct err e;
    json_t *parsed = is_json_type(mime) ? guest_json(f->bytes, f->n, room) : NULL;
    if (parsed)
        return parsed;
    if (is_text_type(mime))
        return text_json(f->bytes, f->n);
    return text_add_base64(&b, f->bytes, f->n, &e) ? NULL
                                                   : json_stringn_nocheck(buf_str(&b), b.len);
}

/* The pairs of MIME and DATA. */
static json_t *bundle_json(const struct source *m)
{
    json_t *o = json_object();
    struct frame_field f;
    char mime[MIME_MAX + 1] = "";
    size_t at = 0;
    while (frame_next_field(buf_str(m->data), m->data->len, &at, &f) > 0) {
        if (f.tag == TAG_MIME && !take_mime(&f, mime))
            mime[0] = '\0';
        if (f.tag != TAG_DATA || mime[0] == '\0' || json_object_size(o) >= MIMES_MAX)
            continue;
        json_put(o, mime, data_json(mime, &f, m->room));
        mime[0] = '\0';
    }
    return o;
}

/* ---- events ---- */

static void put_display(json_t *o, const struct source *m)
{
    struct frame_field f;
    json_put(o, "data", bundle_json(m));
    if (frame_find_field(m->data, TAG_DISPLAY_ID, &f) && f.n > 0)
        json_put(o, "display_id", text_json(f.bytes, f.n));
    json_t *metadata = frame_find_field(m->data, TAG_METADATA, &f)
                           ? guest_json(f.bytes, f.n, m->room)
                           : NULL;
    if (json_is_object(metadata) && json_object_size(metadata) > 0)
        json_put(o, "metadata", json_incref(metadata));
    json_decref(metadata);
    if (!frame_find_field(m->data, TAG_CUT, &f))
        return;
    json_put(o, "cut", json_true());
    if (f.n > 0)
        json_put(o, "left_out", text_json(f.bytes, f.n));
}

static void put_cut(json_t *o, const struct source *m)
{
    json_t *bundle = json_object();
    json_put(bundle, "text/plain", field_text(m->data, TAG_TEXT));
    json_put(o, "data", bundle);
    json_put(o, "cut", json_true());
}

static void put_clear(json_t *o, const struct source *m)
{
    json_put(o, "wait", json_boolean(has_field(m->data, TAG_WAIT)));
}

static void put_result(json_t *o, const struct source *m)
{
    json_put(o, "execution_count", json_integer(frame_number(m->data, TAG_COUNT)));
    put_display(o, m);
}

static void put_error(json_t *o, const struct source *m)
{
    json_put(o, "name", field_text(m->data, TAG_NAME));
    json_put(o, "message", field_text(m->data, TAG_MESSAGE));
    json_put(o, "traceback", field_text(m->data, TAG_TRACEBACK));
}

static void put_input_request(json_t *o, const struct source *m)
{
    json_put(o, "prompt", field_text(m->data, TAG_TEXT));
    json_put(o, "password", json_boolean(has_field(m->data, TAG_PASSWORD)));
}

static void put_note(json_t *o, const struct source *m)
{
    json_put(o, "text", field_text(m->data, TAG_TEXT));
}

static const struct event_row {
    uint16_t type;
    const char *name;
    void (*put)(json_t *o, const struct source *m);
} rows[] = {
    { FRAME_DISPLAY, "display", put_display },
    { FRAME_UPDATE, "update_display", put_display },
    { FRAME_CLEAR, "clear", put_clear },
    { FRAME_RESULT, "result", put_result },
    { FRAME_ERROR, "error", put_error },
    { FRAME_INPUT_REQUEST, "input_request", put_input_request },
    { FRAME_NOTE, "note", put_note },
    { FRAME_CUT, "display", put_cut },
};

static const struct event_row *row_of(uint16_t type)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].type == type)
            return &rows[i];
    return NULL;
}

const char *event_name(uint16_t type)
{
    const struct event_row *row = row_of(type);
    return row ? row->name : NULL;
}

static json_t *event_within(const struct frame_message *m, size_t *room)
{
    const struct event_row *row = row_of(m->type);
    json_t *o = row ? json_pack("{s:s}", "event", row->name) : NULL;
    if (o)
        row->put(o, &(struct source){ &m->data, room });
    return o;
}

json_t *event_json(const struct frame_message *m)
{
    size_t room = GUEST_VALUES_MAX;
    return event_within(m, &room);
}

void event_reader_done(struct event_reader *r)
{
    frame_message_done(&r->message);
}

/* The keeper drops frames beyond its bounds, so a message may end without its last frame. */
static bool reader_add(struct event_reader *r, const struct buf *record)
{
    struct session_frame f;
    struct err e;
    bool whole = false;
    if (frame_read(buf_str(record), record->len, &f, &e))
        return false;
    if (r->message.open && (r->message.type != f.type || r->message.request != f.request))
        r->message.open = false;
    if (frame_message_add(&r->message, &f, &whole, &e)) {
        r->message.open = false;
        return false;
    }
    return whole;
}

json_t *event_reader_next(struct event_reader *r, const struct buf *record)
{
    return reader_add(r, record) ? event_json(&r->message) : NULL;
}

/* ---- the answer of a cell ---- */

struct outputs {
    json_t *displays, *notes, *result, *error;
    json_int_t count;
    size_t *room; /* for values of JSON */
    bool clear;   /* before the next display */
};

/* Replaces the displays with this id. */
static void update_displays(struct outputs *out, json_t *event)
{
    const char *id = json_find_text(event, "display_id");
    size_t i;
    json_t *display;
    json_array_foreach(out->displays, i, display) {
        const char *other = json_find_text(display, "display_id");
        if (id && other && strcmp(id, other) == 0)
            (void)json_array_set(out->displays, i, event);
    }
}

static void take_display(struct outputs *out, json_t *event)
{
    if (out->clear)
        (void)json_array_clear(out->displays);
    out->clear = false;
    (void)json_array_append(out->displays, event);
}

/* The answer has the bare bundle of a result, so a note names the parts that are missing. */
static void take_result(struct outputs *out, const json_t *event)
{
    const char *left_out = json_find_text(event, "left_out");
    json_decref(out->result);
    out->result = json_incref(json_object_get(event, "data"));
    if (left_out)
        (void)json_array_append_new(out->notes, json_sprintf("the result was cut: %s", left_out));
}

static void take_event(struct outputs *out, uint16_t type, json_t *event)
{
    (void)json_object_del(event, "event");
    if (type == FRAME_DISPLAY || type == FRAME_CUT) {
        take_display(out, event);
    } else if (type == FRAME_UPDATE) {
        update_displays(out, event);
    } else if (type == FRAME_CLEAR) {
        out->clear = true;
        if (!json_is_true(json_object_get(event, "wait")))
            (void)json_array_clear(out->displays);
    } else if (type == FRAME_RESULT) {
        take_result(out, event);
    } else if (type == FRAME_ERROR) {
        json_decref(out->error);
        out->error = json_incref(event);
    } else if (type == FRAME_NOTE) {
        (void)json_array_append(out->notes, json_object_get(event, "text"));
    }
}

static void take_record(struct outputs *out, struct event_reader *reader, const struct buf *record)
{
    if (!reader_add(reader, record))
        return;
    if (reader->message.type == FRAME_DONE || reader->message.type == FRAME_RESULT)
        out->count = frame_number(&reader->message.data, TAG_COUNT);
    json_t *event = event_within(&reader->message, out->room);
    if (event)
        take_event(out, reader->message.type, event);
    json_decref(event);
}

void event_add_outputs(json_t *answer, const struct journal *j, size_t *room)
{
    struct outputs out = { .displays = json_array(), .notes = json_array(), .room = room };
    scoped(event_reader) reader = { 0 };
    struct journal_reader at = { 0 };
    struct journal_record r = { 0 };
    struct err e;
    bool more = true;
    while (journal_next(j, &at, &r, &more, &e) == 0 && more)
        if (r.kind == JOURNAL_FRAME)
            take_record(&out, &reader, &r.bytes);
    buf_done(&r.bytes);
    json_t *notes = json_object_get(answer, "notes");
    if (notes) { /* those of the keeper come last */
        (void)json_array_extend(out.notes, notes);
    }
    json_put(answer, "result", out.result ? out.result : json_null());
    json_put(answer, "execution_count", out.count ? json_integer(out.count) : json_null());
    json_put(answer, "displays", out.displays);
    json_put(answer, "error", out.error ? out.error : json_null());
    json_put(answer, "notes", out.notes);
}
