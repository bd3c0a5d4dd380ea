/* http/http.h — HTTP/1.1 over TCP and unix sockets: bytes to requests, answers to bytes. Knows no
 * routes. Runs in: keeper, on its one libuv loop.
 *
 * Invariants
 * HTTP-1 Every size and every wait is bounded (struct http_limits). A request that exceeds a bound
 *        gets an error answer, and the connection is closed.
 * HTTP-2 One request of a connection is handled at a time. At most 64 KiB of pipelined requests
 *        behind it are read. Answers are in order.
 * HTTP-3 An exchange ends exactly once. Either the handler ends it with http_answer*() or
 *        http_stream_end() and does not touch it afterwards, or on_gone() ends it. on_gone() is
 *        never called after those functions, nor from within a call of the handler.
 * HTTP-4 An ambiguous request is refused (400, close): two lengths, length and chunks, bare CR or
 *        LF, a bad header. Nothing is guessed, so that no proxy or server reads the same request
 *        differently. */
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
    unsigned headers;  /* number of headers */
    size_t body_bytes; /* after decoding of chunks */
    /* Total of all incoming bodies, and the same again for complete answers that clients have not
     * read. Beyond that: 503. */
    size_t bodies_bytes;
    /* At a time. Beyond that, the connection that waits longest gives way to a further one; if none
     * waits, the further one gets a 503 and is closed. */
    unsigned connections;
    uint32_t head_ms;  /* from the first byte of a head to its last */
    uint32_t body_ms;  /* the whole body, plus one second for every 64 KiB of it */
    uint32_t idle_ms;  /* between requests */
    uint32_t write_ms; /* while the client reads no byte */
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
    /* The number of plain '/' in the path before the first escaped one ("%2F"); 0 if there is none,
     * because a path begins with a plain one. */
    unsigned plain_slashes;
    /* before the '?', percent-decoded, without NUL; a bad escape was answered with 400 */
    const char *path;
    const char *query; /* after the '?', as sent; "" if there is none */
    const struct http_header *headers;
    size_t n_headers;
    struct buf body; /* the handler may move it away (and zero this) */
    bool has_body;   /* true for Content-Length > 0 or chunks */
    /* The handler of the head may set both: the body goes to this file, and `body` stays empty. The
     * file is closed with the exchange, unless the handler of the request takes it and clears this. */
    bool body_in_file;
    int body_fd;
    /* NULL, or called once when the exchange is over; the handler of the request may call it earlier
     * and clear it. */
    void (*body_over)(void *body_context);
    void *body_context;
    /* the client: */
    bool is_unix;
    uid_t peer_uid;    /* of the peer of a unix socket */
    const char *peer;  /* "127.0.0.1:40312", "unix:1000"; for logs */
    unsigned listener; /* index into the server's listeners */
};
/* The value of a header, or NULL. A second Host, Content-Length, Content-Type, Origin or
 * Authorization header was refused; of other headers the first one counts. */
const char *http_request_header(const struct http_request *q, const char *name);
/* Percent-decodes a value of the query into out ('+' is a space); NULL if it is absent. -1 for a
 * bad escape, or a value that does not fit into out_size. */
[[nodiscard]] int http_query_get(const struct http_request *q, const char *name, char *out,
                                 size_t out_size, const char **ret_value, struct err *e);

/* One request and its answer. Valid until its end (HTTP-3). */
struct http_exchange {
    struct http_request request;
    void *user; /* for the handler */
    /* The client left (reset, write error or timeout), or its body was refused, before the answer
     * was complete. The exchange is freed when this returns. May be NULL. */
    void (*on_gone)(struct http_exchange *x);
    /* The client closed its sending half: it may have left, or may still read. The answer is sent
     * anyway. */
    void (*on_half_close)(struct http_exchange *x);
    /* For a stream: all queued bytes have been written. */
    void (*on_drain)(struct http_exchange *x);
    /* After http_upgrade(): the next bytes of the client. They are gone when this returns. */
    void (*on_bytes)(struct http_exchange *x, const char *bytes, size_t n);
};

struct http_handlers {
    /* The head has arrived, the body has not. Returns 0 to go on, or -1 if it answered the
     * exchange; then the rest of the request is not read, and the connection closes if there is a
     * body. May lower *body_max, which starts at the limit, or raise it for a body in a file. */
    int (*head)(void *context, struct http_exchange *x, size_t *body_max);
    /* The whole request has arrived: answer now, or keep x and answer later. */
    void (*request)(void *context, struct http_exchange *x);
    /* Adds to *body the JSON body of an answer that the server itself gives (400, 408, 413, 417,
     * 431, 501, 503, 505). `detail` is a sentence. It may quote the request, escaped for display
     * but not for JSON. The content type is application/json. q: NULL if its head was refused. */
    void (*refusal)(void *context, const struct http_request *q, int status, const char *detail,
                    struct buf *body);
};

struct http_server;

/* `every` are headers of every answer, including refusals. */
[[nodiscard]] int http_server_new(struct http_server **ret, uv_loop_t *loop,
                                  const struct http_limits *limits,
                                  const struct http_handlers *handlers, void *context,
                                  const struct http_header *every, size_t n_every, struct err *e);
/* Takes over a bound, listening socket, TCP or unix. Returns its index or -1. */
[[nodiscard]] int http_server_listen(struct http_server *s, int fd, struct err *e);
void http_server_set_limits(struct http_server *s, const struct http_limits *limits);
/* Stops accepting, closes idle connections, and answers the requests in progress with "Connection:
 * close". Calls done() after the last connection has closed. */
void http_server_drain(struct http_server *s, void (*done)(void *context), void *context);
/* Closes everything at once. Free the server after the loop has run its close callbacks. */
void http_server_close(struct http_server *s);
void http_server_free(struct http_server *s);
struct http_counts {
    unsigned connections;
    uint64_t accepted, requests, refused, timed_out, gave_way;
};
struct http_counts http_server_counts(const struct http_server *s);

/* Adds a header to the next answer, in place of a header of every answer that has the same name.
 * Values with CR, LF or NUL are dropped, so that no header can be split. */
void http_answer_header(struct http_exchange *x, const char *name, const char *value);
/* Sends a whole answer and copies the bytes. Sets Content-Length. HEAD, 204 and 304 send no
 * body. */
void http_answer(struct http_exchange *x, int status, const char *content_type, const void *bytes,
                 size_t n);
/* The same without a copy: takes over the memory of the buffer. */
void http_answer_buf(struct http_exchange *x, int status, const char *content_type,
                     struct buf *body);

/* An answer in pieces: chunked for HTTP/1.1, until close for 1.0. Each write is queued at once. The
 * writer checks http_stream_queued() and waits for on_drain() if it is large. */
void http_stream_begin(struct http_exchange *x, int status, const char *content_type);
void http_stream_write(struct http_exchange *x, const void *bytes, size_t n);
/* SIZE_MAX if the client has left and on_gone() is about to be called: no more data is needed. */
size_t http_stream_queued(const struct http_exchange *x);
void http_stream_end(struct http_exchange *x);
/* As http_stream_end(), for an answer of which a part is missing: the connection closes without the end
 * of the answer, so that the client notices. */
void http_stream_cut(struct http_exchange *x);

/* Answers 101 with the headers that were added, and turns the connection into a stream of bytes in
 * both directions: on_bytes() gets the bytes of the client, first the ones behind the
 * request, and http_stream_write() sends bytes as they are. The connection closes at
 * http_stream_end(). The connection of a client of HTTP/1.0 is dropped: it cannot be upgraded. */
void http_upgrade(struct http_exchange *x,
                  void (*on_bytes)(struct http_exchange *x, const char *bytes, size_t n));
