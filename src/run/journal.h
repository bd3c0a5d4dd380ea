/* run/journal.h — what a run printed, in order, with times: written once, read by many at their own pace.
 * Runs in: keeper.
 *
 * Invariants
 * J1 Memory holds at most JOURNAL_MEMORY bytes of a run; what is beyond goes to a file that has no name until it is kept.
 * J2 A record never changes once added; a reader is a position. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum { JOURNAL_MEMORY = 256 << 10 };

enum journal_kind { JOURNAL_STDOUT, JOURNAL_STDERR, JOURNAL_KINDS };

struct journal {
    struct buf memory; /* all of it while small; then empty */
    int fd;            /* -1 while in memory */
    int dir_fd;        /* where the file is made; the owner's */
    uint64_t bytes;    /* of records, heads included: where the next one goes */
    uint64_t records;
    uint64_t stream_bytes[JOURNAL_KINDS];
};
struct journal_record {
    enum journal_kind kind;
    uint32_t number;  /* 1, 2, ... */
    uint64_t time_us; /* since the run started */
    struct buf bytes; /* the reader's own */
};

void journal_init(struct journal *j, int dir_fd);
void journal_done(struct journal *j);
[[nodiscard]] int journal_add(struct journal *j, enum journal_kind kind, uint64_t time_us,
                              const void *bytes, size_t n, struct err *e);

struct journal_reader {
    uint64_t at;
    uint32_t number;
};
/* The next record into *r (whose buffer is reused). *ret_more is false at the end of what there is now. */
[[nodiscard]] int journal_next(const struct journal *j, struct journal_reader *at,
                               struct journal_record *r, bool *ret_more, struct err *e);
/* Appends what one stream said, up to max bytes. */
[[nodiscard]] int journal_collect(const struct journal *j, enum journal_kind kind, uint64_t max,
                                  struct buf *b, struct err *e);
/* The same, but of a long stream the first and the last half of max bytes, with a line end between them. */
[[nodiscard]] int journal_both_ends(const struct journal *j, enum journal_kind kind, uint64_t max,
                                    struct buf *b, struct err *e);
/* Gives the file a name in its directory; nothing to do while in memory. */
[[nodiscard]] int journal_keep(struct journal *j, const char *name, struct err *e);
/* A journal that was kept: from the database, or (bytes NULL) from the file. Read-only. */
[[nodiscard]] int journal_open(struct journal *j, const struct buf *bytes, int dir_fd,
                               const char *name, struct err *e);
