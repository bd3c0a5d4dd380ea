/* run/result.h — the result of a run as JSON: the same fields on every surface. Runs in: keeper. */
#pragma once

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"
#include "run/journal.h"
#include "spec/isolation.h"
#include "spec/run_options.h"
#include "spec/verdict.h"

/* The fields that only the service has. */
struct result_service {
    uint64_t stdout_bytes, stderr_bytes;
    uint64_t queued_at_ms, finished_at_ms; /* Unix time; 0: not yet */
    uint64_t waited_ms;                    /* in the queue */
    const char *thread, *artifact, *batch; /* ids, or NULL */
    json_t *metadata, *extraction;         /* see struct run_spec; NULL: none */
};

struct result {
    const char *id, *language, *version; /* version NULL: unknown */
    enum verdict verdict;
    struct evidence evidence;
    struct usage usage;
    struct limits limits;
    bool network_limit; /* a cap of its network was met */
    struct isolation isolation;
    bool truncated[2];        /* stdout, stderr: the output limit cut the stream */
    const struct buf *files;  /* a bundle of outputs */
    const char *error;        /* the reason of internal_error and rejected; NULL: none */
    enum err_code error_code; /* of internal_error; ERR_NONE: unknown */
    uint64_t started_at_ms;   /* Unix time; 0: it did not start */
    const char *start;        /* start_word(); NULL: it did not start */
    /* NULL: there is none. The caller keeps the references. */
    json_t *compile;                      /* stage_result_json() */
    json_t *stages;                       /* the results of the stages of the caller */
    json_t *diagnosis;                    /* diagnosis_json() */
    json_t *tables;                       /* [{columns: [{name, type}], rows: [[…]], …}] */
    json_t *profile;                      /* profile_make() */
    json_t *network;                      /* network_json() */
    json_t *displays;                     /* [{data: {MIME type: value}, …}] (run/reports.h) */
    json_t *tests;                        /* tests_json() */
    enum test_runner test_runner;         /* the tests were expected of it */
    json_t *check;                        /* check_valid() */
    bool checks;                          /* a check was expected of it */
    const struct result_service *service; /* NULL: not a run of the service */
};

/* Every field but stdout and stderr. NULL if memory ran out. */
json_t *result_json(const struct result *r);
/* Adds "stdout", or another key. If the bytes are not UTF-8, the text is a readable form of them,
 * and "stdout_base64" has the exact bytes. */
void result_add_stream(json_t *object, const char *key, const struct buf *bytes);
/* Adds "stdout" and "stderr" of a journal, up to max bytes each. "stdout_cut": true says that there
 * is more. */
void result_add_journal(json_t *object, const struct journal *j, uint64_t max);
json_t *result_isolation(const struct isolation *iso);
/* [{name, status, size}] of a bundle of outputs. */
json_t *result_files(const struct buf *bundle);
/* {wall_ms, cpu_ms, memory_peak_bytes, pids_peak} */
json_t *result_usage(const struct usage *u);
/* "SIGKILL", or null for 0. */
json_t *result_signal(int number);
json_t *result_limits(const struct limits *limits);
json_t *result_limit_set(limit_set set);
json_t *result_layer_set(layer_set set);
/* "2026-01-31T12:00:00.123Z", or null for 0. */
json_t *result_time(uint64_t unix_ms);

/* A run in a list of runs. */
struct result_row {
    const char *id, *state;
    /* the rest may be NULL or 0 */
    const char *language, *verdict, *thread, *artifact, *batch, *surface, *key;
    int64_t created_ms, started_ms, finished_ms; /* Unix time */
    bool has_usage;
    int64_t wall_us, cpu_us, memory_peak;
};
json_t *result_row_json(const struct result_row *row);
