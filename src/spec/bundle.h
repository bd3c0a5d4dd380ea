/* spec/bundle.h — files that go into a jar, or come out of it, as one stream of bytes.
 * Written by: main (in), collector (out). Read by: the jar's init (in), keeper and main (out).
 * Layout of an entry: u32 name length, u16 mode, u16 status, u64 size, name, bytes, in the byte order
 * of the machine. The reader trusts no number in it: it checks names again and bounds sizes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum {
    BUNDLE_NAME_MAX = 1024, /* bytes in one name */
    BUNDLE_PART_MAX = 255,  /* bytes between two slashes */
    BUNDLE_FILES_MAX = 10000,
};
#define BUNDLE_FILE_MAX_BYTES (16ULL << 20) /* in a request; elsewhere a file may have all bytes */
#define BUNDLE_MAX_BYTES      (64ULL << 20)
/* The largest stream: the bytes of all files, and a head and a name for each. */
#define BUNDLE_STREAM_MAX     (BUNDLE_MAX_BYTES + (uint64_t)BUNDLE_FILES_MAX * (BUNDLE_NAME_MAX + 64))

/* A bit of the mode: the program gets the file, and its compiler does not. */
enum { BUNDLE_RUN_ONLY = 01000 };

struct bundle_head {
    uint32_t name_len;
    uint16_t mode;   /* S_IFDIR is set for a directory, which has no bytes; BUNDLE_RUN_ONLY */
    uint16_t status; /* an enum output_status; on the way in OUTPUT_OK */
    uint64_t size;
};

/* The result for a requested output. */
#define OUTPUT_STATUS_TABLE(X)                                          \
    X(OUTPUT_OK,        "ok",        "fetched")                         \
    X(OUTPUT_MISSING,   "missing",   "the program did not create it")     \
    X(OUTPUT_NOT_A_FILE,"not_a_file","it is not a regular file")        \
    X(OUTPUT_TOO_LARGE, "too_large", "all files together have up to 64 MiB, and there are up to 10,000") \
    X(OUTPUT_REFUSED,   "refused",   "it could not be read")

enum output_status {
#define X(id, word, why) id,
    OUTPUT_STATUS_TABLE(X)
#undef X
        OUTPUT_STATUS_COUNT_
};
const char *output_status_word(enum output_status s);
const char *output_status_why(enum output_status s);

/* A name inside /sandbox: relative, not empty, no "." or ".." part, no NUL, bounded. */
[[nodiscard]] int bundle_name_check(const char *name, size_t len, struct err *e);

/* The name of an output: the same, or OUTPUT_IN_TMP followed by such a name. */
#define OUTPUT_IN_TMP "/tmp/"
[[nodiscard]] int output_name_check(const char *name, size_t len, struct err *e);
bool output_is_in_tmp(const char *name);

[[nodiscard]] int bundle_add(struct buf *b, const char *name, uint32_t mode, const void *bytes,
                             size_t size, struct err *e);
/* Only the head; the caller adds size bytes. */
[[nodiscard]] int bundle_add_head(struct buf *b, const char *name, enum output_status status,
                                  uint32_t mode, uint64_t size, struct err *e);

/* Steps through a bundle in memory. *ret_more is false at the end; a malformed entry is an
 * error. */
struct bundle_entry {
    const char *name; /* not terminated */
    const char *bytes;
    struct bundle_head head;
};
[[nodiscard]] int bundle_next(const struct buf *b, size_t *pos, struct bundle_entry *ret_entry,
                              bool *ret_more, struct err *e);
/* The same for a bundle of outputs. A reader that makes files by the names uses bundle_next(), whose
 * names stay in their directory. */
[[nodiscard]] int bundle_next_output(const struct buf *b, size_t *pos,
                                     struct bundle_entry *ret_entry, bool *ret_more, struct err *e);
bool bundle_is_directory(const struct bundle_entry *f);
bool bundle_is_named(const struct bundle_entry *f, const char *name);
