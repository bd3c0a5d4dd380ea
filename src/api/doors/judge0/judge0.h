/* api/doors/judge0/judge0.h — private to the door of Judge0: its languages, submissions and
 * results. A submission is a run: its token is the id of the run, and the fields that only Judge0 has
 * are in the metadata of the run. So the history has everything that an answer needs, also after a
 * restart. Runs in: keeper.
 *
 * Invariants
 * JUDGE0-1 The keeper connects to no callback. A callback is a run of its own, by the same key, whose
 *          network is the one host of the URL: the porter refuses private addresses, and the
 *          operator's maximum holds. */
#pragma once

#include "api/kernel/api.h"

/* ---- languages (judge0_languages.c) ---- */
enum { JUDGE0_MULTI_FILE = 89, JUDGE0_NAME_SIZE = 80 };
/* The language of an id, current or old; NULL: unknown. JUDGE0_MULTI_FILE is bash. */
const struct language *judge0_language(int64_t id);
/* "Python (3.11.2)" */
const char *judge0_language_name(const struct engine *engine, int64_t id,
                                 char out[JUDGE0_NAME_SIZE]);
extern const struct api_route judge0_info_routes[];

/* ---- statuses (judge0_languages.c) ---- */
enum judge0_status {
    JUDGE0_QUEUED = 1,
    JUDGE0_PROCESSING,
    JUDGE0_ACCEPTED,
    JUDGE0_WRONG_ANSWER,
    JUDGE0_TIME_LIMIT,
    JUDGE0_COMPILATION,
    JUDGE0_SIGSEGV,
    JUDGE0_SIGXFSZ,
    JUDGE0_SIGFPE,
    JUDGE0_SIGABRT,
    JUDGE0_NZEC,
    JUDGE0_OTHER,
    JUDGE0_INTERNAL,
    JUDGE0_EXEC_FORMAT,
    JUDGE0_STATUS_COUNT_
};
json_t *judge0_status_json(enum judge0_status s);

/* ---- submissions (judge0_request.c) ---- */
/* The limits of a submission: defaults and maxima of Judge0. */
struct judge0_limit {
    const char *name;
    double def, least, most;
    bool is_seconds; /* a number with a fraction */
    bool above;      /* `least` itself is refused */
};
extern const struct judge0_limit judge0_limits[];
/* Makes the JSON of POST /v1/runs. Returns NULL and fills *ret_errors with {field: [message]} if the
 * submission is refused. */
json_t *judge0_request(const struct api *api, const struct api_identity *who,
                       const json_t *submission, bool base64, json_t **ret_errors);
/* The field of a submission that a field of /v1/runs came from. */
const char *judge0_field(const char *field);
json_t *judge0_errors(const char *field, const char *message);

/* ---- additional files (unzip.c) ---- */
enum { UNZIP_FILES_MAX = 500, UNZIP_BYTES_MAX = 16 << 20 };
/* Adds the files of a zip to a list for "files" of /v1/runs. Names that lead out of the directory,
 * links and more than UNZIP_BYTES_MAX bytes are refused. */
[[nodiscard]] int judge0_unzip(const char *bytes, size_t n, json_t *files, struct err *e);

/* ---- results (judge0_result.c) ---- */
/* The fields of a submission that an answer has: a bit for each row of a table. */
typedef uint64_t judge0_fields;
#define JUDGE0_TOKEN_ONLY ((judge0_fields)1)
/* From the query: "stdout,time", "*", or NULL for the default. */
[[nodiscard]] int judge0_fields_read(const char *text, judge0_fields *ret, struct err *e);

struct judge0_view {
    const char *id;
    enum run_state state;
    json_t *request, *result; /* result NULL: not yet */
    const struct journal *journal;
    const struct buf *files;
    int64_t created_ms, started_ms, finished_ms;
    double time_s,
        memory_kb; /* of all runs of a submission with several; negative: of the result */
    const struct engine *engine;
};
/* *ret_error: an output is not UTF-8, and base64 was not asked for. */
json_t *judge0_submission(const struct judge0_view *v, judge0_fields wanted, bool base64,
                          bool *ret_not_text);
enum judge0_status judge0_status_of(const struct judge0_view *v);
extern const char judge0_not_text[], judge0_some_not_text[];

/* ---- callbacks (judge0_callback.c) ---- */
/* The request of the run that sends `body` (NULL: none yet) to the URL. */
json_t *judge0_callback_request(const char *url, const json_t *body, struct err *e);

extern const struct api_route judge0_routes[], judge0_read_routes[];
