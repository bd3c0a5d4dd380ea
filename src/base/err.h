/* base/err.h — how a function reports a failure.
 * Runs in: every process. No allocation, safe after fork, fits in one message. */
#pragma once

#include <stddef.h>

/* One row per failure a caller can meet. */
#define ERR_TABLE(X) /* id, wire name, http, exit, blame */             \
    X(ERR_NONE,        "none",        200, 0,   BLAME_NOBODY)           \
    X(ERR_USAGE,       "usage",       400, 64,  BLAME_CALLER)           \
    X(ERR_BAD_REQUEST, "bad_request", 400, 125, BLAME_CALLER)           \
    X(ERR_NOT_FOUND,   "not_found",   404, 125, BLAME_CALLER)           \
    X(ERR_GONE,        "gone",        410, 125, BLAME_CALLER)           \
    X(ERR_TOO_LARGE,   "too_large",   413, 125, BLAME_CALLER)           \
    X(ERR_CONFLICT,    "conflict",    409, 125, BLAME_CALLER)           \
    X(ERR_DENIED,      "denied",      403, 125, BLAME_CALLER)           \
    X(ERR_NO_KEY,      "unauthorized", 401, 125, BLAME_CALLER)          \
    X(ERR_METHOD,      "method_not_allowed", 405, 125, BLAME_CALLER)    \
    X(ERR_MEDIA_TYPE,  "unsupported_media_type", 415, 125, BLAME_CALLER) \
    X(ERR_QUOTA,       "quota",       507, 125, BLAME_CALLER)           \
    X(ERR_STORAGE,     "storage_full", 507, 125, BLAME_HOST)            \
    X(ERR_BUSY,        "busy",        503, 125, BLAME_HOST)             \
    X(ERR_UNAVAILABLE, "unavailable", 503, 125, BLAME_HOST)             \
    X(ERR_KERNEL,      "kernel",      500, 125, BLAME_HOST)             \
    X(ERR_PROTOCOL,    "protocol",    500, 125, BLAME_HOST)             \
    X(ERR_NO_MEMORY,   "no_memory",   500, 125, BLAME_HOST)

enum err_blame { BLAME_NOBODY, BLAME_CALLER, BLAME_HOST };

enum err_code {
#define X(id, name, http, exit_status, blame) id,
    ERR_TABLE(X)
#undef X
        ERR_COUNT_
};

enum { ERR_TEXT_MAX = 240 };

struct err {
    enum err_code code;      /* stable; clients may switch on it */
    int sys;                 /* errno, or 0 */
    char text[ERR_TEXT_MAX]; /* outermost context first; for people, never parsed */
};

/* Always -1, so that `return err_set(...)` cannot look like success. With sys != 0 the
 * system's own words are appended: "mount /usr: Permission denied". */
[[nodiscard, gnu::cold, gnu::format(printf, 4, 5)]]
int err_set(struct err *e, enum err_code code, int sys, const char *fmt, ...);

/* "no memory for a run". Always -1. */
[[nodiscard, gnu::cold]]
int err_no_memory(struct err *e, const char *purpose);

/* Puts context in front of the text: "start the jar: " + text. Always -1. */
[[nodiscard, gnu::cold, gnu::format(printf, 2, 3)]]
int err_wrap(struct err *e, const char *fmt, ...);

const char *err_name(enum err_code code);
int err_exit_status(enum err_code code);
int err_http_status(enum err_code code);
enum err_blame err_blame(enum err_code code);

/* The message for clients. A failure of the host may name files of the host, and those are for the
 * log alone. A path in the failure of a caller is one of the caller's own. */
const char *err_shown(const struct err *e, char *out, size_t out_size);
/* The same; the text lives as long as the block it stands in. */
#define ERR_SHOWN(e) err_shown((e), (char[ERR_TEXT_MAX]){ 0 }, ERR_TEXT_MAX)
