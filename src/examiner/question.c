#include "examiner/question.h"

#include <stdlib.h>
#include <string.h>

#include "base/pack.h"
#include "base/strv.h"

enum { FIXED_BYTES = 4096 }; /* more than all fields that are not text */

/* Present or not, and then the text with a NUL behind it. */
static void pack_text(struct packer *p, const char *text, size_t n)
{
    pack_u32(p, text != NULL);
    if (!text)
        return;
    pack_bytes(p, text, n);
    pack_u32(p, 0);
}

static void pack_word(struct packer *p, const char *word)
{
    pack_text(p, word, word ? strlen(word) : 0);
}

static const char *unpack_text(struct unpacker *u, size_t *ret_n)
{
    *ret_n = 0;
    if (!unpack_u32(u))
        return NULL;
    const char *text = unpack_bytes(u, ret_n);
    u->failed = u->failed || unpack_u32(u) != 0;
    return u->failed ? NULL : text;
}

static const char *unpack_word(struct unpacker *u)
{
    size_t n;
    return unpack_text(u, &n);
}

static void pack_struct(struct packer *p, const void *value, size_t size)
{
    pack_u32(p, value != NULL);
    if (value)
        pack_bytes(p, value, size);
}

static const void *unpack_struct(struct unpacker *u, void *into, size_t size)
{
    size_t n = 0;
    const char *bytes = unpack_u32(u) ? unpack_bytes(u, &n) : NULL;
    if (!bytes)
        return NULL;
    if (n != size) {
        u->failed = true;
        return NULL;
    }
    return memcpy(into, bytes, size);
}

/* The text of a source that a diagnosis would not read is not sent. */
static size_t sent_sources(const struct diagnose_input *in, struct source_file *sent)
{
    size_t n = in->n_sources < QUESTION_SOURCES_MAX ? in->n_sources : QUESTION_SOURCES_MAX;
    size_t left = DIAGNOSE_SOURCES_MAX;
    for (size_t i = 0; i < n; i++) {
        sent[i] = in->sources[i];
        if (sent[i].len > DIAGNOSE_SOURCE_MAX || sent[i].len > left)
            sent[i] = (struct source_file){ .name = sent[i].name };
        left -= sent[i].len;
    }
    return n;
}

static size_t room_for(const struct question *q, const struct source_file *sources, size_t n)
{
    enum { PER_TEXT = 32 };
    size_t room = FIXED_BYTES + q->input.len + q->input.printed_len + q->report_len +
                  q->input.whereabouts_len;
    const char *const words[] = { q->input.language, q->input.grammar, q->input.main_name,
                                  q->input.network_advice, q->input.network_list };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        room += words[i] ? strlen(words[i]) : 0;
    for (size_t i = 0; i < n; i++)
        room += strlen(sources[i].name) + sources[i].len + (size_t)2 * PER_TEXT;
    for (char *const *c = q->input.allow_commands; c && *c; c++)
        room += strlen(*c) + PER_TEXT;
    return room;
}

static void pack_input(struct packer *p, const struct diagnose_input *in,
                       const struct source_file *sources, size_t n)
{
    pack_word(p, in->language);
    pack_word(p, in->grammar);
    pack_u32(p, in->compiling);
    pack_text(p, in->text, in->len);
    pack_text(p, in->printed, in->printed_len);
    pack_text(p, in->whereabouts, in->whereabouts_len);
    pack_word(p, in->main_name);
    pack_u32(p, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        pack_word(p, sources[i].name);
        pack_text(p, sources[i].text, sources[i].len);
    }
    pack_struct(p, in->evidence, sizeof *in->evidence);
    pack_struct(p, in->limits, sizeof *in->limits);
    pack_struct(p, in->usage, sizeof *in->usage);
    pack_u32(p, (uint32_t)in->verdict);
    pack_u32(p, in->sealed);
    pack_u32(p, in->is_cell);
    pack_u32(p, in->has_network);
    pack_word(p, in->network_advice);
    pack_word(p, in->network_list);
    pack_u32(p, in->allow_commands != NULL);
    pack_strv(p, in->allow_commands);
    pack_u32(p, in->available != NULL);
}

int question_pack(const struct question *q, struct buf *out, struct err *e)
{
    struct source_file sources[QUESTION_SOURCES_MAX];
    size_t n = sent_sources(&q->input, sources), room = room_for(q, sources, n);
    if (room > QUESTION_MAX)
        return err_set(e, ERR_TOO_LARGE, 0, "a diagnosis reads up to %d bytes, not %zu",
                       QUESTION_MAX, room);
    if (buf_reserve(out, room, e))
        return -1;
    struct packer p = { .at = out->data + out->len, .left = room };
    char *head = p.at;
    pack_u32(&p, 0);
    pack_u64(&p, q->id);
    pack_u32(&p, q->explain);
    pack_input(&p, &q->input, sources, n);
    pack_u32(&p, q->tables);
    pack_u32(&p, q->profile);
    pack_u32(&p, q->displays);
    pack_u32(&p, (uint32_t)q->test_runner);
    pack_u32(&p, q->check);
    pack_text(&p, q->report, q->report_len);
    if (p.failed || strv_len(q->input.allow_commands) > QUESTION_COMMANDS_MAX)
        return err_set(e, ERR_TOO_LARGE, 0, "the question for a diagnosis is too large");
    uint32_t length = (uint32_t)(p.at - head - (ptrdiff_t)sizeof length);
    memcpy(head, &length, sizeof length);
    out->len += (size_t)(p.at - head);
    out->data[out->len] = '\0';
    return 0;
}

static void unpack_input(struct unpacker *u, struct question_read *r)
{
    struct diagnose_input *in = &r->question.input;
    in->language = unpack_word(u);
    in->grammar = unpack_word(u);
    in->compiling = unpack_u32(u);
    in->text = unpack_text(u, &in->len);
    in->printed = unpack_text(u, &in->printed_len);
    in->whereabouts = unpack_text(u, &in->whereabouts_len);
    in->main_name = unpack_word(u);
    in->n_sources = unpack_u32(u);
    in->sources = r->sources;
    u->failed = u->failed || in->n_sources > QUESTION_SOURCES_MAX;
    for (size_t i = 0; i < in->n_sources && !u->failed; i++) {
        r->sources[i].name = unpack_word(u);
        r->sources[i].text = unpack_text(u, &r->sources[i].len);
        u->failed = u->failed || !r->sources[i].name;
    }
    in->evidence = unpack_struct(u, &r->evidence, sizeof r->evidence);
    in->limits = unpack_struct(u, &r->limits, sizeof r->limits);
    in->usage = unpack_struct(u, &r->usage, sizeof r->usage);
    in->verdict = (enum verdict)unpack_u32(u);
    u->failed = u->failed || (unsigned)in->verdict >= VERDICT_COUNT_;
    in->sealed = unpack_u32(u);
    in->is_cell = unpack_u32(u);
    in->has_network = unpack_u32(u);
    in->network_advice = unpack_word(u);
    in->network_list = unpack_word(u);
    bool listed = unpack_u32(u);
    r->commands = unpack_strv(u, QUESTION_COMMANDS_MAX);
    in->allow_commands = listed ? r->commands : NULL;
}

int question_unpack(const char *bytes, size_t n, struct question_read *ret, struct err *e)
{
    struct unpacker u = { .at = bytes, .left = n };
    struct question *q = &ret->question;
    *ret = (struct question_read){ 0 };
    q->id = unpack_u64(&u);
    q->explain = unpack_u32(&u);
    unpack_input(&u, ret);
    ret->may_ask = unpack_u32(&u);
    q->tables = unpack_u32(&u);
    q->profile = unpack_u32(&u);
    q->displays = unpack_u32(&u);
    q->test_runner = (enum test_runner)unpack_u32(&u);
    q->check = unpack_u32(&u);
    q->report = unpack_text(&u, &q->report_len);
    return unpack_end(&u, "question", e);
}

void question_read_done(struct question_read *r)
{
    free(r->commands);
    r->commands = NULL;
}
