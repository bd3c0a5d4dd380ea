/* examiner/answer.h — the findings of a reader. Written by: reader. Read by: keeper.
 *
 * ANSWER-1 A reader has read a guest's bytes, so its answer is a stranger's: every length, number
 *          and text is checked, and an answer with one wrong field is no answer. */
#pragma once

#include <jansson.h>

#include "base/buf.h"
#include "diagnose/core/diagnose.h"

enum { ANSWER_MAX = 24 << 20 }; /* bytes; the tables of a report are the largest part */

struct answer {
    uint64_t id;                 /* of the question */
    struct diagnosis *diagnosis; /* on the heap; NULL: none */
    json_t *tables, *profile;    /* NULL: none. The profile is profile_reduce()'s. */
    json_t *displays;            /* NULL: none */
    json_t *tests;               /* tests_json(); NULL: none */
    json_t *check;               /* check_valid(); NULL: none */
};
void answer_done(struct answer *a);

[[nodiscard]] int answer_pack(const struct answer *a, struct buf *out, struct err *e);
/* The answer to the question `id`. */
[[nodiscard]] int answer_unpack(const char *bytes, size_t n, uint64_t id, struct answer *ret,
                                struct err *e);
