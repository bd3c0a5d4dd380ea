/* image/context.h — the state of a process that is not in its memory. Runs in: a session program. */
#pragma once

#include <fenv.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "image/image.h"

enum { IMAGE_SIGNALS = 64, IMAGE_TIMERS = 3 };

/* A signal's action as the kernel has it: the C library hides two of them. */
struct image_action {
    void *handler;
    unsigned long flags;
    void *restorer;
    uint64_t mask;
};

/* In the memory of the image, so that the process that became it finds it. */
struct image_context {
    void *jump[5]; /* of __builtin_setjmp */
    struct image_action actions[IMAGE_SIGNALS];
    uint64_t mask, pending;
    struct itimerval timers[IMAGE_TIMERS];
    stack_t alternate;
    fenv_t floats;
    mode_t mask_of_files;
    int *thread_id;
    void *robust;
    /* Filled by the process that becomes it. */
    uint64_t cookie;
    void *area;
    uint64_t area_bytes;
};

void image_context_save(struct image_context *c);
/* In the process that became the image. */
void image_context_restore(struct image_context *c);
/* Before a process becomes an image: no signal can arrive, and the kernel writes to none of its
 * memory. */
[[nodiscard]] int image_context_leave(char why[IMAGE_WHY]);
