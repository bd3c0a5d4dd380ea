#include "service/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "base/units.h"

enum { BACKLOG = 4096, BIND_TRIES = 6, BIND_PAUSE_US = 100000 };

static const char unix_prefix[] = "unix:";

static int refuse(const char *text, struct err *e)
{
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "--listen '%s' is not an address: expected 127.0.0.1:6000, 6000, [::1]:6000, "
                   "localhost:6000 "
                   "or unix:PATH; names are not resolved",
                   QUOTED(text));
}

static int parse_unix(const char *text, struct listen_address *ret, struct err *e)
{
    const char *path = text + strlen(unix_prefix);
    struct listen_address a = { .at.local.sun_family = AF_UNIX, .len = sizeof a.at.local };
    if (*path == '\0')
        return refuse(text, e);
    if (strlen(path) >= sizeof a.at.local.sun_path) {
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "the path '%s' is too long for a unix socket: at most %zu bytes are accepted",
            QUOTED(path), sizeof a.at.local.sun_path - 1);
    }
    memcpy(a.at.local.sun_path, path, strlen(path) + 1);
    *ret = a;
    return 0;
}

/* `whole`: the text that it is a part of, for messages. */
static int parse_port(const char *whole, const char *text, in_port_t *ret, struct err *e)
{
    uint64_t port;
    size_t n = strlen(text);
    if (n == 0 || strspn(text, "0123456789") != n)
        return refuse(whole, e);
    if (unit_parse(UNIT_COUNT, text, &port) || port > UINT16_MAX)
        return err_set(e, ERR_BAD_REQUEST, 0, "--listen '%s': port %.20s is out of range: 0 to %d",
                       QUOTED(whole), text, UINT16_MAX);
    *ret = htons((uint16_t)port);
    return 0;
}

static int port_of_ours(in_port_t port, struct listen_address *ret)
{
    *ret = (struct listen_address){ .at.v4 = { .sin_family = AF_INET,
                                               .sin_port = port,
                                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK) },
                                    .len = sizeof ret->at.v4 };
    return 0;
}

int listen_parse(const char *text, struct listen_address *ret, struct err *e)
{
    char host[64];
    in_port_t port = 0;
    struct listen_address a = { 0 };
    if (strncmp(text, unix_prefix, strlen(unix_prefix)) == 0)
        return parse_unix(text, ret, e);
    const char *colon = strrchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : 0;
    if (!colon && *text && strspn(text, "0123456789") == strlen(text)) /* a port alone */
        return parse_port(text, text, &port, e) ? -1 : port_of_ours(port, ret);
    if (n == 0 || n >= sizeof host)
        return refuse(text, e);
    if (parse_port(text, colon + 1, &port, e))
        return -1;
    memcpy(host, text, n);
    host[n] = '\0';
    if (host[0] == '[' && host[n - 1] == ']') {
        host[n - 1] = '\0';
        a.at.v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = port };
        a.len = sizeof a.at.v6;
        if (inet_pton(AF_INET6, host + 1, &a.at.v6.sin6_addr) != 1)
            return refuse(text, e);
    } else {
        a.at.v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = port };
        a.len = sizeof a.at.v4;
        const char *numeric = strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;
        if (inet_pton(AF_INET, numeric, &a.at.v4.sin_addr) != 1)
            return refuse(text, e);
    }
    *ret = a;
    return 0;
}

static bool is_unix(const struct listen_address *a)
{
    return a->at.any.sa_family == AF_UNIX;
}

bool listen_is_local(const struct listen_address *a)
{
    if (is_unix(a))
        return true;
    if (a->at.any.sa_family == AF_INET)
        return (ntohl(a->at.v4.sin_addr.s_addr) >> 24) == 127;
    const struct in6_addr *six = &a->at.v6.sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(six) || (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == 127);
}

const char *listen_host(const struct listen_address *a, char *out, size_t size)
{
    out[0] = '\0';
    if (a->at.any.sa_family == AF_INET)
        (void)inet_ntop(AF_INET, &a->at.v4.sin_addr, out, (socklen_t)size);
    else if (a->at.any.sa_family == AF_INET6)
        (void)inet_ntop(AF_INET6, &a->at.v6.sin6_addr, out, (socklen_t)size);
    return out;
}

const char *listen_format(const struct listen_address *a, char *out)
{
    char host[64];
    listen_host(a, host, sizeof host);
    if (is_unix(a))
        (void)snprintf(out, LISTEN_TEXT, "unix:%s", a->at.local.sun_path);
    else if (a->at.any.sa_family == AF_INET)
        (void)snprintf(out, LISTEN_TEXT, "%s:%u", host, ntohs(a->at.v4.sin_port));
    else
        (void)snprintf(out, LISTEN_TEXT, "[%s]:%u", host, ntohs(a->at.v6.sin6_port));
    return out;
}

void listener_done(struct listener *l)
{
    if (l->fd >= 0 && is_unix(&l->address) && !l->inherited)
        (void)unlink(l->address.at.local.sun_path);
    fd_close(&l->fd);
}

/* A socket file outlives its listener and may be removed. Any other file in its place is
 * refused. */
static int remove_stale(const struct listen_address *a, struct err *e)
{
    const char *path = a->at.local.sun_path;
    struct stat st;
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : err_set(e, ERR_KERNEL, errno, "look at %s", path);
    if (!S_ISSOCK(st.st_mode))
        return err_set(e, ERR_CONFLICT, 0,
                       "%s is there and is no socket: remove it, or use another --listen", path);
    autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "make a socket");
    if (connect(fd, &a->at.any, a->len) == 0 || errno == EAGAIN)
        return err_set(e, ERR_CONFLICT, 0,
                       "another process listens at unix:%s: stop it, or use another --listen",
                       path);
    if (errno != ECONNREFUSED)
        return err_set(e, ERR_KERNEL, errno, "try unix:%s", path);
    if (unlink(path) < 0)
        return err_set(e, ERR_KERNEL, errno, "remove %s", path);
    return 0;
}

/* The keeper of a service that was killed a moment ago may still hold the port. */
static int bind_patiently(int fd, const struct listen_address *a)
{
    for (int i = 1;; i++) {
        if (bind(fd, &a->at.any, a->len) == 0 && listen(fd, BACKLOG) == 0)
            return 0;
        if (errno != EADDRINUSE || is_unix(a) || i == BIND_TRIES)
            return -1;
        (void)usleep(BIND_PAUSE_US);
    }
}

int listener_open(struct listener *ret, const struct listen_address *a, struct err *e)
{
    static const int on = 1;
    struct listener l = { .address = *a };
    char text[LISTEN_TEXT];
    if (is_unix(a) && remove_stale(a, e))
        return -1;
    autoclose int fd = socket(a->at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "make a socket for %s", listen_format(a, text));
    if (!is_unix(a))
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (a->at.any.sa_family == AF_INET6) /* so that an IPv4 listener may use the same port */
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    mode_t mask = umask(0177);
    int rc = bind_patiently(fd, a), why = errno;
    (void)umask(mask);
    if (rc && why == EADDRINUSE)
        return err_set(e, ERR_CONFLICT, 0,
                       "%s is in use: stop its listener, or choose another address with "
                       "--listen",
                       listen_format(a, text));
    if (rc)
        return err_set(e, ERR_KERNEL, why, "listen on %s (--listen chooses another address)",
                       listen_format(a, text));
    if (!is_unix(a) && getsockname(fd, &l.address.at.any, &l.address.len) < 0)
        return err_set(e, ERR_KERNEL, errno, "look at a socket");
    l.fd = fd_take(&fd);
    *ret = l;
    return 0;
}

int listener_inherit(struct listener *ret, int fd, struct err *e)
{
    struct listener l = { .fd = fd, .inherited = true, .address.len = sizeof l.address.at };
    int type = 0, listens = 0;
    socklen_t size = sizeof type, listens_size = sizeof listens;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || type != SOCK_STREAM ||
        getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &listens_size) < 0 || !listens ||
        getsockname(fd, &l.address.at.any, &l.address.len) < 0)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the inherited descriptor %d is not a stream socket that listens: "
                       "belljar.socket needs ListenStream=, and Accept=no",
                       fd);
    int family = l.address.at.any.sa_family;
    if (family != AF_UNIX && family != AF_INET && family != AF_INET6)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the inherited socket %d has the address family %d: IPv4, IPv6 and unix are "
                       "accepted",
                       fd, family);
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || fd_set_nonblock(fd, e))
        return err_set(e, ERR_KERNEL, errno, "prepare the inherited socket %d", fd);
    *ret = l;
    return 0;
}
