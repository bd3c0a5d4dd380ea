/* run/journal.h — the output of a run, in order, with times. It is written once; each reader has
 * its own position. Runs in: keeper.
 *
 * Invariants
 * JOURNAL-1 Memory holds at most JOURNAL_MEMORY bytes of a run. A longer journal moves to a file,
 *           which has no name until journal_keep().
 * JOURNAL-2 A record never changes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum { JOURNAL_MEMORY = 256 << 10 };

/* JOURNAL_FRAME: a frame of the program of a session (session/frame.h), for a cell.
 * JOURNAL_NETWORK: a connection of the program, as the JSON of network_record_json(). */
enum journal_kind { JOURNAL_STDOUT, JOURNAL_STDERR, JOURNAL_FRAME, JOURNAL_NETWORK, JOURNAL_KINDS };
enum { JOURNAL_STREAMS = JOURNAL_FRAME };

struct journal {
    struct buf memory; /* the whole journal while it is small; empty if there is a file */
    int fd;            /* -1 while in memory */
    int dir_fd;        /* the directory of the file; belongs to the caller */
    uint64_t bytes;    /* of all records with their heads: the position of the next one */
    uint64_t records;
    uint64_t stream_bytes[JOURNAL_KINDS];
};
struct journal_record {
    enum journal_kind kind;
    uint32_t number;  /* 1, 2, ... */
    uint64_t time_us; /* since the run started */
    struct buf bytes; /* belongs to the reader */
};

void journal_init(struct journal *j, int dir_fd);
void journal_done(struct journal *j);
[[nodiscard]] int journal_add(struct journal *j, enum journal_kind kind, uint64_t time_us,
                              const void *bytes, size_t n, struct err *e);

struct journal_reader {
    uint64_t at;
    uint32_t number;
};
/* Reads the next record into *r, whose buffer is reused. *ret_more is false at the present end. */
[[nodiscard]] int journal_next(const struct journal *j, struct journal_reader *at,
                               struct journal_record *r, bool *ret_more, struct err *e);
/* Appends the bytes of one stream, up to max. */
[[nodiscard]] int journal_collect(const struct journal *j, enum journal_kind kind, uint64_t max,
                                  struct buf *b, struct err *e);
/* The same, but a long stream is cut in the middle: max/2 bytes of its start, a newline, and max/2
 * bytes of its end. */
[[nodiscard]] int journal_both_ends(const struct journal *j, enum journal_kind kind, uint64_t max,
                                    struct buf *b, struct err *e);
/* Gives the file its name. Does nothing if there is no file. */
[[nodiscard]] int journal_keep(struct journal *j, const char *name, struct err *e);
/* Opens a kept journal for reading: from `bytes`, or from its file if bytes is NULL. */
[[nodiscard]] int journal_open(struct journal *j, const struct buf *bytes, int dir_fd,
                               const char *name, struct err *e);
