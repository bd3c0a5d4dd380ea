#include "cli/repl/link.h"

#include <errno.h>

#include "base/auto.h"
#include "base/fdio.h"

struct head {
    uint32_t type, len;
};

int link_send(int fd, enum link_type type, const void *bytes, size_t n, struct err *e)
{
    const struct head h = { type, (uint32_t)n };
    if (n > LINK_MAX)
        return err_set(e, ERR_TOO_LARGE, 0, "%zu bytes are too many: up to %d are accepted", n,
                       LINK_MAX);
    if (fd_write_all(fd, &h, sizeof h) || (n && fd_write_all(fd, bytes, n)))
        return err_set(e, ERR_UNAVAILABLE, errno, "the process that talks to the service is gone");
    return 0;
}

int link_receive(int fd, enum link_type *ret_type, struct buf *ret, struct err *e)
{
    struct head h;
    ret->len = 0;
    if (fd_read_full(fd, &h, sizeof h) != sizeof h || h.type >= LINK_COUNT_ || h.len > LINK_MAX)
        return err_set(e, ERR_UNAVAILABLE, 0, "the process that talks to the service is gone");
    if (buf_reserve(ret, (size_t)h.len + 1, e))
        return -1;
    if (fd_read_full(fd, ret->data, h.len) != (ssize_t)h.len)
        return err_set(e, ERR_UNAVAILABLE, 0, "the process that talks to the service is gone");
    ret->len = h.len;
    ret->data[ret->len] = '\0';
    *ret_type = (enum link_type)h.type;
    return 0;
}
