#include "jar/files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "spec/bundle.h"

static int no_room(const char *name, struct err *e)
{
    if (errno == ENOTDIR || errno == EISDIR)
        return err_set(e, ERR_BAD_REQUEST, 0, "the file name '%s' clashes with another file's",
                       name);
    if (errno == ENOSPC)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the files do not fit: '%s' is over the disk or files limit", name);
    return err_set(e, ERR_KERNEL, errno, "write the file %s", name);
}

/* Makes a/ and a/b/ of the name a/b/c. */
static int make_parents(int dir_fd, char *name, struct err *e)
{
    for (char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int failed = mkdirat(dir_fd, name, 0755) < 0 && errno != EEXIST;
        if (failed)
            return no_room(name, e);
        *slash = '/';
    }
    return 0;
}

static int unpack_one(int dir_fd, const struct bundle_entry *entry, struct err *e)
{
    char name[BUNDLE_NAME_MAX + 1];
    (void)snprintf(name, sizeof name, "%.*s", (int)entry->head.name_len, entry->name);
    if (make_parents(dir_fd, name, e))
        return -1;
    autoclose int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                              entry->head.mode_or_status & 0777);
    if (fd < 0 && errno == EEXIST)
        return err_set(e, ERR_BAD_REQUEST, 0, "the file name '%s' is given twice", name);
    if (fd < 0 || fd_write_all(fd, entry->bytes, entry->head.size))
        return no_room(name, e);
    return 0;
}

int files_unpack(int bundle_fd, int dir_fd, struct err *e)
{
    struct stat st;
    if (fstat(bundle_fd, &st) < 0)
        return err_set(e, ERR_KERNEL, errno, "look at the files");
    if (st.st_size == 0)
        return 0;
    if (st.st_size < 0 || (uint64_t)st.st_size > BUNDLE_STREAM_MAX)
        return err_set(e, ERR_TOO_LARGE, 0, "the files are more than %llu bytes", BUNDLE_MAX_BYTES);
    size_t len = (size_t)st.st_size;
    void *map = mmap(NULL, len, PROT_READ, MAP_PRIVATE, bundle_fd, 0);
    if (map == MAP_FAILED)
        return err_set(e, ERR_KERNEL, errno, "read the files");
    struct buf view = { .data = map, .len = len };
    struct bundle_entry entry;
    bool more = true;
    int rc = 0;
    for (size_t pos = 0; rc == 0 && more;) {
        rc = bundle_next(&view, &pos, &entry, &more, e);
        if (rc == 0 && more)
            rc = unpack_one(dir_fd, &entry, e);
    }
    (void)munmap(map, len);
    return rc;
}

/* Only a regular file, reached through real directories of this one file system. O_NONBLOCK: a FIFO must not
 * hold us up before fstat tells what it is. */
static int open_output(int dir_fd, const char *name, uint64_t *ret_size,
                       enum output_status *ret_status)
{
    struct open_how how = { .flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
                            .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
                                       RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV };
    int fd = (int)syscall(SYS_openat2, dir_fd, name, &how, sizeof how);
    struct stat st;
    if (fd < 0) {
        *ret_status = errno == ENOENT || errno == ENOTDIR                  ? OUTPUT_MISSING
                      : errno == ELOOP || errno == ENXIO || errno == EXDEV ? OUTPUT_NOT_A_FILE
                                                                           : OUTPUT_REFUSED;
        return -1;
    }
    *ret_status = OUTPUT_OK;
    if (fstat(fd, &st) < 0)
        *ret_status = OUTPUT_REFUSED;
    else if (!S_ISREG(st.st_mode))
        *ret_status = OUTPUT_NOT_A_FILE;
    else if ((uint64_t)st.st_size > BUNDLE_FILE_MAX_BYTES)
        *ret_status = OUTPUT_TOO_LARGE;
    if (*ret_status != OUTPUT_OK) {
        fd_close(&fd);
        return -1;
    }
    *ret_size = (uint64_t)st.st_size;
    return fd;
}

static int send_head(int out_fd, const char *name, enum output_status status, uint64_t size)
{
    auto(buf) head = { 0 };
    struct err ignored;
    if (bundle_add_head(&head, name, (uint32_t)status, size, &ignored))
        return -1;
    return fd_write_all(out_fd, head.data, head.len);
}

static int send_bytes(int fd, int out_fd, uint64_t size)
{
    char block[1 << 16];
    while (size > 0) {
        ssize_t n = fd_read_full(fd, block, size < sizeof block ? size : sizeof block);
        if (n <= 0) { /* cannot shrink while at rest; keep the promised length all the same */
            memset(block, 0, sizeof block);
            n = (ssize_t)(size < sizeof block ? size : sizeof block);
        }
        if (fd_write_all(out_fd, block, (size_t)n))
            return -1;
        size -= (uint64_t)n;
    }
    return 0;
}

int files_collect(int dir_fd, char *const *names, int out_fd, struct err *e)
{
    uint64_t total = 0;
    for (; *names; names++) {
        enum output_status status;
        uint64_t size = 0;
        autoclose int fd = open_output(dir_fd, *names, &size, &status);
        if (fd >= 0 && total + size > BUNDLE_MAX_BYTES) {
            fd_close(&fd);
            status = OUTPUT_TOO_LARGE;
            size = 0;
        }
        total += size;
        if (send_head(out_fd, *names, status, size) || (fd >= 0 && send_bytes(fd, out_fd, size)))
            return err_set(e, ERR_KERNEL, errno, "send the file %s", *names);
    }
    return 0;
}
