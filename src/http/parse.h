/* http/parse.h — bytes to the head and body of a request; knows no sockets.
 * Runs in: keeper. The bytes are a stranger's.
 *
 * llhttp splits the head; what it lets pass and another server might read differently is refused here: lines are cut a
 * second time by our own rules, and both must agree. Bodies are ours alone: a counted one needs no parser, and a chunked one
 * a stricter parser than llhttp's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/http.h"

/* Why the server itself answers. */
struct refusal {
    int status;
    char detail[240];
};
/* Always -1. */
[[gnu::cold, gnu::format(printf, 3, 4)]] int refuse(struct refusal *r, int status, const char *fmt,
                                                    ...);

/* Looks for the end of a head while it arrives, whatever the pieces. Starts as zeros. */
struct head_scan {
    size_t at;    /* seen so far */
    size_t from;  /* where the request line starts: after an empty line, if one was sent */
    size_t line;  /* where the line being read starts */
    size_t lines; /* complete ones; the first is the request line */
};
/* `bytes` are all of the head's, those of earlier calls included. 1: the head is bytes[from, at). 0: more must come. */
[[nodiscard]] int head_scan(struct head_scan *s, const char *bytes, size_t n,
                            const struct http_limits *limits, struct refusal *r);

/* What a head says, and the memory its request points into. */
struct head {
    struct buf text; /* the head, cut into strings in place; behind it the decoded path */
    struct http_header *headers;
    size_t headers_cap;
    bool http_1_0;
    bool asks_close, asks_keep_alive;
    bool wants_continue; /* Expect: 100-continue */
    bool chunked;
    uint64_t length; /* of a body that is not chunked; 0 when there is none */
};
void head_done(struct head *h);
bool head_keeps_alive(const struct head *h);
/* Fills method, target, path, query and headers of *q, which point into *h until its next use. The bytes went through
 * head_scan(), which counted the lines. The method is known also when the rest is refused. */
[[nodiscard]] int head_parse(struct head *h, const char *bytes, size_t n, size_t lines,
                             struct http_request *q, struct refusal *r);

/* A body in chunks. Starts as zeros. Extensions and trailers are checked and dropped. */
struct chunks {
    uint64_t left; /* of this chunk */
    size_t line;   /* bytes of this line, or of all trailers */
    int state;
    bool over; /* the last byte of the body was seen */
};
/* Adds to *body what is data among the bytes. Returns how many were used (fewer than n only at the body's end), or -1. */
[[nodiscard]] ssize_t chunks_feed(struct chunks *c, const char *bytes, size_t n, struct buf *body,
                                  size_t body_max, struct refusal *r);

/* Letters, digits and !#$%&'*+-.^_`|~ : of methods and names of headers. */
bool is_token_byte(char byte);
/* Of a hexadecimal digit; -1 when it is none. */
int hex_value(char b);

enum { DECODE_BAD = -1, DECODE_FULL = -2 };
/* %41 to A, and with plus_is_space '+' to ' '; ends with a NUL. Returns the length, DECODE_BAD for a bad escape or a NUL,
 * DECODE_FULL when out is too small. */
[[nodiscard]] ssize_t percent_decode(const char *s, size_t n, bool plus_is_space, char *out,
                                     size_t out_size);
