/* examiner/question.h — a question to a reader: the output of a failed program, or a report.
 * Written by: keeper. Read by: reader, which is the same program: the bytes are trusted. */
#pragma once

#include "base/buf.h"
#include "diagnose/core/diagnose.h"
#include "spec/run_options.h"

enum {
    QUESTION_MAX = 64 << 20, /* bytes; the texts of `belljar explain` are the largest */
    QUESTION_SOURCES_MAX = 64,
    QUESTION_COMMANDS_MAX = 4096,
};

struct question {
    uint64_t id; /* the answer repeats it */
    bool explain;
    /* For a diagnosis. `available` says only whether the reader may ask for modules, and hot_line
     * comes from the report. */
    struct diagnose_input input;
    /* A report of our own programs in the jar, and the parts of it to read. */
    const char *report;
    size_t report_len;
    bool tables, profile, displays;
    /* The output (input.printed) is read as the report of this runner. */
    enum test_runner test_runner;
    bool check; /* the output is read as the report of a check */
};

/* Adds a head with the length, and the question. */
[[nodiscard]] int question_pack(const struct question *q, struct buf *out, struct err *e);

/* A question that points into the bytes it was unpacked from. */
struct question_read {
    struct question question;
    struct source_file sources[QUESTION_SOURCES_MAX];
    struct evidence evidence;
    struct limits limits;
    struct usage usage;
    char **commands;
    bool may_ask; /* for modules */
};
/* The bytes without the head. */
[[nodiscard]] int question_unpack(const char *bytes, size_t n, struct question_read *ret,
                                  struct err *e);
void question_read_done(struct question_read *r);
