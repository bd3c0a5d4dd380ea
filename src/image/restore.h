/* image/restore.h — the last instructions of a process that becomes an image. Runs in: a session
 * program, from a copy in memory that is free in both layouts. */
#pragma once

#include "image/context.h"

enum { RESTORE_ARGS = 6, RESTORE_FAILED = 70 /* the exit status: EX_SOFTWARE */ };
#define RESTORE_SET_THREAD 0x1002L /* ARCH_SET_FS */

/* One system call. */
struct restore_step {
    long number, args[RESTORE_ARGS];
    long expected;
    long is_checked;
};

struct restore_plan {
    const struct restore_step *steps;
    uint64_t n_steps;
    struct restore_step thread;    /* sets the thread pointer, its second argument */
    struct restore_step end;       /* exits, if a step fails */
    struct image_context *context; /* there once the steps are done */
    uint64_t cookie;
    void *area;
    uint64_t area_bytes;
};

/* The bytes of the code, which runs at any address. */
size_t restore_code_bytes(void);
void restore_copy_code(void *to);
/* Runs the copy on a stack of its own. */
_Noreturn void restore_run(void *code, void *stack_top, const struct restore_plan *plan);
