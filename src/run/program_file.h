/* run/program_file.h — a compiled program as bytes: how it is kept, and how it goes from one process to another that
 * keeps it. Runs in: keeper, main; pure.
 *
 * Invariant: a hash is over the key and every byte behind it. It tells damage and mix-ups, not forgery: whoever may write
 * where programs are kept can make one that fits, so nobody but their owner may. */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "run/stages.h"
#include "spec/bundle.h"

#define PROGRAM_FILE_MAX (BUNDLE_STREAM_MAX + (1ULL << 20))

/* A program that is to be written, or was read. */
struct program_file {
    struct preparation how;
    struct buf made; /* a bundle of outputs */
};
void program_file_done(struct program_file *f);

[[nodiscard]] int program_file_encode(const struct program_file *f, const char *key,
                                      struct buf *ret, struct err *e);
/* Whether the bytes are all of the program that the key is of. */
bool program_file_whole(const struct buf *b, const char *key);
/* False, and *ret untouched, when they are not. */
bool program_file_decode(const struct buf *b, const char *key, struct program_file *ret);
/* The same of a file, from its start. */
bool program_file_read(int fd, const char *key, struct program_file *ret);
