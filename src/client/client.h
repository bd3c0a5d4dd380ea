/* client/client.h — one connection to the service, for one request and response after another.
 * Runs in: the command, or a program with libbelljar. The caller owns the event loop: it polls
 * client_fd() for client_events() and calls client_ready().
 *
 * Invariants
 * CLIENT-1 Only these functions block: client_connect() and client_connect_tcp(), for at most
 *          CLIENT_CONNECT_MS an address, and client_ask().
 * CLIENT-2 Every buffer is bounded: CLIENT_HEAD_MAX for a head, and for a body the bytes that the
 *          caller allowed and has not taken yet. A caller that does not poll for POLLIN stops the
 *          sender.
 * CLIENT-3 One request at a time. Bytes that no request asked for make the connection unusable and
 *          never become a response.
 * CLIENT-4 A response is complete when its own length or its last chunk says so. A response that
 *          only the end of the connection would end is refused, because a crash of the service
 *          looks the same. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

enum { CLIENT_CONNECT_MS = 5000, CLIENT_HEAD_MAX = 1 << 16 };

struct client;

struct client_request {
    const char *method, *path; /* the path as it is sent: see client_add_escaped() */
    const char *accept;        /* NULL: anything */
    const char *headers;       /* further headers, each with its CR and LF; NULL: none */
    const char *json;          /* the body; NULL: none */
    size_t json_len;
    const void *bytes; /* a body of any kind in place of json; NULL: none */
    size_t n_bytes;
    /* The same from a file: so many bytes of this descriptor, from where it is. */
    bool has_file;
    int file_fd; /* borrowed until the response is complete */
    uint64_t file_bytes;
    size_t body_max; /* of the response, without the parts already taken */
};

struct client_response {
    int status;             /* 0 until the head has arrived */
    bool began, complete;   /* the first byte, the last byte has arrived */
    unsigned retry_after_s; /* 0: not given */
};

/* On failure e->sys is the reason: ENOENT and ECONNREFUSED mean that no service is running. */
[[nodiscard]] int client_connect(struct client **ret, const char *path, struct err *e);
/* The same for a service at a TCP port; blocks for longer if the name has several addresses. */
[[nodiscard]] int client_connect_tcp(struct client **ret, const char *host, const char *port,
                                     struct err *e);
/* The header Host and the API key of all requests of this connection. Neither has a control
 * character. */
[[nodiscard]] int client_identify(struct client *c, const char *host, const char *key,
                                  struct err *e);
/* As in client_identify(); NULL: none. */
const char *client_host(const struct client *c);
const char *client_key(const struct client *c);
/* Takes over a connected socket, also on failure. */
[[nodiscard]] int client_adopt(struct client **ret, int fd, struct err *e);
void client_free(struct client *c);
void client_done(struct client **c); /* the same, and sets *c to NULL */

/* The uid of the listener; -1 if the kernel does not say. */
[[nodiscard]] int client_peer(const struct client *c, uid_t *ret_uid, struct err *e);

/* Queues a request and drops the previous response, which must be complete. */
[[nodiscard]] int client_send(struct client *c, const struct client_request *q, struct err *e);
/* True if a request can be sent: the connection is new, or its last response is complete and
 * neither side has closed. */
bool client_reusable(const struct client *c);
/* Calls client_send() and waits for the whole response. `patience_ms` without a byte is
 * ERR_UNAVAILABLE. */
[[nodiscard]] int client_ask(struct client *c, const struct client_request *q, int patience_ms,
                             struct err *e);

int client_fd(const struct client *c);
/* The events to poll for; `read`: the caller has room for more of the response. 0: none, so do not
 * poll the descriptor. */
short client_events(const struct client *c, bool read);
/* Handles the events of poll(). ERR_UNAVAILABLE if the connection ended before the response. */
[[nodiscard]] int client_ready(struct client *c, short revents, struct err *e);

const struct client_response *client_response(const struct client *c);
/* The part of the body that has arrived and was not taken. */
const char *client_body(const struct client *c, size_t *ret_len);
/* Takes so many bytes of that part: there is room for more. */
void client_take(struct client *c, size_t n);
/* Takes the next whole line of the body, without its newline. Valid until the next call with this
 * client. */
bool client_line(struct client *c, const char **ret_line, size_t *ret_len);

/* Always -1: turns a response that is not 2xx into an error, from the code and sentence of its
 * {"error": ...}. */
[[nodiscard]] int client_refusal(const struct client *c, struct err *e);

/* Appends text as a part of a path: everything but unreserved characters and '/' as %XX. */
[[nodiscard]] int client_add_escaped(struct buf *b, const char *text, struct err *e);
