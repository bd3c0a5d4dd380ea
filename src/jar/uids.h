/* jar/uids.h — host uids that nobody else has. Runs in: warden, as root only.
 * A block of uids is ours while a byte of a file under /run is locked; the kernel lets go of the lock when the
 * warden dies, however it dies. Above systemd's ranges and below the sign bit, see uids.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "spec/isolation.h"

enum { UIDS_PER_BLOCK = 4096, UIDS_BLOCKS = 256 };
#define UIDS_FIRST (KEEPER_UID + UIDS_PER_BLOCK)

struct uids {
    int lock_fd; /* -1: no pool, every jar has our own uid */
    uint32_t base;
    uint32_t next;
    uint64_t used[UIDS_PER_BLOCK / 64];
};

/* False where this user namespace has no such uids: an ordinary user's, a container's. */
bool uids_exist(void);
[[nodiscard]] int uids_open(struct uids *u, struct err *e);
void uids_done(struct uids *u);
[[nodiscard]] int uids_take(struct uids *u, uint32_t *ret_uid, struct err *e);
void uids_give_back(struct uids *u, uint32_t uid);
