/* spec/live_file.h — requests about files of a jar that runs, and their answers as bytes.
 * Written by: clerk. Read by: keeper, which believes no number in it.
 *
 * An answer is a payload and one last record. The payload of a list is one record for each file,
 * followed by its name; that of a read is the bytes of the file. Without a last record the clerk
 * did not finish. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum live_file_operation { LIVE_LIST, LIVE_READ, LIVE_WRITE, LIVE_REMOVE, LIVE_OPERATIONS_ };

enum {
    LIVE_FILE_BYTES_MAX = 16 << 20, /* of one file, in either direction */
    LIVE_FILES_LISTED_MAX = 10000,
    LIVE_ANSWER_MAX = 24 << 20, /* the largest answer: a list of the longest names is 11 MiB */
};

/* The sentence follows "'NAME' in /sandbox". */
#define LIVE_FILE_STATUS_TABLE(X) /* id, error, sentence */                                        \
    X(LIVE_DONE,          ERR_NONE,      "is done")                                                \
    X(LIVE_CUT,           ERR_NONE,      "has more files than a list may have")                    \
    X(LIVE_MISSING,       ERR_NOT_FOUND, "does not exist: GET …/files lists the files")            \
    X(LIVE_NOT_A_FILE,    ERR_CONFLICT,  "is not a regular file, or its path leads over a symbolic link: only regular files in real directories are accepted") \
    X(LIVE_IS_DIRECTORY,  ERR_CONFLICT,  "is a directory: GET …/files?path= lists it")             \
    X(LIVE_NOT_DIRECTORY, ERR_CONFLICT,  "has a file in place of a directory in its path: remove that file first") \
    X(LIVE_NOT_EMPTY,     ERR_CONFLICT,  "is a directory with files: remove them first")           \
    X(LIVE_TOO_LARGE,     ERR_TOO_LARGE, "is too large: a file may have up to 16777216 bytes")     \
    X(LIVE_NO_DISK,       ERR_QUOTA,     "does not fit: the session has reached its limit 'disk'") \
    X(LIVE_NO_FILES,      ERR_QUOTA,     "does not fit: the session has reached its limit 'files'") \
    X(LIVE_NO_MEMORY,     ERR_QUOTA,     "does not fit: its bytes are memory of the session, which would exceed its limit 'memory'") \
    X(LIVE_REFUSED,       ERR_CONFLICT,  "cannot be used: the program of the session has taken away the right to it")

enum live_file_status {
#define X(id, code, sentence) id,
    LIVE_FILE_STATUS_TABLE(X)
#undef X
        LIVE_FILE_STATUS_COUNT_
};

struct live_file_record {
    uint32_t name_len; /* of a file in a list; otherwise 0 */
    uint16_t status;   /* of the last record; otherwise LIVE_DONE */
    uint16_t is_last;
    uint32_t mode; /* as in struct stat */
    uint32_t zero;
    uint64_t size; /* of the file; in the last record of the payload */
    int64_t mtime_ms;
};

/* Finds the last record. ERR_UNAVAILABLE if there is none. A status that is an error becomes one,
 * with the name in its text. */
[[nodiscard]] int live_answer_read(const struct buf *answer, const char *name,
                                   struct live_file_record *ret_last, struct err *e);

/* Steps through the payload of a list. False at its end, and at the first record that is not
 * right. */
struct live_file_row {
    struct live_file_record record;
    const char *name; /* not terminated; a name of bundle_name_check() */
};
bool live_list_next(const struct buf *answer, size_t *pos, struct live_file_row *ret);
