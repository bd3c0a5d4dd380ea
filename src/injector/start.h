/* injector/start.h — starts the injector: the process that holds the secrets and speaks TLS for runs.
 * Runs in: supervisor, or main of `belljar run`. Neither reads the value of a secret, because both
 * fork other processes. */
#pragma once

#include <sys/types.h>

#include "base/err.h"

/* Moves the variables BELLJAR_SECRET_NAME of this process into a memory file, and wipes them.
 * *ret_fd is -1 if there are none. */
[[nodiscard]] int injector_take_environment(int *ret_fd, struct err *e);

struct injector_setup {
    const char *grants; /* network/inject.h */
    const char *file;   /* with lines NAME=VALUE; NULL or "": none */
    int environment_fd; /* injector_take_environment(); -1: none */
    uid_t uid;
};
struct injector_process {
    pid_t pid; /* 0: none */
    int fd;    /* for the porter */
};
/* The file belongs to us or to root, and nobody else may read it. */
[[nodiscard]] int injector_check_file(const char *path, struct err *e);
/* Waits until the injector has read everything and given up its rights. Fails if a secret of the grants
 * has no value. It ends when the other end of fd is closed. */
[[nodiscard]] int injector_start(const struct injector_setup *s, struct injector_process *ret,
                                 struct err *e);
/* Ends it, and waits for that. */
void injector_stop(struct injector_process *p);
