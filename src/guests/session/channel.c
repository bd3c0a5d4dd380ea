#include "guests/session/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"

enum {
    CHANNEL_FD = 3,
    AWAY = 64,
    DATA_MAX = 32768,
    MESSAGE_MAX = 8 << 20,
    MORE = 1,
    FIELD_HEAD = 8,
};

struct header {
    uint32_t seq, request;
    uint16_t type, flags;
};

void message_done(struct message *m)
{
    buf_done(&m->data);
    for (size_t i = 0; i < m->n_fds; i++)
        (void)close(m->fds[i]);
    m->n_fds = 0;
}

int channel_open(struct channel *c)
{
    int away = fcntl(CHANNEL_FD, F_DUPFD_CLOEXEC, AWAY);
    *c = (struct channel){ .fd = away };
    (void)setsid();
    if (away < 0)
        return -1;
    close(CHANNEL_FD);
    return 0;
}

static void take_fds(struct msghdr *from, struct message *m)
{
    for (struct cmsghdr *h = CMSG_FIRSTHDR(from); h; h = CMSG_NXTHDR(from, h)) {
        size_t n = h->cmsg_type == SCM_RIGHTS ? (h->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
        for (size_t i = 0; i < n; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(h) + i * sizeof fd, sizeof fd);
            if (m->n_fds < ARRAY_LEN(m->fds))
                m->fds[m->n_fds++] = fd;
            else
                (void)close(fd);
        }
    }
}

static ssize_t read_packet(const struct channel *c, struct iovec *parts, size_t n,
                           struct message *m)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(MESSAGE_FDS * sizeof(int))];
    } control;
    struct msghdr packet = {
        .msg_iov = parts, .msg_iovlen = n, .msg_control = &control, .msg_controllen = sizeof control
    };
    ssize_t got;
    do
        got = recvmsg(c->fd, &packet, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got >= 0)
        take_fds(&packet, m);
    return got;
}

int channel_read(struct channel *c, struct message *ret)
{
    struct err e;
    struct header h;
    *ret = (struct message){ 0 };
    do {
        if (buf_reserve(&ret->data, DATA_MAX, &e))
            return 0;
        struct iovec parts[] = { { &h, sizeof h }, { ret->data.data + ret->data.len, DATA_MAX } };
        ssize_t n = read_packet(c, parts, ARRAY_LEN(parts), ret);
        if (n < (ssize_t)sizeof h || ret->data.len > MESSAGE_MAX)
            return 0;
        ret->data.len += (size_t)n - sizeof h;
        ret->data.data[ret->data.len] = '\0';
    } while (h.flags & MORE);
    ret->request = h.request;
    ret->type = h.type;
    return 1;
}

static const struct channel_handler *handler_of(const struct channel_handler *handlers, size_t n,
                                                uint16_t type)
{
    for (size_t i = 0; i < n; i++)
        if (handlers[i].type == type)
            return &handlers[i];
    return NULL;
}

int channel_serve(struct channel *c, const struct channel_handler *handlers, size_t n,
                  void *context)
{
    struct message m;
    while (channel_read(c, &m) > 0) {
        const struct channel_handler *h = handler_of(handlers, n, m.type);
        uint16_t type = m.type;
        if (h)
            h->handle(context, &m);
        message_done(&m);
        if (!h && type != FRAME_INPUT)
            return type == FRAME_END ? 0 : 1;
    }
    return 0;
}

struct field_head {
    uint16_t tag, zero;
    uint32_t length;
};

char *message_text(const struct message *m, enum channel_tag tag, size_t *ret_n)
{
    struct field_head f;
    for (size_t at = 0; at + FIELD_HEAD <= m->data.len; at += FIELD_HEAD + f.length) {
        memcpy(&f, m->data.data + at, sizeof f);
        if (f.length > m->data.len - at - FIELD_HEAD)
            return NULL;
        if (f.tag != (uint16_t)tag)
            continue;
        char *text = malloc((size_t)f.length + 1);
        if (!text)
            return NULL;
        memcpy(text, m->data.data + at + FIELD_HEAD, f.length);
        text[f.length] = '\0';
        if (ret_n)
            *ret_n = f.length;
        return text;
    }
    return NULL;
}

bool message_has_flag(const struct message *m, const char *word)
{
    autofree char *flags = message_text(m, TAG_FLAGS, NULL);
    char *rest = NULL;
    for (char *w = flags ? strtok_r(flags, " ", &rest) : NULL; w; w = strtok_r(NULL, " ", &rest))
        if (strcmp(w, word) == 0)
            return true;
    return false;
}

size_t message_cursor(const struct message *m, const char *text, size_t n)
{
    autofree char *number = message_text(m, TAG_CURSOR, NULL);
    if (!number)
        return n;
    size_t at = 0;
    for (unsigned long left = strtoul(number, NULL, 10); left > 0 && at < n; left--)
        do
            at++;
        while (at < n && ((unsigned char)text[at] & 0xc0) == 0x80);
    return at;
}

void field_add(struct buf *b, enum channel_tag tag, const void *bytes, size_t n)
{
    struct err e;
    struct field_head f = { (uint16_t)tag, 0, (uint32_t)n };
    if (buf_add(b, &f, sizeof f, &e) || buf_add(b, bytes, n, &e))
        abort(); /* no memory */
}

void field_add_text(struct buf *b, enum channel_tag tag, const char *text)
{
    field_add(b, tag, text, strlen(text));
}

void channel_send(struct channel *c, uint32_t request, enum channel_type type, const struct buf *b)
{
    (void)fflush(stdout);
    (void)fflush(stderr);
    for (size_t at = 0;;) {
        size_t part = b->len - at < DATA_MAX ? b->len - at : DATA_MAX;
        bool more = at + part < b->len;
        struct header h = { ++c->seq, request, (uint16_t)type, more ? MORE : 0 };
        struct iovec parts[] = { { &h, sizeof h }, { b->data ? b->data + at : NULL, part } };
        struct msghdr m = { .msg_iov = parts, .msg_iovlen = ARRAY_LEN(parts) };
        ssize_t n;
        do
            n = sendmsg(c->fd, &m, MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
        if (n < 0)
            _exit(1); /* the host is gone */
        at += part;
        if (!more)
            return;
    }
}

void channel_note(struct channel *c, uint32_t request, const char *text)
{
    scoped(buf) b = { 0 };
    field_add_text(&b, TAG_TEXT, text);
    channel_send(c, request, FRAME_NOTE, &b);
}

void channel_error(struct channel *c, uint32_t request, const char *name, const char *message,
                   const char *traceback)
{
    scoped(buf) b = { 0 };
    field_add_text(&b, TAG_NAME, name);
    field_add_text(&b, TAG_MESSAGE, message);
    field_add_text(&b, TAG_TRACEBACK, traceback);
    channel_send(c, request, FRAME_ERROR, &b);
}

void channel_done(struct channel *c, uint32_t request, const char *status)
{
    scoped(buf) b = { 0 };
    char count[16];
    (void)snprintf(count, sizeof count, "%u", c->count);
    field_add_text(&b, TAG_STATUS, status);
    field_add_text(&b, TAG_COUNT, count);
    channel_send(c, request, FRAME_DONE, &b);
}

void channel_answer(struct channel *c, uint32_t request, const struct buf *json)
{
    scoped(buf) b = { 0 };
    field_add(&b, TAG_JSON, json->data, json->len);
    channel_send(c, request, FRAME_ANSWER, &b);
    channel_done(c, request, "ok");
}
