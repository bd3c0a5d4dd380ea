/* http/connection.h — private to the room: a server, its connections, and their unsent bytes. Runs
 * in: keeper. */
#pragma once

#include "http/http.h"
#include "http/parse.h"

enum {
    LISTENERS_MAX = 16,
    READ_BYTES = 4095,          /* of one read, while no body is expected; a buffer adds a NUL */
    BODY_READ_BYTES = 64 << 10, /* the same within a body */
    FILE_BYTES = 256 << 10,     /* of a body that goes to a file, at a time */
    AHEAD_BYTES = 64 << 10,     /* of later requests, read while one is handled */
    KEPT_BYTES = 16 << 10,      /* a larger buffer is not kept for the next request */
    SHRINK_MS = 1000,           /* an idle connection frees its buffers after this time */
    DRAIN_IDLE_MS = 1000,       /* how long a drain waits for the first request of a client */
    LINGER_MS = 2000,           /* how long a refused client may go on sending before it is reset */
    LINGER_BYTES = 64 << 20,    /* and how much */
    CLOSE_MS = 500,             /* the same time for a client that was served */
    STUCK_MS = 1000,            /* an answer of which the client reads nothing */
    /* connections beyond the limit that get a 503; further ones are closed at once */
    OVER_LIMIT = 64,
    POSTPONED_MAX = 8, /* a client that waits for room is accepted or refused after as many turns */
    /* Beyond that, connections of unix sockets alone: the operator always gets in. */
    RESERVED = 64,
};

/* The phases of a connection; each has a row in connection.c. */
enum phase { PHASE_HEAD, PHASE_BODY, PHASE_ANSWER, PHASE_LINGER, PHASE_CLOSED, PHASE_COUNT };

/* The bound that applies now; it counts from `since`. */
enum wait { WAIT_NOTHING, WAIT_IDLE, WAIT_HEAD, WAIT_BODY, WAIT_LINGER };

union uv_socket {
    uv_handle_t handle;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
};

struct output {
    struct buf queued;    /* not yet handed to the kernel */
    struct buf body;      /* a whole body, sent after `queued` */
    struct buf flying[2]; /* bytes of the current uv_write() */
    uv_write_t write;
    bool busy;
    size_t counted; /* bytes of this output in server->answers */
    size_t left;    /* of the current write, at the last check */
    uint64_t since; /* the time of the last progress */
};

/* Bytes of a body on their way to its file. */
struct filing {
    uv_work_t work;
    struct connection *connection; /* NULL: nobody waits for them any more */
    int fd;                        /* a copy */
    struct buf bytes;
    int error;
};

struct connection {
    struct http_exchange x; /* first: an exchange is cast to its connection */
    struct http_server *server;
    struct connection *next, *prev;
    struct connection *next_later;
    union uv_socket uv;
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
    bool later;     /* on the server's list of connections to advance */
    bool paused;    /* reading is stopped */

    struct buf in; /* unread bytes start at in_at */
    size_t in_at;
    struct head_scan scan;
    struct http_head head;
    struct chunks chunks;
    size_t body_max;
    size_t filed;          /* bytes of the body that are in its file, or on their way */
    struct filing *filing; /* NULL: none are on their way */
    bool served;           /* it has begun a request */
    bool has_arrived;      /* the whole body */
    size_t counted;        /* bytes of the body in server->bodies */
    size_t dropped;        /* bytes, while lingering */
    bool reading_body;     /* the current read goes straight into the body */
    bool body_missing;     /* part of the body was not read */

    bool open;                        /* the handlers know the exchange, and it has not ended */
    bool answered;                    /* their answer is complete */
    bool streams;                     /* since http_stream_begin() */
    bool upgraded;                    /* since http_upgrade(): bytes in both directions */
    bool is_head;                     /* a HEAD request: no body in the answer */
    bool sends_chunks, sends_nothing; /* the encoding of a stream */
    bool closes;                      /* after this answer */
    struct buf extra;                 /* headers for the next answer */
    struct output out;
};

struct http_listener {
    union uv_socket uv;
    struct http_server *server;
    unsigned index;
    bool is_unix;
    bool waits;         /* a client waits to be accepted */
    unsigned postponed; /* how often that client was */
};

struct http_server {
    uv_loop_t *loop;
    struct http_limits limits;
    struct http_handlers handlers;
    void *context;
    struct buf every; /* headers of every answer, as sent */
    struct http_listener *listeners[LISTENERS_MAX];
    unsigned n_listeners, open_listeners;
    struct connection *connections, *oldest; /* the newest first */
    struct connection *later;
    uv_idle_t idle; /* runs while `later` is not empty */
    uv_timer_t timer;
    struct http_counts counts;
    unsigned closing;   /* connections that are closed, until libuv's callback */
    unsigned unix_open; /* connections of unix sockets that are not closed */
    size_t bodies;      /* bytes of incoming bodies */
    size_t answers;     /* bytes of answers that clients have not read */
    bool draining, closed;
    void (*drained)(void *context);
    void *drained_context;
    char date[48]; /* the Date header of this second */
    int64_t date_s;
    char scrap[64 << 10]; /* for dropped bytes */
};

/* connection.c */
void connection_accept(struct http_listener *l);
/* Takes every step that is possible now. May be called at any time. */
void connection_advance(struct connection *c);
/* Closes at once. The memory lives until libuv's callback. */
void connection_drop(struct connection *c);
/* Checks the time bounds. */
void connection_check(struct connection *c, uint64_t now);
/* Whether a drain closes it at once: it waits between two requests. A client that has only connected is
 * about to send its first one, and would see a reset. */
bool connection_yields_to_drain(const struct connection *c);
/* Whether the client has begun its next request, and we have read nothing of it. The next turn of the
 * loop reads it, so a client cannot stay in this state. */
bool connection_has_unread_request(const struct connection *c);
/* How long the connection has waited, if it may be closed for the sake of another client: between
 * requests, within a head, after the last answer, or with an answer that the client does not read.
 * 0: it may not. */
uint64_t connection_spare_ms(const struct connection *c, uint64_t now);

/* output.c */
void output_flush(struct connection *c);
bool output_is_empty(const struct connection *c);
/* True if n more bytes may be kept until the client reads them. */
bool output_fits(const struct connection *c, size_t n);
void output_uncount(struct connection *c);
size_t output_bytes(const struct connection *c);
/* False if the kernel accepted no byte for too long. */
bool output_goes_forward(struct connection *c, uint64_t now);
void output_done(struct output *o);
/* Frees an unused buffer that is larger than `keep`. */
void buf_shrink(struct buf *b, size_t keep);

/* answer.c */
bool answer_add_header(struct buf *b, const char *name, const char *value);
extern const char answer_continue[];

/* server.c */
void server_connection_opened(struct http_server *s, struct connection *c);
/* Calls connection_advance() from the loop, after the current callers have returned. */
void server_later(struct http_server *s, struct connection *c);
enum room {
    ROOM_NONE, /* every connection is busy */
    ROOM_SOON, /* requests are here that we have not read; after that some connection may be idle */
    ROOM_MADE,
};
/* Closes the connections that wait longest, one of each 64 at most, so that others find room.
 * Connections of unix sockets give way only to each other. */
enum room server_make_room(struct http_server *s, bool for_unix);
/* Accepts the client with the next turn of the loop. */
void server_accept_soon(struct http_listener *l);
/* No memory to accept a client: tries again with the next tick. */
void server_accept_later(struct http_listener *l);
void server_connection_closed(struct http_server *s, struct connection *c);
