/* jar/landlock.h — file access rules that hold even if a mount or a namespace fails.
 * Runs in: the process that becomes the program, just before execve. Never logs. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum landlock_access {
    LANDLOCK_READ,   /* read and execute */
    LANDLOCK_WRITE,  /* make, change, remove and execute files below it */
    LANDLOCK_DEVICE, /* read and write, make nothing */
    /* the same without the right to execute */
    LANDLOCK_READ_DATA,
    LANDLOCK_WRITE_DATA,
    LANDLOCK_LIST, /* the names in directories, and nothing else */
};

struct landlock_rule {
    const char *path;
    enum landlock_access access;
    bool optional; /* no rule if the machine lacks the path or the program cannot reach it */
};

/* The kernel's version of Landlock, 0 where there is none. */
uint32_t landlock_abi(void);

/* Allows only the rules (a row with a NULL path ends them), for this process and its future
 * children. With deny_network, TCP is refused too if the ABI can do that. From ABI 6 on, signals
 * and abstract sockets do not leave the domain. no_new_privs must be set. */
[[nodiscard]] int landlock_apply(uint32_t abi, const struct landlock_rule *rules, bool deny_network,
                                 struct err *e);
