/* examiner/reader.h — the process that reads a guest's text: one question, one answer, and its end.
 * Runs in: reader.
 *
 * READER-1 A reader has memory and one socket. Its filter allows no call that opens, connects,
 *          executes, signals or makes executable memory; it is applied before the first byte is
 *          read.
 * READER-2 A reader serves one question. So no reader has bytes of two runs.
 * READER-3 A reader ends: its CPU time and its memory are limited, and its parent kills it when
 *          the keeper closes the socket. */
#pragma once

#include <sys/types.h>

#include "diagnose/core/diagnose.h"
#include "examiner/question.h"

/* From a reader to the keeper: a head, and `length` bytes. */
struct reader_frame {
    uint32_t kind, length;
};
enum {
    FRAME_ANSWER = 1, /* answer_pack() */
    FRAME_MODULE = 2, /* the name of a module; the keeper answers with one byte, 1 if it exists */
};
enum { FRAME_MODULE_MAX = 64, FRAME_MODULES_MAX = 256 };
enum { READER_UNCONFINED = 3 }; /* its exit status if it could not be confined */

/* The calling process, a fork without threads, becomes a reader. g NULL: it makes its own. */
[[gnu::noreturn]] void reader_run(int fd, pid_t parent, struct diagnoser *g);

/* Does the work of a question without one, so that the answer to a real one is not late. In the
 * examiner, with a report: the dynamic linker binds the functions of each library at their first
 * call. In a reader: the kernel gives a fork its pages at their first use. */
void reader_rehearse(struct diagnoser *g, const char *report);

/* For tests: called in the reader, once it is confined and has its question. NULL: not called. */
extern void (*reader_stand_in)(const struct question *q);
