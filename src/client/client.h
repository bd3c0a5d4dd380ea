/* client/client.h — one connection to the service: a request out, its response in, again and again.
 * Runs in: the command. The caller owns the event loop: it polls client_fd() for client_events() and calls client_ready().
 *
 * Invariants
 * C1 Nothing blocks but client_connect(), and that for CLIENT_CONNECT_MS at most, and client_ask(), which says so.
 * C2 Nothing is buffered without a bound: of a head CLIENT_HEAD_MAX, of a body what the caller allowed and has not taken
 *    yet. A caller that does not ask for POLLIN stops the sender.
 * C3 One request at a time. Bytes that nobody asked for make the connection useless, never a response.
 * C4 A response is complete when its own length or last chunk says so; one that only the end of the connection would
 *    end is refused, since a service that dies would look the same. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

enum { CLIENT_CONNECT_MS = 5000, CLIENT_HEAD_MAX = 1 << 16 };

struct client;

struct client_request {
    const char *method, *path; /* the path as it is sent: see client_add_escaped() */
    const char *accept;        /* NULL: anything */
    const char *json;          /* the body; NULL: none */
    size_t json_len;
    size_t body_max; /* of the response, not counting what was taken */
};

struct client_response {
    int status;             /* 0 while the head is not there */
    bool began, complete;   /* its first byte, its last */
    unsigned retry_after_s; /* 0: not said */
};

/* On failure e->sys tells why: ENOENT and ECONNREFUSED mean that nobody is there. */
[[nodiscard]] int client_connect(struct client **ret, const char *path, struct err *e);
/* A connected socket; taken over, also on failure. */
[[nodiscard]] int client_adopt(struct client **ret, int fd, struct err *e);
void client_free(struct client *c);
void client_done(struct client **c); /* the same, and forgets it */

/* Who listens; -1 when the kernel does not say. */
[[nodiscard]] int client_peer(const struct client *c, uid_t *ret_uid, struct err *e);

/* Queues a request. The response before it is forgotten, and must be complete. */
[[nodiscard]] int client_send(struct client *c, const struct client_request *q, struct err *e);
/* Good for a request: new, or its last response is complete and neither side has closed. */
bool client_reusable(const struct client *c);
/* client_send(), and waits for the whole response; `patience_ms` without a byte is ERR_UNAVAILABLE. */
[[nodiscard]] int client_ask(struct client *c, const struct client_request *q, int patience_ms,
                             struct err *e);

int client_fd(const struct client *c);
/* What to poll for; `read`: the caller has room for more of the response. 0: nothing, so do not poll the descriptor. */
short client_events(const struct client *c, bool read);
/* Does what poll() said can be done. ERR_UNAVAILABLE when the connection ended before the response did. */
[[nodiscard]] int client_ready(struct client *c, short revents, struct err *e);

const struct client_response *client_response(const struct client *c);
/* What has arrived of the body and was not taken. */
const char *client_body(const struct client *c, size_t *ret_len);
/* The next whole line of the body, without its newline, and takes it. Valid until the next call with this client. */
bool client_line(struct client *c, const char **ret_line, size_t *ret_len);

/* What a response that is not 2xx says went wrong: the code and sentence of its {"error": ...}. Always -1. */
[[nodiscard]] int client_refusal(const struct client *c, struct err *e);

/* Appends text as a part of a path: everything but unreserved characters and '/' as %XX. */
[[nodiscard]] int client_add_escaped(struct buf *b, const char *text, struct err *e);
