/* wire/body.h — the bytes of a message while they are packed or read. Only the files of this room
 * include it. */
#pragma once

#include "wire/wire.h"

struct body {
    struct packer p;
    char bytes[WIRE_MAX_BYTES];
};

static inline void body_init(struct body *b)
{
    b->p = (struct packer){ .at = b->bytes, .left = sizeof b->bytes };
}

static inline int body_send(int fd, enum wire_type type, const struct body *b, const int *fds,
                            struct err *e)
{
    return wire_send(fd, type, &b->p, b->bytes, fds, e);
}

static inline struct unpacker open_message(const struct wire_message *m, enum wire_type type)
{
    return (struct unpacker){ .at = m->bytes, .left = m->len, .failed = m->type != type };
}
