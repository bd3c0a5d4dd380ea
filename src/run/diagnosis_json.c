#include "run/diagnosis_json.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "run/json.h"

/* The output of a program may not be UTF-8. */
static json_t *text_json(const char *text)
{
    struct buf b = { 0 };
    struct err e;
    json_t *s = json_string(text);
    if (!s && text_add_utf8(&b, text, strlen(text), &e) == 0)
        s = json_stringn(buf_str(&b), b.len);
    buf_done(&b);
    return s ? s : json_string("");
}

static json_t *text_or_null(const char *text)
{
    return text[0] ? text_json(text) : json_null();
}

static json_t *number_or_null(uint32_t n)
{
    return n ? json_integer((json_int_t)n) : json_null();
}

static json_t *place_json(const struct place_in_code *p)
{
    if (!p->file[0] && p->line == 0)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o}", "file", text_or_null(p->file), "line",
                     number_or_null(p->line), "column", number_or_null(p->column), "end_column",
                     number_or_null(p->end_column));
}

static json_t *excerpt_json(const struct diagnosis *d)
{
    json_t *list = json_array();
    for (size_t i = 0; i < d->n_excerpt; i++) {
        const struct excerpt_line *x = &d->excerpt[i];
        json_t *o = json_pack("{s:I, s:o}", "line", (json_int_t)x->line, "text",
                              text_json(x->text));
        if (x->caret)
            json_put(o, "caret",
                     json_pack("[I, I]", (json_int_t)x->caret, (json_int_t)x->caret_end));
        (void)json_array_append_new(list, o);
    }
    return list;
}

static json_t *frames_json(const struct diagnosis *d)
{
    json_t *list = json_array();
    for (size_t i = 0; i < d->n_frames; i++) {
        const struct frame *f = &d->frames[i];
        (void)json_array_append_new(
            list, json_pack("{s:o, s:o, s:o, s:o, s:b}", "file", text_or_null(f->at.file), "line",
                            number_or_null(f->at.line), "column", number_or_null(f->at.column),
                            "function", text_or_null(f->function), "user", f->user));
    }
    return list;
}

static json_t *causes_json(const struct diagnosis *d)
{
    json_t *list = json_array();
    for (size_t i = 0; i < d->n_causes; i++) {
        const struct cause *c = &d->causes[i];
        (void)json_array_append_new(
            list, json_pack("{s:o, s:o, s:o}", "type", text_or_null(c->type), "message",
                            text_json(c->message), "location", place_json(&c->at)));
    }
    return list;
}

static json_t *further_json(const struct diagnosis *d)
{
    json_t *list = json_array();
    for (size_t i = 0; i < d->n_further; i++) {
        const struct further_error *f = &d->further[i];
        (void)json_array_append_new(
            list, json_pack("{s:o, s:o, s:o}", "type", text_or_null(f->type), "message",
                            text_json(f->message), "location", place_json(&f->at)));
    }
    return json_pack("{s:o, s:I}", "errors", list, "left_out", (json_int_t)d->further_left_out);
}

static json_t *suggestions_json(const struct diagnosis *d)
{
    json_t *list = json_array();
    for (size_t i = 0; i < d->n_suggestions; i++) {
        const struct suggestion *s = &d->suggestions[i];
        json_t *o = json_pack("{s:o, s:f}", "text", text_json(s->text), "confidence",
                              s->confidence);
        if (s->replacement[0]) {
            json_put(o, "replacement", text_json(s->replacement));
            json_put(o, "action",
                     json_string(suggestion_corrects_line(d, s) ? "replace" : "insert"));
        }
        (void)json_array_append_new(list, o);
    }
    return list;
}

static json_t *value_json(const struct value *v)
{
    json_t *shape = v->n_shape > 0 ? json_array() : json_null();
    for (size_t i = 0; i < v->n_shape; i++)
        (void)json_array_append_new(shape, json_integer((json_int_t)v->shape[i]));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b}", "name", text_json(v->name), "type",
                     text_or_null(v->type), "size",
                     v->sized ? json_integer((json_int_t)v->size) : json_null(), "shape", shape,
                     "dtype", text_or_null(v->dtype), "preview", text_or_null(v->preview), "masked",
                     v->masked, "cut", v->cut);
}

static bool is_same_frame(const struct value *a, const struct value *b)
{
    return a->at.line == b->at.line && strcmp(a->at.file, b->at.file) == 0 &&
           strcmp(a->function, b->function) == 0;
}

/* {trusted, frames: [{file, line, function, variables}]}: the failing line first, then its caller. */
static json_t *values_json(const struct diagnosis *d)
{
    json_t *frames = json_array(), *variables = NULL;
    if (d->n_values == 0) {
        json_decref(frames);
        return json_null();
    }
    for (size_t i = 0; i < d->n_values; i++) {
        const struct value *v = &d->values[i];
        if (i == 0 || !is_same_frame(v, v - 1)) {
            variables = json_array();
            (void)json_array_append_new(
                frames, json_pack("{s:o, s:o, s:o, s:o}", "file", text_or_null(v->at.file), "line",
                                  number_or_null(v->at.line), "function", text_or_null(v->function),
                                  "variables", variables));
        }
        (void)json_array_append_new(variables, value_json(v));
    }
    return json_pack("{s:b, s:o}", "trusted", false, "frames", frames);
}

json_t *diagnosis_json(const struct diagnosis *d)
{
    json_t *o = json_object();
    json_put(o, "language", text_or_null(d->language));
    json_put(o, "category", json_string(category_word(d->category)));
    json_put(o, "type", text_or_null(d->type));
    json_put(o, "message", text_json(d->message));
    json_put(o, "location", place_json(&d->location));
    json_put(o, "excerpt", excerpt_json(d));
    json_put(o, "frames", frames_json(d));
    json_put(o, "causes", causes_json(d));
    json_put(o, "further_errors", further_json(d));
    json_put(o, "suggestions", suggestions_json(d));
    json_put(o, "values", values_json(d));
    json_put(o, "docs", text_or_null(d->docs));
    json_put(o, "sandbox", json_boolean(d->sandbox));
    json_put(o, "verdict", json_string(verdict_word(d->verdict)));
    return o;
}

/* ---- from JSON ---- */

static void take_text(const json_t *o, const char *key, char *out, size_t size)
{
    const char *text = json_string_value(json_object_get(o, key));
    if (text)
        (void)snprintf(out, size, "%s", text);
}
#define TAKE_TEXT(o, key, array) take_text((o), (key), (array), sizeof(array))

static uint32_t take_number(const json_t *n)
{
    json_int_t v = json_integer_value(n);
    return v > 0 && v < 1 << 30 ? (uint32_t)v : 0;
}

static void take_place(const json_t *o, struct place_in_code *p)
{
    TAKE_TEXT(o, "file", p->file);
    p->line = take_number(json_object_get(o, "line"));
    p->column = take_number(json_object_get(o, "column"));
    p->end_column = take_number(json_object_get(o, "end_column"));
}

static void take_further(const json_t *o, struct diagnosis *d)
{
    size_t i;
    const json_t *row;
    json_array_foreach(json_object_get(o, "errors"), i, row)
        if (d->n_further < DIAGNOSE_FURTHER) {
            struct further_error *f = &d->further[d->n_further++];
            TAKE_TEXT(row, "type", f->type);
            TAKE_TEXT(row, "message", f->message);
            take_place(json_object_get(row, "location"), &f->at);
        }
    d->further_left_out = take_number(json_object_get(o, "left_out"));
}

static void take_value(const json_t *o, struct value *v)
{
    size_t i;
    const json_t *n, *size = json_object_get(o, "size");
    TAKE_TEXT(o, "name", v->name);
    TAKE_TEXT(o, "type", v->type);
    TAKE_TEXT(o, "dtype", v->dtype);
    TAKE_TEXT(o, "preview", v->preview);
    v->sized = json_is_integer(size) && json_integer_value(size) >= 0;
    v->size = v->sized ? (uint64_t)json_integer_value(size) : 0;
    json_array_foreach(json_object_get(o, "shape"), i, n)
        if (v->n_shape < DIAGNOSE_SHAPE && json_integer_value(n) >= 0)
            v->shape[v->n_shape++] = (uint64_t)json_integer_value(n);
    v->masked = json_is_true(json_object_get(o, "masked"));
    v->cut = json_is_true(json_object_get(o, "cut"));
}

static void take_values(const json_t *o, struct diagnosis *d)
{
    size_t i, k;
    const json_t *frame, *row;
    json_array_foreach(json_object_get(o, "frames"), i, frame)
        json_array_foreach(json_object_get(frame, "variables"), k, row)
            if (d->n_values < DIAGNOSE_VALUES) {
                struct value *v = &d->values[d->n_values++];
                take_place(frame, &v->at);
                TAKE_TEXT(frame, "function", v->function);
                take_value(row, v);
            }
}

bool diagnosis_from_json(const json_t *json, struct diagnosis *d)
{
    size_t i;
    const json_t *row;
    if (!json_is_object(json))
        return false;
    *d = (struct diagnosis){ 0 };
    TAKE_TEXT(json, "type", d->type);
    TAKE_TEXT(json, "message", d->message);
    TAKE_TEXT(json, "docs", d->docs);
    take_place(json_object_get(json, "location"), &d->location);
    take_further(json_object_get(json, "further_errors"), d);
    take_values(json_object_get(json, "values"), d);
    json_array_foreach(json_object_get(json, "excerpt"), i, row)
        if (d->n_excerpt < DIAGNOSE_EXCERPT) {
            struct excerpt_line *x = &d->excerpt[d->n_excerpt++];
            const json_t *caret = json_object_get(row, "caret");
            x->line = take_number(json_object_get(row, "line"));
            TAKE_TEXT(row, "text", x->text);
            x->caret = take_number(json_array_get(caret, 0));
            x->caret_end = take_number(json_array_get(caret, 1));
            if (x->caret > sizeof x->text)
                x->caret = 0;
        }
    json_array_foreach(json_object_get(json, "frames"), i, row)
        if (d->n_frames < DIAGNOSE_FRAMES) {
            struct frame *f = &d->frames[d->n_frames++];
            take_place(row, &f->at);
            TAKE_TEXT(row, "function", f->function);
            f->user = json_is_true(json_object_get(row, "user"));
        }
    json_array_foreach(json_object_get(json, "causes"), i, row)
        if (d->n_causes < DIAGNOSE_CAUSES) {
            struct cause *c = &d->causes[d->n_causes++];
            TAKE_TEXT(row, "type", c->type);
            TAKE_TEXT(row, "message", c->message);
            take_place(json_object_get(row, "location"), &c->at);
        }
    json_array_foreach(json_object_get(json, "suggestions"), i, row)
        if (d->n_suggestions < DIAGNOSE_SUGGESTIONS) {
            struct suggestion *s = &d->suggestions[d->n_suggestions++];
            TAKE_TEXT(row, "text", s->text);
            TAKE_TEXT(row, "replacement", s->replacement);
        }
    return true;
}
