/* jar/uids.h — host uids that nobody else has.
 * Runs in: warden, as root only.
 * A warden owns a block of uids while it holds a lock on one byte of a file under /run. The kernel
 * releases the lock when the warden dies. The uids are above systemd's ranges and below the sign
 * bit. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "spec/isolation.h"

enum { UIDS_PER_BLOCK = 4096, UIDS_BLOCKS = 256 };
#define UIDS_FIRST (KEEPER_UID + UIDS_PER_BLOCK)

struct uids {
    int lock_fd; /* -1: no block, every jar has our own uid */
    uint32_t base;
    uint32_t next;
    uint64_t used[UIDS_PER_BLOCK / 64];
};

/* False in a user namespace without these uids: of an ordinary user, of a container. */
bool uids_exist(void);
[[nodiscard]] int uids_open(struct uids *u, struct err *e);
void uids_done(struct uids *u);
[[nodiscard]] int uids_take(struct uids *u, uint32_t *ret_uid, struct err *e);
void uids_give_back(struct uids *u, uint32_t uid);
