/* Blocks of uids. systemd's documentation of uid ranges leaves 0x70000000 to 0x7ffffffe unused:
 * containers and dynamic users end at 0x6fffffff, and from 0x80000000 on signed comparisons
 * break. */
#include "jar/uids.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"

static const char lock_dir[] = "/run/belljar";
static const char lock_file[] = "uids";

bool uids_exist(void)
{
    char map[1024];
    unsigned first, outside, count;
    int used = 0;
    if (fd_read_file(AT_FDCWD, "/proc/self/uid_map", map, sizeof map) <= 0)
        return false;
    for (const char *at = map; sscanf(at, "%u %u %u%n", &first, &outside, &count, &used) == 3;
         at += used)
        if (first <= OWN_UIDS_FIRST && UIDS_END - first <= count)
            return true;
    return false;
}

int uids_open_locks(int *ret_fd, struct err *e)
{
    if (mkdir(lock_dir, 0700) < 0 && errno != EEXIST)
        return err_set(e, ERR_UNAVAILABLE, errno, "make %s", lock_dir);
    autoclose int dir = open(lock_dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    if (dir < 0 || fstat(dir, &st) < 0)
        return err_set(e, ERR_UNAVAILABLE, errno, "open %s", lock_dir);
    if (st.st_uid != 0 || (st.st_mode & 022))
        return err_set(e, ERR_UNAVAILABLE, 0, "%s does not belong to root alone: remove it",
                       lock_dir);
    *ret_fd = openat(dir, lock_file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*ret_fd < 0)
        return err_set(e, ERR_UNAVAILABLE, errno, "open %s/%s", lock_dir, lock_file);
    return 0;
}

int uids_lock(int fd, uint32_t byte, struct err *e)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
    if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
        return 0;
    if (errno == EAGAIN || errno == EACCES)
        return 1;
    return err_set(e, ERR_UNAVAILABLE, errno, "lock a uid");
}

int uids_open(struct uids *u, struct err *e)
{
    autoclose int fd = -1;
    if (uids_open_locks(&fd, e))
        return -1;
    for (uint32_t block = 0; block < UIDS_BLOCKS; block++) {
        int taken = uids_lock(fd, block, e);
        if (taken < 0)
            return -1;
        if (taken)
            continue;
        *u = (struct uids){ .lock_fd = fd_take(&fd), .base = UIDS_FIRST + block * UIDS_PER_BLOCK };
        return 0;
    }
    return err_set(e, ERR_UNAVAILABLE, EAGAIN, "all %d blocks of uids are taken", UIDS_BLOCKS);
}

void uids_done(struct uids *u)
{
    fd_close(&u->lock_fd);
}

int uids_take(struct uids *u, uint32_t *ret_uid, struct err *e)
{
    /* In a circle, so that a uid is unused as long as possible before it is used again. */
    for (uint32_t i = 0; i < UIDS_PER_BLOCK; i++) {
        uint32_t slot = (u->next + i) % UIDS_PER_BLOCK;
        uint64_t bit = 1ULL << (slot % 64);
        if (u->used[slot / 64] & bit)
            continue;
        u->used[slot / 64] |= bit;
        u->next = slot + 1;
        *ret_uid = u->base + slot;
        return 0;
    }
    return err_set(e, ERR_UNAVAILABLE, 0, "all %d uids are in use", UIDS_PER_BLOCK);
}

void uids_give_back(struct uids *u, uint32_t uid)
{
    uint32_t slot = uid - u->base;
    if (slot < UIDS_PER_BLOCK)
        u->used[slot / 64] &= ~(1ULL << (slot % 64));
}
