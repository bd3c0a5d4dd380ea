/* base/auto.h — cleanup attributes: a scope closes the things that it opened.
 * Runs in: every process. close() is never retried: on Linux the descriptor is gone even after
 * EINTR. */
#pragma once

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#define autofree  __attribute__((cleanup(auto_free_)))
#define autoclose __attribute__((cleanup(auto_close_)))
#define autodir   __attribute__((cleanup(auto_closedir_)))

/* scoped(x): the variable of type `struct x` is released by x_done(). */
#define scoped(type) __attribute__((cleanup(type##_done))) struct type

static inline void auto_free_(void *p)
{
    free(*(void **)p);
}

/* Closes *fd if it is open and forgets it, so that closing twice is harmless. */
static inline void fd_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

static inline void auto_close_(int *fd)
{
    fd_close(fd);
}

static inline void auto_closedir_(DIR **d)
{
    if (*d)
        (void)closedir(*d);
}

/* Hands a descriptor over: the caller owns it, *fd forgets it. */
static inline int fd_take(int *fd)
{
    int taken = *fd;
    *fd = -1;
    return taken;
}
