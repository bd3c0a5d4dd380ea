/* service/listen.h — the addresses of the service as people write them, and its sockets. Runs in:
 * supervisor, which holds the sockets so that they survive a keeper. Names are not resolved: the
 * service binds exactly the written address. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/err.h"

union listen_socket {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un local;
};

enum { LISTEN_TEXT = 128 };

struct listen_address {
    union listen_socket at;
    socklen_t len;
};

/* "127.0.0.1:6000", "[::1]:6000", "localhost:6000", "unix:PATH". For port 0 the kernel chooses
 * one. */
[[nodiscard]] int listen_parse(const char *text, struct listen_address *ret, struct err *e);
/* True if no other machine can reach it. */
bool listen_is_local(const struct listen_address *a);
/* The written form; out has LISTEN_TEXT bytes. */
const char *listen_format(const struct listen_address *a, char *out);
/* The address alone, "127.0.0.1" or "::1"; "" for a unix socket. */
const char *listen_host(const struct listen_address *a, char *out, size_t size);

struct listener {
    struct listen_address address; /* with the port that the kernel chose */
    int fd;
    bool inherited; /* the process that opened it goes on to hold it */
};
/* Removes a unix socket from its directory, unless it is inherited. */
void listener_done(struct listener *l);

/* Binds and listens. A unix socket is for its owner only (0600). A socket file without a listener
 * is replaced. */
[[nodiscard]] int listener_open(struct listener *ret, const struct listen_address *a,
                                struct err *e);
/* Takes a descriptor that another process has opened: a stream socket that listens. */
[[nodiscard]] int listener_inherit(struct listener *ret, int fd, struct err *e);
