/* bench/session_bench.h — the common part of the sessions part: one session of a service. Runs in: the
 * process that measures. A cell that fails ends the benchmark. */
#pragma once

#include "bench/bench.h"
#include "bench/load.h"

struct bench_session {
    char path[64], exec_path[80];
};
/* Creates a session, over this connection; the time of the request. */
double bench_session_new(struct load_client *v, const char *language, struct bench_session *ret);
void bench_session_end(struct load_client *v, const struct bench_session *s);
/* Runs a cell. *ret_answer may be NULL. `json` is the body of the request. */
double bench_session_cell(struct load_client *v, const struct bench_session *s, const char *json,
                          json_t **ret_answer);

/* The private memory of idle sessions. */
void session_memory(struct bench *b, struct load_client *v, const struct bench_service *s);
/* A session of 100 MB: wakes, rollbacks, its image, and a hundred copies of it. */
void images_kept(struct bench *b, struct load_client *v, const struct bench_service *s);
/* A service with a thousand sleeping sessions. */
void images_sleepers(struct bench *b);
/* Many idle sessions and some busy ones, beside one alone. */
void session_crowd(struct bench *b);
