/* jar/uids.h — host uids that nobody else has.
 * Runs in: warden and the process that starts the keeper, as root only.
 * A warden owns a block of uids while it holds a lock on one byte of a file under /run. The kernel
 * releases the lock when the warden dies. The uids are above systemd's ranges and below the sign
 * bit. A keeper has one uid outside of the blocks (run/keeper_uid.h), with a lock of its own. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "spec/isolation.h"

enum { UIDS_PER_BLOCK = 4096, UIDS_BLOCKS = 256 };
#define UIDS_FIRST (OWN_UIDS_FIRST + UIDS_PER_BLOCK)
#define UIDS_END   0x7f000000u /* of all ranges, those of keepers included */

struct uids {
    int lock_fd; /* -1: no block, every jar has our own uid */
    uint32_t base;
    uint32_t next;
    uint64_t used[UIDS_PER_BLOCK / 64];
};

/* False in a user namespace without these uids: of an ordinary user, of a container. */
bool uids_exist(void);
[[nodiscard]] int uids_open(struct uids *u, struct err *e);
/* The file of the locks. The lock on byte N below UIDS_BLOCKS is block N; above, it is uid N. */
[[nodiscard]] int uids_open_locks(int *ret_fd, struct err *e);
/* 0 if the byte is locked now, 1 if another process has it. */
[[nodiscard]] int uids_lock(int fd, uint32_t byte, struct err *e);
void uids_done(struct uids *u);
[[nodiscard]] int uids_take(struct uids *u, uint32_t *ret_uid, struct err *e);
void uids_give_back(struct uids *u, uint32_t uid);
