/* jar/landlock.h — file access rules that hold even if a mount or a namespace did not.
 * Runs in: the process that becomes the program, just before execve. Never logs. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum landlock_access {
    LANDLOCK_READ,   /* read and execute */
    LANDLOCK_WRITE,  /* everything below may be made, changed and removed; and executed */
    LANDLOCK_DEVICE, /* read and write, make nothing */
    /* the same without the right to execute */
    LANDLOCK_READ_DATA,
    LANDLOCK_WRITE_DATA,
    LANDLOCK_LIST, /* the names in directories, and nothing else */
};

struct landlock_rule {
    const char *path;
    enum landlock_access access;
    bool
        optional; /* a path this machine may not have, or not let the program reach: then there is no rule */
};

/* The kernel's version of Landlock, 0 where there is none. */
uint32_t landlock_abi(void);

/* Allows what the rules name (a row with a NULL path ends them) and nothing else, for this process and all it
 * will start. With deny_network, TCP is refused as well where the ABI can. From ABI 6 on, signals and
 * abstract sockets do not leave the domain. no_new_privs must be set. */
[[nodiscard]] int landlock_apply(uint32_t abi, const struct landlock_rule *rules, bool deny_network,
                                 struct err *e);
