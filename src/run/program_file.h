/* run/program_file.h — a compiled program as bytes: the format of a file in the cache, and of the
 * pipe from a keeper to the process that keeps the cache. Runs in: keeper, main; pure.
 *
 * PROGRAM_FILE-1 The hash covers the key and all bytes behind the hash. It detects damage and
 * confusion, not forgery: a user who may write to the cache can make a file with a correct hash.
 * Therefore only the owner may write there. */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "run/stages.h"
#include "spec/bundle.h"

#define PROGRAM_FILE_MAX (BUNDLE_STREAM_MAX + (1ULL << 20))

struct program_file {
    struct stage_result result;
    struct buf products; /* a bundle of outputs */
};
void program_file_done(struct program_file *f);

[[nodiscard]] int program_file_encode(const struct program_file *f, const char *key,
                                      struct buf *ret, struct err *e);
/* Whether the bytes are one complete program with this key. */
bool program_file_is_complete(const struct buf *b, const char *key);
/* Returns false and leaves *ret untouched if they are not. */
bool program_file_decode(const struct buf *b, const char *key, struct program_file *ret);
/* The same for a file, from its start. */
bool program_file_read(int fd, const char *key, struct program_file *ret);
