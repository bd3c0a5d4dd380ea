#include "examiner/answer.h"

#include <stdlib.h>
#include <string.h>

#include "base/pack.h"
#include "examiner/packed_json.h"
#include "run/check_json.h"
#include "run/reports.h"
#include "run/tests_json.h"

void answer_done(struct answer *a)
{
    free(a->diagnosis);
    json_decref(a->tables);
    json_decref(a->profile);
    json_decref(a->displays);
    json_decref(a->tests);
    json_decref(a->check);
    *a = (struct answer){ 0 };
}

/* ---- a diagnosis ----
 * One description of its fields serves both directions. */

struct codec {
    struct packer *out;  /* writing, or */
    struct unpacker *in; /* reading */
};

static void text(struct codec *c, char *field, size_t size)
{
    if (c->out) {
        pack_str(c->out, field);
        return;
    }
    const char *given = unpack_str(c->in);
    if (given && strlen(given) < size)
        memcpy(field, given, strlen(given) + 1);
    else
        c->in->failed = true;
}
#define TEXT(c, array) text((c), (array), sizeof(array))

static uint64_t number(struct codec *c, uint64_t value, uint64_t max)
{
    if (c->out) {
        pack_u64(c->out, value);
        return value;
    }
    uint64_t given = unpack_u64(c->in);
    if (given <= max)
        return given;
    c->in->failed = true;
    return 0;
}

static void small(struct codec *c, uint32_t *field, uint32_t max)
{
    *field = (uint32_t)number(c, *field, max);
}

static void count(struct codec *c, size_t *field, size_t max)
{
    *field = (size_t)number(c, *field, max);
}

static void flag(struct codec *c, bool *field)
{
    *field = number(c, *field, 1);
}

static void ratio(struct codec *c, double *field)
{
    uint64_t bits;
    double value;
    memcpy(&bits, field, sizeof bits);
    bits = number(c, bits, UINT64_MAX);
    memcpy(&value, &bits, sizeof value);
    if (c->in && !(value >= 0 && value <= 1))
        c->in->failed = true;
    *field = c->in && c->in->failed ? 0 : value;
}

static void place(struct codec *c, struct place_in_code *p)
{
    TEXT(c, p->file);
    small(c, &p->line, UINT32_MAX);
    small(c, &p->column, UINT32_MAX);
    small(c, &p->end_column, UINT32_MAX);
}

static void lists(struct codec *c, struct diagnosis *d)
{
    count(c, &d->n_frames, DIAGNOSE_FRAMES);
    for (size_t i = 0; i < d->n_frames; i++) {
        place(c, &d->frames[i].at);
        TEXT(c, d->frames[i].function);
        flag(c, &d->frames[i].user);
    }
    count(c, &d->n_causes, DIAGNOSE_CAUSES);
    for (size_t i = 0; i < d->n_causes; i++) {
        TEXT(c, d->causes[i].type);
        TEXT(c, d->causes[i].message);
        place(c, &d->causes[i].at);
    }
    count(c, &d->n_further, DIAGNOSE_FURTHER);
    for (size_t i = 0; i < d->n_further; i++) {
        TEXT(c, d->further[i].type);
        TEXT(c, d->further[i].message);
        place(c, &d->further[i].at);
    }
    count(c, &d->further_left_out, DIAGNOSE_TEXT_MAX);
    count(c, &d->n_excerpt, DIAGNOSE_EXCERPT);
    for (size_t i = 0; i < d->n_excerpt; i++) {
        small(c, &d->excerpt[i].line, UINT32_MAX);
        TEXT(c, d->excerpt[i].text);
        small(c, &d->excerpt[i].caret, UINT32_MAX);
        small(c, &d->excerpt[i].caret_end, UINT32_MAX);
    }
    count(c, &d->n_suggestions, DIAGNOSE_SUGGESTIONS);
    for (size_t i = 0; i < d->n_suggestions; i++) {
        TEXT(c, d->suggestions[i].text);
        TEXT(c, d->suggestions[i].replacement);
        ratio(c, &d->suggestions[i].confidence);
        small(c, &d->suggestions[i].rule, UINT32_MAX);
    }
}

static void values(struct codec *c, struct diagnosis *d)
{
    count(c, &d->n_values, DIAGNOSE_VALUES);
    for (size_t i = 0; i < d->n_values; i++) {
        struct value *v = &d->values[i];
        place(c, &v->at);
        TEXT(c, v->function);
        TEXT(c, v->name);
        TEXT(c, v->type);
        flag(c, &v->sized);
        v->size = number(c, v->size, UINT64_MAX);
        count(c, &v->n_shape, DIAGNOSE_SHAPE);
        for (size_t k = 0; k < v->n_shape; k++)
            v->shape[k] = number(c, v->shape[k], UINT64_MAX);
        TEXT(c, v->dtype);
        TEXT(c, v->preview);
        flag(c, &v->masked);
        flag(c, &v->cut);
    }
}

static void diagnosis(struct codec *c, struct diagnosis *d)
{
    TEXT(c, d->language);
    d->category = (enum category)number(c, (uint64_t)d->category, CATEGORY_COUNT_ - 1);
    TEXT(c, d->type);
    TEXT(c, d->message);
    place(c, &d->location);
    lists(c, d);
    values(c, d);
    TEXT(c, d->docs);
    flag(c, &d->sandbox);
    d->verdict = (enum verdict)number(c, (uint64_t)d->verdict, VERDICT_COUNT_ - 1);
}

/* A caret outside of its line would be drawn past the end of the text. */
static void carets_check(struct diagnosis *d)
{
    for (size_t i = 0; i < d->n_excerpt; i++) {
        struct excerpt_line *x = &d->excerpt[i];
        if (x->caret > sizeof x->text || x->caret_end > sizeof x->text)
            x->caret = x->caret_end = 0;
    }
}

/* ---- the whole ---- */

enum {
    HAS_DIAGNOSIS = 1,
    HAS_TABLES = 2,
    HAS_PROFILE = 4,
    HAS_DISPLAYS = 8,
    HAS_TESTS = 16,
    HAS_CHECK = 32,
    HAS_ALL = 63
};

int answer_pack(const struct answer *a, struct buf *out, struct err *e)
{
    size_t tables = a->tables ? packed_json_size(a->tables) : 0;
    size_t profile = a->profile ? packed_json_size(a->profile) : 0;
    size_t displays = a->displays ? packed_json_size(a->displays) : 0;
    size_t tests = a->tests ? packed_json_size(a->tests) : 0;
    size_t check = a->check ? packed_json_size(a->check) : 0;
    size_t room = 64 + (a->diagnosis ? 2 * sizeof *a->diagnosis : 0) + tables + profile + displays +
                  tests + check;
    if (room > ANSWER_MAX)
        return err_set(e, ERR_TOO_LARGE, 0, "an answer has up to %d bytes", ANSWER_MAX);
    if (buf_reserve(out, room, e))
        return -1;
    struct packer p = { .at = out->data + out->len, .left = room };
    struct codec c = { .out = &p };
    pack_u64(&p, a->id);
    pack_u32(&p, (a->diagnosis ? HAS_DIAGNOSIS : 0u) | (tables ? HAS_TABLES : 0u) |
                     (profile ? HAS_PROFILE : 0u) | (displays ? HAS_DISPLAYS : 0u) |
                     (tests ? HAS_TESTS : 0u) | (check ? HAS_CHECK : 0u));
    if (a->diagnosis)
        diagnosis(&c, a->diagnosis);
    if (tables)
        packed_json_put(&p, a->tables);
    if (profile)
        packed_json_put(&p, a->profile);
    if (displays)
        packed_json_put(&p, a->displays);
    if (tests)
        packed_json_put(&p, a->tests);
    if (check)
        packed_json_put(&p, a->check);
    if (p.failed)
        return err_set(e, ERR_TOO_LARGE, 0, "an answer did not fit");
    out->len += room - p.left;
    out->data[out->len] = '\0';
    return 0;
}

static void unpack_diagnosis(struct unpacker *u, struct answer *a)
{
    struct codec c = { .in = u };
    a->diagnosis = calloc(1, sizeof *a->diagnosis);
    if (!a->diagnosis) {
        u->failed = true;
        return;
    }
    diagnosis(&c, a->diagnosis);
    carets_check(a->diagnosis);
}

int answer_unpack(const char *bytes, size_t n, uint64_t id, struct answer *ret, struct err *e)
{
    struct unpacker u = { .at = bytes, .left = n };
    *ret = (struct answer){ .id = unpack_u64(&u) };
    uint32_t has = unpack_u32(&u);
    u.failed = u.failed || ret->id != id || has > HAS_ALL;
    if (!u.failed && (has & HAS_DIAGNOSIS))
        unpack_diagnosis(&u, ret);
    if (!u.failed && (has & HAS_TABLES)) {
        ret->tables = packed_json_get(&u);
        u.failed = u.failed || !report_tables_valid(ret->tables);
    }
    if (!u.failed && (has & HAS_PROFILE)) {
        ret->profile = packed_json_get(&u);
        u.failed = u.failed || !json_is_object(ret->profile);
    }
    if (!u.failed && (has & HAS_DISPLAYS)) {
        ret->displays = packed_json_get(&u);
        u.failed = u.failed || !report_displays_valid(ret->displays);
    }
    if (!u.failed && (has & HAS_TESTS)) {
        ret->tests = packed_json_get(&u);
        u.failed = u.failed || !tests_valid(ret->tests);
    }
    if (!u.failed && (has & HAS_CHECK)) {
        ret->check = packed_json_get(&u);
        u.failed = u.failed || !check_valid(ret->check);
    }
    if (unpack_end(&u, "reader's", e) == 0)
        return 0;
    answer_done(ret);
    return -1;
}
