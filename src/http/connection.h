/* http/connection.h — what the files of this room share: a server, its connections, and what each still has to send.
 * Runs in: keeper.
 *
 * No handler is called from within a call that a handler made: a write that fails closes the handle, and on_gone() comes from
 * libuv's close callback; the request behind an answer that was given later is begun by the loop (server_later()). */
#pragma once

#include "http/http.h"
#include "http/parse.h"

enum {
    LISTENERS_MAX = 16,
    READ_BYTES = 4095,          /* of one read, while no body is expected; a buffer adds a NUL */
    BODY_READ_BYTES = 64 << 10, /* the same within a body */
    AHEAD_BYTES = 64 << 10,     /* read of later requests while one is handled */
    KEPT_BYTES = 16 << 10,      /* a buffer that grew larger is not kept for the next request */
    SHRINK_MS = 1000,           /* idle for so long, a connection gives its buffers back */
    LINGER_MS = 2000,           /* a refused client may send on, so that it is not reset */
    LINGER_BYTES = 64 << 20,    /* and this much */
    CLOSE_MS = 500,             /* the same for one that was served */
    OVER_LIMIT = 64, /* connections past the limit that are told so; more are just closed */
};

/* Which part of a connection's life; each has a row in connection.c. */
enum phase { PHASE_HEAD, PHASE_BODY, PHASE_ANSWER, PHASE_LINGER, PHASE_CLOSED, PHASE_COUNT };

/* What time is bounded now, since `since`. */
enum wait { WAIT_NOTHING, WAIT_IDLE, WAIT_HEAD, WAIT_BODY, WAIT_LINGER };

struct output {
    struct buf queued;    /* not given to the kernel yet */
    struct buf body;      /* a whole body, behind `queued` */
    struct buf flying[2]; /* what uv_write() is busy with */
    uv_write_t write;
    bool busy;
    size_t counted; /* of all this, in server->answers */
    size_t left;    /* of a busy write, when it was last looked at */
    uint64_t since; /* it went forward */
};

struct connection {
    struct http_exchange x; /* first: an exchange is found in its connection */
    struct http_server *server;
    struct connection *next, *prev;
    struct connection *next_later;
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } uv;
    uv_shutdown_t shutdown;
    char peer[64];
    uid_t peer_uid;
    unsigned listener;
    bool is_unix;

    enum phase phase;
    enum wait wait;
    uint64_t since;
    bool advancing; /* connection_advance() is on the stack */
    bool eof;       /* the client sends no more */
    bool later;     /* on the server's list of those to go on with */
    bool paused;    /* we do not read */

    struct buf in; /* unread bytes start at in_at */
    size_t in_at;
    struct head_scan scan;
    struct head head;
    struct chunks chunks;
    size_t body_max;
    size_t counted;    /* of the body, in server->bodies */
    size_t dropped;    /* while lingering */
    bool reading_body; /* the read under way goes straight into the body */
    bool body_missing; /* not all of the body was read */

    bool open;                        /* the handlers know of the exchange, and it has not ended */
    bool answered;                    /* they said all of it */
    bool streams;                     /* by http_stream_begin() */
    bool is_head;                     /* no body in the answer */
    bool sends_chunks, sends_nothing; /* of a stream: how its bytes go out */
    bool closes;                      /* after this answer */
    struct buf extra;                 /* headers for the answer to come */
    struct output out;
};

struct listener {
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } uv;
    struct http_server *server;
    unsigned index;
    bool is_unix;
    bool waits; /* a client is there, and was not accepted for want of memory */
};

struct http_server {
    uv_loop_t *loop;
    struct http_limits limits;
    struct http_handlers handlers;
    void *context;
    struct buf every; /* headers of every answer, as they are sent */
    struct listener *listeners[LISTENERS_MAX];
    unsigned n_listeners, open_listeners;
    struct connection *connections;
    struct connection *later;
    uv_idle_t idle; /* runs while `later` is not empty */
    uv_timer_t timer;
    struct http_counts counts;
    size_t bodies;  /* bytes of bodies that are being received */
    size_t answers; /* bytes that wait for clients to take them */
    bool draining, closed;
    void (*drained)(void *context);
    void *drained_context;
    char date[48]; /* the Date header of this second */
    int64_t date_s;
    char scrap[64 << 10]; /* for bytes that are dropped */
};

/* connection.c */
void connection_accept(struct listener *l);
/* Goes on with whatever can go on. Harmless at any time. */
void connection_advance(struct connection *c);
/* Closes at once. The connection is there until libuv's callback. */
void connection_drop(struct connection *c);
/* Looks whether something took too long. */
void connection_check(struct connection *c, uint64_t now);
bool connection_is_idle(const struct connection *c);

/* output.c */
void output_flush(struct connection *c);
bool output_is_empty(const struct connection *c);
/* Whether so much more can be kept until the client takes it. */
bool output_fits(const struct connection *c, size_t n);
void output_uncount(struct connection *c);
size_t output_bytes(const struct connection *c);
/* False when the kernel took nothing for too long. */
bool output_goes_forward(struct connection *c, uint64_t now);
void output_done(struct output *o);
/* Frees what is larger than `keep` and not in use. */
void buf_shrink(struct buf *b, size_t keep);

/* answer.c */
bool answer_add_header(struct buf *b, const char *name, const char *value);
extern const char answer_continue[];

/* server.c */
void server_connection_opened(struct http_server *s, struct connection *c);
/* connection_advance() from the loop, when whoever is on the stack now has returned. */
void server_later(struct http_server *s, struct connection *c);
/* No memory to accept: tried again with the next tick. */
void server_accept_later(struct listener *l);
void server_connection_closed(struct http_server *s, struct connection *c);
