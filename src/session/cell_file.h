/* session/cell_file.h — the journal of the cell that runs, in a file that outlives the keeper.
 * Runs in: keeper. Each session has one such file; the next cell replaces the last one.
 *
 * Invariants
 * CELL_FILE-1 A byte of a pipe is in the pipe or in the file at every moment: splice(2) moves it.
 *             A keeper that is killed between any two instructions loses none and repeats none.
 * CELL_FILE-2 A file that could not be written to is empty: it never holds a part of a cell.
 * CELL_FILE-3 A reader believes no length: it reads the bytes that the file has. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/id.h"
#include "run/journal.h"

enum { CELL_FILE_PIECE = 16384 }; /* of output, at most */

struct cell_file {
    int fd; /* -1: there is none */
    uint64_t at;
};
#define CELL_FILE_NONE \
    (struct cell_file) \
    {                  \
        .fd = -1       \
    }

struct cell_file_head {
    char magic[8]; /* set by cell_file_begin() */
    uint32_t number;
    uint32_t awaits_input, reads_stdin; /* as in struct cell */
    uint32_t zero;
    int64_t started_ms;  /* Unix time */
    uint64_t started_us; /* clock_us() */
    char run[ID_SIZE];
    char actor[256], requester[256]; /* "": none */
};

void cell_file_done(struct cell_file *f);
/* A cell begins: the file holds it alone. */
void cell_file_begin(struct cell_file *f, struct cell_file_head *head);
void cell_file_set_awaits_input(struct cell_file *f, bool awaits);
void cell_file_add(struct cell_file *f, enum journal_kind kind, uint64_t time_us, const void *bytes,
                   size_t n);
/* Moves output from a pipe into the file, and copies it to `out`. The number of bytes, 0 at the end
 * of the pipe, or -1 with errno. */
ssize_t cell_file_splice(struct cell_file *f, enum journal_kind kind, uint64_t time_us, int pipe_fd,
                         char out[CELL_FILE_PIECE]);
/* Only the first `kept` of the n bytes that were spliced last stay. */
void cell_file_cut(struct cell_file *f, size_t n, size_t kept);

/* Reads the file from its start. 1, or 0 if it holds no cell. */
int cell_file_read_head(struct cell_file *f, struct cell_file_head *ret);
/* The next record, in *ret. 1, or 0 at the end; then cell_file_add() goes on there. */
int cell_file_next(struct cell_file *f, struct journal_record *ret);
