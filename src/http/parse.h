/* http/parse.h — bytes to the head and body of a request, or of an answer; knows no sockets. Runs in:
 * keeper. The bytes are untrusted.
 *
 * llhttp splits the head. This code refuses heads that llhttp accepts but another server might read
 * differently: it splits the lines a second time by its own rules, and both results must agree.
 * llhttp does not read bodies. A counted body needs no parser, and chunks get a stricter parser
 * than llhttp's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/http.h"

/* The server's own error answer. */
struct refusal {
    int status;
    char detail[240];
};
/* Always -1. */
[[gnu::cold, gnu::format(printf, 3, 4)]] int refuse(struct refusal *r, int status, const char *fmt,
                                                    ...);

/* Searches for the end of a head while it arrives in pieces. Starts as zeros. */
struct head_scan {
    size_t at;    /* bytes seen so far */
    size_t from;  /* start of the request line, after an empty line if one was sent */
    size_t line;  /* start of the current line */
    size_t lines; /* complete lines; the first is the request line */
};
/* `bytes` is the head so far, including the bytes of earlier calls. 1: the head is bytes[from, at).
 * 0: it is not complete. */
[[nodiscard]] int head_scan(struct head_scan *s, const char *bytes, size_t n,
                            const struct http_limits *limits, struct refusal *r);

/* A parsed head, and the memory that its request points into. */
struct http_head {
    struct buf text; /* the head, split into strings in place, and behind it the decoded path */
    struct http_header *headers;
    size_t headers_cap;
    bool http_1_0;
    bool asks_close, asks_keep_alive;
    bool wants_continue; /* Expect: 100-continue */
    bool chunked;
    uint64_t length; /* of a body without chunks; 0 if there is none */
};
void head_done(struct http_head *h);
bool head_keeps_alive(const struct http_head *h);
/* Fills method, target, path, query and headers of *q, which point into *h until its next use. The
 * bytes have passed head_scan(), which counted the lines. The method is set even if the rest is
 * refused. */
[[nodiscard]] int head_parse(struct http_head *h, const char *bytes, size_t n, size_t lines,
                             struct http_request *q, struct refusal *r);

/* The head of an answer of another server; its strings point into the struct http_head. */
struct answer_head {
    int status;
    const struct http_header *headers;
    size_t n_headers;
    bool until_close; /* neither a length nor chunks */
};
/* As head_parse(). The text of a refusal is for people. */
[[nodiscard]] int head_parse_answer(struct http_head *h, const char *bytes, size_t n, size_t lines,
                                    struct answer_head *ret, struct refusal *r);

/* A body in chunks. Starts as zeros. Extensions and trailers are checked and dropped. */
struct chunks {
    uint64_t left; /* bytes left in this chunk */
    size_t line;   /* bytes of this line, or of all trailers */
    int state;
    bool over; /* the last byte of the body was read */
};
/* Adds the data among the bytes to *body. Returns the number of bytes used (less than n only at the
 * end of the body), or -1. */
[[nodiscard]] ssize_t chunks_feed(struct chunks *c, const char *bytes, size_t n, struct buf *body,
                                  size_t body_max, struct refusal *r);

/* Letters, digits and !#$%&'*+-.^_`|~ : the bytes of methods and header names. */
bool is_token_byte(char byte);
/* The value of a hexadecimal digit; -1 for any other byte. */
int hex_value(char b);

enum { DECODE_BAD = -1, DECODE_FULL = -2 };
/* Decodes %41 to A and, with plus_is_space, '+' to ' '. Adds a NUL. Returns the length, DECODE_BAD
 * for a bad escape or a NUL, DECODE_FULL if out is too small. */
[[nodiscard]] ssize_t percent_decode(const char *s, size_t n, bool plus_is_space, char *out,
                                     size_t out_size);
