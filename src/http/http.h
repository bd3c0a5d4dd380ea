/* http/http.h — HTTP/1.1 over TCP and unix sockets: bytes to requests, responses to bytes. Knows no routes.
 * Runs in: keeper, on its one libuv loop.
 *
 * Invariants
 * H1 Every size and every wait is bounded (struct http_limits); what breaks a bound is answered and the connection closed.
 * H2 One request of a connection is handled at a time; of those pipelined behind it 64 KiB are read. Answers are in order.
 * H3 An exchange ends exactly once: by http_answer*() or http_stream_end(), after which the handler must not touch it, or by
 *    on_gone(), which never comes after those nor from within a call of the handler's.
 * H4 What is ambiguous is refused (400, close): two lengths, length and chunks, bare CR or LF, a bad header. Nothing is
 *    guessed, so nobody before or behind us can read a request differently. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "base/buf.h"
#include "base/err.h"

struct http_limits {
    size_t head_bytes; /* request line and headers together */
    unsigned headers;  /* how many */
    size_t body_bytes; /* after chunks are put together */
    /* Of all bodies that are being received, and as much again of whole answers that wait to be taken; beyond: 503. */
    size_t bodies_bytes;
    unsigned connections; /* at a time; one more is answered 503 and closed */
    uint32_t head_ms;     /* from the first byte of a head to its last */
    uint32_t body_ms;     /* the whole body, plus one second for every 64 KiB of it */
    uint32_t idle_ms;     /* between requests */
    uint32_t write_ms;    /* without the client taking a byte */
};

enum http_method {
    METHOD_GET,
    METHOD_HEAD,
    METHOD_POST,
    METHOD_PUT,
    METHOD_PATCH,
    METHOD_DELETE,
    METHOD_OPTIONS,
    METHOD_OTHER
};
const char *http_method_name(enum http_method m);

struct http_header {
    const char *name; /* as sent; compared without case */
    const char *value;
};

struct http_request {
    enum http_method method;
    const char *target; /* as sent: "/v1/runs?limit=5" */
    const char *
        path; /* before the '?', percent-decoded; never holds a NUL; a bad escape was answered 400 */
    const char *query; /* after the '?', as sent; "" when there is none */
    const struct http_header *headers;
    size_t n_headers;
    struct buf body; /* the handler may take it away (and zero this) */
    bool has_body;   /* there was a Content-Length > 0 or chunks */
    /* who asks */
    bool is_unix;
    uid_t peer_uid;    /* of a unix socket's peer */
    const char *peer;  /* "127.0.0.1:40312", "unix:1000"; for logs */
    unsigned listener; /* index into the server's listeners */
};
/* The value of a header, or NULL. Headers that must be single (Host, Content-Length, Content-Type, Origin,
 * Authorization) were refused when they came twice; of others the first is given. */
const char *http_request_header(const struct http_request *q, const char *name);
/* A value of the query, percent-decoded ('+' is a space), into out; NULL when it is not there. A bad escape or a value
 * that does not fit in out_size is -1 with the error. */
[[nodiscard]] int http_query_get(const struct http_request *q, const char *name, char *out,
                                 size_t out_size, const char **ret_value, struct err *e);

/* One request and its answer. Valid until its end (H3). */
struct http_exchange {
    struct http_request request;
    void *user; /* the handler's */
    /* The client went away (reset, write error, or timed out), or its body was refused, before the handler said all of its
     * answer; the exchange is gone when this returns. NULL: nobody minds. */
    void (*on_gone)(struct http_exchange *x);
    /* The client closed its sending half: it may be gone, or may still read. The answer is sent all the same. */
    void (*on_half_close)(struct http_exchange *x);
    /* Of a stream: what was queued has been written. */
    void (*on_drain)(struct http_exchange *x);
};

struct http_handlers {
    /* The head is there, the body is not. 0 to go on; -1 when the exchange was answered here (the rest of the request is
     * not read, and the connection closes if there is a body). May lower *body_max, which starts at the limit. */
    int (*head)(void *context, struct http_exchange *x, size_t *body_max);
    /* The whole request is there: answer now, or keep x and answer later. */
    void (*request)(void *context, struct http_exchange *x);
    /* An answer the server gives by itself (400, 408, 413, 417, 431, 501, 503, 505): the body to send, as JSON. `detail` is a
     * sentence; it may quote the request, escaped for people and not for JSON. Adds to *body; its content type is
     * application/json. */
    void (*refusal)(void *context, int status, const char *detail, struct buf *body);
};

struct http_server;

/* Headers given here are in every response, also in refusals. */
[[nodiscard]] int http_server_new(struct http_server **ret, uv_loop_t *loop,
                                  const struct http_limits *limits,
                                  const struct http_handlers *handlers, void *context,
                                  const struct http_header *every, size_t n_every, struct err *e);
/* A bound, listening socket, TCP or unix; taken over. Returns its index or -1. */
[[nodiscard]] int http_server_listen(struct http_server *s, int fd, struct err *e);
void http_server_set_limits(struct http_server *s, const struct http_limits *limits);
/* Stops accepting, closes idle connections, answers what is in progress with "Connection: close". done() when the last
 * connection is gone. */
void http_server_drain(struct http_server *s, void (*done)(void *context), void *context);
/* Closes everything at once; free after the loop has run its close callbacks. */
void http_server_close(struct http_server *s);
void http_server_free(struct http_server *s);
struct http_counts {
    unsigned connections;
    uint64_t accepted, requests, refused, timed_out;
};
struct http_counts http_server_counts(const struct http_server *s);

/* Adds a header to the answer to come. Values with CR, LF or NUL are dropped: no header can be split. */
void http_answer_header(struct http_exchange *x, const char *name, const char *value);
/* The whole answer; bytes are copied. Content-Length is set; nothing is sent of the body for HEAD, 204 and 304. */
void http_answer(struct http_exchange *x, int status, const char *content_type, const void *bytes,
                 size_t n);
/* The same, taking the buffer's memory over, without a copy. */
void http_answer_buf(struct http_exchange *x, int status, const char *content_type,
                     struct buf *body);

/* An answer in pieces: chunked for HTTP/1.1, until close for 1.0. Each write is queued at once; the writer looks at
 * http_stream_queued() and waits for on_drain() when it has grown large. */
void http_stream_begin(struct http_exchange *x, int status, const char *content_type);
void http_stream_write(struct http_exchange *x, const void *bytes, size_t n);
/* SIZE_MAX when the client is gone, which on_gone() is about to say: nobody needs to make more for it. */
size_t http_stream_queued(const struct http_exchange *x);
void http_stream_end(struct http_exchange *x);
