#include "session/frame.h"

#include <endian.h>
#include <string.h>

#include "base/log.h"

enum { FIELD_HEAD = 8 };

static uint16_t read_u16(const char *at)
{
    uint16_t v;
    memcpy(&v, at, sizeof v);
    return le16toh(v);
}

static uint32_t read_u32(const char *at)
{
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return le32toh(v);
}

static void write_u16(char *at, uint16_t v)
{
    v = htole16(v);
    memcpy(at, &v, sizeof v);
}

static void write_u32(char *at, uint32_t v)
{
    v = htole32(v);
    memcpy(at, &v, sizeof v);
}

int frame_read(const void *packet, size_t n, struct session_frame *ret, struct err *e)
{
    const char *bytes = packet;
    if (n < FRAME_HEAD || n > FRAME_MAX)
        return err_set(e, ERR_PROTOCOL, 0, "a frame has %zu bytes: %d to %d are allowed", n,
                       FRAME_HEAD, FRAME_MAX);
    *ret = (struct session_frame){ .seq = read_u32(bytes),
                                   .request = read_u32(bytes + 4),
                                   .type = read_u16(bytes + 8),
                                   .flags = read_u16(bytes + 10),
                                   .data = bytes + FRAME_HEAD,
                                   .n = n - FRAME_HEAD };
    if (ret->flags & ~FRAME_MORE)
        return err_set(e, ERR_PROTOCOL, 0, "a frame has the unknown flags %u", ret->flags);
    return 0;
}

bool frame_from_program(uint16_t type)
{
    return type >= FRAME_READY && type <= FRAME_NOTE;
}

void frame_write_head(char head[FRAME_HEAD], const struct session_frame *f)
{
    write_u32(head, f->seq);
    write_u32(head + 4, f->request);
    write_u16(head + 8, f->type);
    write_u16(head + 10, f->flags);
}

int frame_next_field(const char *data, size_t n, size_t *at, struct frame_field *ret)
{
    if (*at >= n)
        return 0;
    if (n - *at < FIELD_HEAD)
        return -1;
    const char *head = data + *at;
    size_t len = read_u32(head + 4);
    if (read_u16(head + 2) != 0 || len > n - *at - FIELD_HEAD)
        return -1;
    *ret = (struct frame_field){ .tag = read_u16(head), .bytes = head + FIELD_HEAD, .n = len };
    *at += FIELD_HEAD + len;
    return 1;
}

bool frame_find_field(const struct buf *data, enum frame_tag tag, struct frame_field *ret)
{
    size_t at = 0;
    while (frame_next_field(buf_str(data), data->len, &at, ret) > 0)
        if (ret->tag == tag)
            return true;
    return false;
}

bool frame_field_is(const struct frame_field *f, const char *word)
{
    return f->n == strlen(word) && memcmp(f->bytes, word, f->n) == 0;
}

unsigned frame_number(const struct buf *data, enum frame_tag tag)
{
    struct frame_field f;
    unsigned v = 0;
    if (!frame_find_field(data, tag, &f) || f.n > 9)
        return 0;
    for (size_t i = 0; i < f.n; i++) {
        if (f.bytes[i] < '0' || f.bytes[i] > '9')
            return 0;
        v = v * 10 + (unsigned)(f.bytes[i] - '0');
    }
    return v;
}

int frame_add_field(struct buf *data, enum frame_tag tag, const void *bytes, size_t n,
                    struct err *e)
{
    char head[FIELD_HEAD] = { 0 };
    if (n > MESSAGE_OUT_MAX || data->len > MESSAGE_OUT_MAX - n)
        return err_set(e, ERR_TOO_LARGE, 0,
                       "%zu bytes are too many for a session: up to %d are accepted", n,
                       MESSAGE_OUT_MAX);
    write_u16(head, (uint16_t)tag);
    write_u32(head + 4, (uint32_t)n);
    return buf_add(data, head, sizeof head, e) || (n > 0 && buf_add(data, bytes, n, e)) ? -1 : 0;
}

void frame_message_done(struct frame_message *m)
{
    buf_done(&m->data);
    *m = (struct frame_message){ 0 };
}

int frame_message_add(struct frame_message *m, const struct session_frame *f, bool *ret_whole,
                      struct err *e)
{
    if (!m->open) {
        m->data.len = 0;
        m->type = f->type;
        m->request = f->request;
    } else if (m->type != f->type || m->request != f->request) {
        return err_set(e, ERR_PROTOCOL, 0,
                       "a frame of type %u follows an unfinished one of type %u", f->type, m->type);
    }
    if (f->n > MESSAGE_IN_MAX - m->data.len)
        return err_set(e, ERR_PROTOCOL, 0, "a message has more than %d bytes", MESSAGE_IN_MAX);
    if (f->n > 0 && buf_add(&m->data, f->data, f->n, e))
        return -1;
    m->open = f->flags & FRAME_MORE;
    *ret_whole = !m->open;
    return 0;
}

void frame_keep_field(const struct buf *data, enum frame_tag tag, struct buf *to)
{
    struct frame_field f;
    struct err e;
    if (!frame_find_field(data, tag, &f) || f.n == 0)
        return;
    to->len = 0;
    if (buf_add(to, f.bytes, f.n, &e))
        log_error(LOG_WARN, "session.error", &e);
}
