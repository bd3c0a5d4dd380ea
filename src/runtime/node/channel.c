#include "runtime/node/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/array.h"

enum { DATA_MAX = 32768, MORE = 1, FDS_MAX = 2 + IMAGE_BASES_MAX, UV_POLL = 8, UV_READABLE = 1 };

static struct {
    int fd;
    uint32_t sent;
    struct image_roles roles;
    napi_env env;
    napi_ref on_frame;
    napi_async_context context;
} channel = { .fd = -1 };

int channel_fd(void)
{
    return channel.fd;
}

uint32_t channel_sent(void)
{
    return channel.sent;
}

const struct image_roles *channel_roles(void)
{
    return &channel.roles;
}

static void find_roles(void)
{
    image_roles_find(&channel.roles, (const int[IMAGE_ROLES]){ 0, 1, 2, channel.fd });
}

void channel_went_on(uint32_t sent)
{
    channel.sent = sent;
    find_roles();
}

/* ---- out ---- */

struct header {
    uint32_t seq, request;
    uint16_t type, flags;
};

/* The channel does not block, because Node reads it. The host always reads. */
static bool send_frame(struct header *h, char *data, size_t n)
{
    struct iovec parts[] = { { h, sizeof *h }, { data, n } };
    struct msghdr m = { .msg_iov = parts, .msg_iovlen = ARRAY_LEN(parts) };
    for (;;) {
        if (sendmsg(channel.fd, &m, MSG_NOSIGNAL) >= 0)
            return true;
        struct pollfd p = { .fd = channel.fd, .events = POLLOUT };
        if (errno == EAGAIN)
            (void)poll(&p, 1, -1);
        else if (errno != EINTR)
            return false;
    }
}

napi_value channel_send(napi_env env, napi_info info)
{
    napi_value arg[3];
    size_t argc = 3, n = 0;
    uint32_t request, type;
    void *data = NULL;
    if (napi_get_cb_info(env, info, &argc, arg, NULL, NULL) || argc != 3 ||
        napi_get_value_uint32(env, arg[0], &request) || napi_get_value_uint32(env, arg[1], &type) ||
        napi_get_buffer_info(env, arg[2], &data, &n)) {
        (void)napi_throw_error(env, NULL, "a message is three arguments");
        return NULL;
    }
    for (size_t at = 0;;) {
        size_t part = n - at < DATA_MAX ? n - at : DATA_MAX;
        bool more = at + part < n;
        struct header h = { ++channel.sent, request, (uint16_t)type, more ? MORE : 0 };
        if (!send_frame(&h, (char *)data + at, part))
            _exit(1); /* the host is gone */
        at += part;
        if (!more)
            return NULL;
    }
}

/* ---- in ---- */

static napi_value list_fds(struct msghdr *msg)
{
    napi_value list = NULL, item;
    struct cmsghdr *head = CMSG_FIRSTHDR(msg);
    int wrong = napi_create_array(channel.env, &list);
    if (wrong || !head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
        return list;
    size_t n = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (uint32_t i = 0; i < n; i++) {
        int fd;
        memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
        if (napi_create_int32(channel.env, fd, &item) ||
            napi_set_element(channel.env, list, i, item))
            (void)close(fd);
    }
    return list;
}

/* An error in our own code is the program's, if it replaced a builtin. */
static void call(size_t argc, const napi_value *argv)
{
    napi_value f, self, result, error;
    if (napi_get_reference_value(channel.env, channel.on_frame, &f) ||
        napi_get_undefined(channel.env, &self))
        return;
    int failed = napi_make_callback(channel.env, channel.context, f, f, argc, argv, &result);
    if (failed && napi_get_and_clear_last_exception(channel.env, &error) == 0)
        (void)napi_fatal_exception(channel.env, error);
}

static void read_frame(void)
{
    static char bytes[12 + DATA_MAX];
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
    } control;
    napi_value arg[2];
    struct iovec iov = { bytes, sizeof bytes };
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    ssize_t n = recvmsg(channel.fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        call(0, NULL);
        return;
    }
    arg[1] = list_fds(&msg);
    if (arg[1] && napi_create_buffer_copy(channel.env, (size_t)n, bytes, NULL, &arg[0]) == 0)
        call(ARRAY_LEN(arg), arg);
}

static void on_readable(void *handle, int status, int events)
{
    (void)handle;
    (void)status;
    (void)events;
    napi_handle_scope scope;
    if (napi_open_handle_scope(channel.env, &scope))
        return;
    read_frame();
    (void)napi_close_handle_scope(channel.env, scope);
}

/* Not a stream of Node: that one reads no descriptors, and an interrupt inside it would leave it in a
 * bad state. */
napi_value channel_listen(napi_env env, napi_info info)
{
    napi_value f, name;
    size_t argc = 1;
    void *loop, *handle = calloc(1, uv_handle_size(UV_POLL)); /* for the life of the process */
    channel.env = env;
    if (!handle || napi_get_cb_info(env, info, &argc, &f, NULL, NULL) || argc != 1 ||
        napi_create_reference(env, f, 1, &channel.on_frame) ||
        napi_create_string_utf8(env, "channel", SIZE_MAX, &name) ||
        napi_async_init(env, NULL, name, &channel.context) || napi_get_uv_event_loop(env, &loop) ||
        uv_poll_init(loop, handle, channel.fd) || uv_poll_start(handle, UV_READABLE, on_readable))
        (void)napi_throw_error(env, NULL, "the channel of the session cannot be read");
    return NULL;
}

/* It is 3 after execve; in an embryo 3 belongs to Node, and
 * the driver has moved the channel. It leaves 3, which programs like to use. */
napi_value channel_find(napi_env env, napi_info info)
{
    enum { LOOK_MAX = 256, AWAY = 64 };
    napi_value result = NULL;
    (void)info;
    for (int fd = 3; fd < LOOK_MAX; fd++) {
        int type = 0;
        socklen_t n = sizeof type;
        if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) < 0 || type != SOCK_SEQPACKET)
            continue;
        int away = fcntl(fd, F_DUPFD_CLOEXEC, AWAY);
        if (away >= 0)
            close(fd);
        else
            (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
        channel.fd = away >= 0 ? away : fd;
        find_roles();
        (void)napi_create_int32(env, channel.fd, &result);
        return result;
    }
    (void)napi_throw_error(env, NULL, "descriptor 3 is not the channel of a session");
    return NULL;
}
