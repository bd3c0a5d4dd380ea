/* api/runs/checker.h — the checker of a batch: a program that decides whether an output is right.
 * Runs in: keeper. It is a run of its own in a jar of its own, which starts after the judged program
 * has ended well.
 *
 * Invariants
 * CHECKER-1 The judged program reaches its checker only by the bytes of its stdout, in a file. No
 *           jar, process, variable or other file is shared.
 * CHECKER-2 A checker decides only if it ends well and its stdout begins with "pass" or "fail". Every
 *           other end is a failure of the checker, and says nothing about the judged program. */
#pragma once

#include "api/kernel/api.h"
#include "run/json.h"

/* The surface of its runs, in the history. */
#define CHECKER_SURFACE "checker"

extern const struct api_field checker_fields[], checker_reply[];

#define CHECKER_OUTCOME_TABLE(X) X(CHECKER_PASS, "pass") X(CHECKER_FAIL, "fail") X(CHECKER_ERROR, "error")
enum checker_outcome {
#define X(id, word) id,
    CHECKER_OUTCOME_TABLE(X)
#undef X
        CHECKER_OUTCOME_COUNT_
};

/* The request for one run of a checker: its own fields, and the files `input`, `expected` (if there is
 * one) and `got`. `run` is the request of the judged program with its stdin. NULL: no memory. */
json_t *checker_request(const json_t *checker, const json_t *run, const json_t *expected,
                        const struct buf *got);

/* From the end of its run; x NULL: it did not start, and e is the reason. *ret_json is the field
 * `checker` of the result. */
enum checker_outcome checker_read(const struct run *x, const struct err *e, json_t **ret_json);
/* From the output of a checker that ended well. *ret_reason is its part after the word. */
enum checker_outcome checker_parse(const char *text, size_t n, const char **ret_reason,
                                   size_t *ret_n);

/* Replaces `artifact` in the checker of the body by the text and language of the artifact, then calls
 * next(), with an error or without one. Without an artifact it calls next() at once. */
void checker_resolve(struct api_call *c, void (*next)(struct api_call *c, const struct err *e));
