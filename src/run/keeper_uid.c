#include "run/keeper_uid.h"

#include <errno.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "jar/uids.h"

/* Random numbers from large ranges, because no list of all state directories exists: a stopped
 * service holds no lock, and its uid must not come up again. */
static const struct {
    uint32_t first, bits; /* its size is a power of two */
} ranges[] = {
    [KEEPER_OF_COMMAND] = { 0x70800000u, 23 },
    [KEEPER_OF_STATE] = { 0x78000000u, 26 },
};
_Static_assert(UIDS_FIRST + UIDS_BLOCKS * UIDS_PER_BLOCK <= 0x70800000u,
               "the uids of jars end first");

/* Every service of root had this uid before each had its own. */
#define OLD_KEEPER_UID OWN_UIDS_FIRST

enum { TRIES = 64 };

static bool in_range(enum keeper_of of, uid_t uid)
{
    return uid >= ranges[of].first && (uid - ranges[of].first) >> ranges[of].bits == 0;
}

bool keeper_uid_possible(void)
{
    return geteuid() == 0 && uids_exist();
}

bool keeper_uid_of_state(uid_t uid)
{
    return uid == OLD_KEEPER_UID || in_range(KEEPER_OF_STATE, uid);
}

bool keeper_uid_is_free(uid_t uid)
{
    struct err e;
    autoclose int fd = -1;
    return uids_open_locks(&fd, &e) == 0 && uids_lock(fd, uid, &e) == 0;
}

static int random_uid(enum keeper_of of, uid_t *ret, struct err *e)
{
    uint32_t number;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return err_set(e, ERR_KERNEL, errno, "choose a uid");
    *ret = ranges[of].first + (number >> (32 - ranges[of].bits));
    return 0;
}

int keeper_uid_take(struct keeper_uid *ret, enum keeper_of of, uid_t wanted, struct err *e)
{
    autoclose int fd = -1;
    uid_t uid = wanted;
    if (uids_open_locks(&fd, e) || (!in_range(of, uid) && random_uid(of, &uid, e)))
        return -1;
    for (int i = 0; i < TRIES; i++) {
        int taken = uids_lock(fd, uid, e);
        if (taken < 0)
            return -1;
        if (!taken) {
            *ret = (struct keeper_uid){ .uid = uid, .lock_fd = fd_take(&fd) };
            return 0;
        }
        if (random_uid(of, &uid, e))
            return -1;
    }
    return err_set(e, ERR_UNAVAILABLE, EAGAIN, "no uid is free for a keeper");
}

int keeper_uid_for_command(struct keeper_uid *ret, struct err *e)
{
    *ret = (struct keeper_uid){ .uid = geteuid(), .lock_fd = -1 };
    return keeper_uid_possible() ? keeper_uid_take(ret, KEEPER_OF_COMMAND, 0, e) : 0;
}

void keeper_uid_done(struct keeper_uid *k)
{
    fd_close(&k->lock_fd);
}
