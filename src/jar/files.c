#include "jar/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/descend.h"
#include "base/fdio.h"
#include "base/tree.h"
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
    if (bundle_is_directory(entry))
        return mkdirat(dir_fd, name, 0755) < 0 ? no_room(name, e) : 0;
    autoclose int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                              entry->head.mode & 0777);
    if (fd < 0 && errno == EEXIST)
        return err_set(e, ERR_BAD_REQUEST, 0, "the file name '%s' is given twice", name);
    if (fd < 0 || fd_write_all(fd, entry->bytes, entry->head.size))
        return no_room(name, e);
    return 0;
}

static int clear_place(int dir_fd, const struct bundle_entry *entry, struct err *e)
{
    char name[BUNDLE_NAME_MAX + 1];
    (void)snprintf(name, sizeof name, "%.*s", (int)entry->head.name_len, entry->name);
    if (strchr(name, '/'))
        return err_set(e, ERR_BAD_REQUEST, 0, "'%s' is not at the top of /sandbox", name);
    return tree_remove(dir_fd, name, e);
}

typedef int for_entry(int dir_fd, const struct bundle_entry *entry, struct err *e);

static int for_each_entry(int bundle_fd, int dir_fd, for_entry *act, struct err *e)
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
            rc = act(dir_fd, &entry, e);
    }
    (void)munmap(map, len);
    return rc;
}

int files_unpack(int bundle_fd, int dir_fd, struct err *e)
{
    return for_each_entry(bundle_fd, dir_fd, unpack_one, e);
}

int files_clear_places(int bundle_fd, int dir_fd, struct err *e)
{
    return for_each_entry(bundle_fd, dir_fd, clear_place, e);
}

/* The descriptor for outputs, and how much of the bounds is used. */
struct collection {
    int out_fd;
    uint64_t bytes;
    unsigned entries;
};

/* Opens only through real directories of this one file system. O_NONBLOCK: a FIFO must not block
 * the open; fstat tells it from a file. */
static int open_inside(int dir_fd, const char *name, int flags)
{
    return descend_open(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | flags,
                        RESOLVE_BENEATH | RESOLVE_NO_XDEV);
}

static int open_output(int dir_fd, const char *name, struct stat *ret,
                       enum output_status *ret_status)
{
    int fd = open_inside(dir_fd, name, 0);
    if (fd < 0) {
        *ret_status = errno == ENOENT || errno == ENOTDIR                  ? OUTPUT_MISSING
                      : errno == ELOOP || errno == ENXIO || errno == EXDEV ? OUTPUT_NOT_A_FILE
                                                                           : OUTPUT_REFUSED;
        return -1;
    }
    *ret_status = OUTPUT_OK;
    if (fstat(fd, ret) < 0)
        *ret_status = OUTPUT_REFUSED;
    else if (!S_ISREG(ret->st_mode))
        *ret_status = OUTPUT_NOT_A_FILE;
    if (*ret_status != OUTPUT_OK) {
        fd_close(&fd);
        return -1;
    }
    return fd;
}

static int send_entry(struct collection *c, const char *name, enum output_status status,
                      uint32_t mode, uint64_t size, struct err *e)
{
    scoped(buf) head = { 0 };
    c->entries++;
    if (bundle_add_head(&head, name, status, mode, size, e))
        return -1;
    if (fd_write_all(c->out_fd, head.data, head.len))
        return err_set(e, ERR_KERNEL, errno, "send the file %s", name);
    return 0;
}

static int send_reason(struct collection *c, const char *name, enum output_status status,
                       struct err *e)
{
    return send_entry(c, name, status, 0, 0, e);
}

static int send_bytes(int fd, int out_fd, uint64_t size)
{
    char block[1 << 16];
    while (size > 0) {
        ssize_t n = fd_read_full(fd, block, size < sizeof block ? size : sizeof block);
        if (n <= 0) { /* no process can shrink it; but the entry must have its length in any case */
            memset(block, 0, sizeof block);
            n = (ssize_t)(size < sizeof block ? size : sizeof block);
        }
        if (fd_write_all(out_fd, block, (size_t)n))
            return -1;
        size -= (uint64_t)n;
    }
    return 0;
}

/* Sends the file `name` of a directory, under the name that the caller knows. */
static int collect_one(struct collection *c, int dir_fd, const char *name, const char *full_name,
                       struct err *e)
{
    enum output_status status;
    struct stat st = { 0 };
    autoclose int fd = open_output(dir_fd, name, &st, &status);
    if (fd < 0)
        return send_reason(c, full_name, status, e);
    uint64_t size = (uint64_t)st.st_size;
    if (size > BUNDLE_MAX_BYTES - c->bytes)
        return send_reason(c, full_name, OUTPUT_TOO_LARGE, e);
    c->bytes += size;
    if (send_entry(c, full_name, OUTPUT_OK, st.st_mode & 0777, size, e))
        return -1;
    if (send_bytes(fd, c->out_fd, size))
        return err_set(e, ERR_KERNEL, errno, "send the file %s", full_name);
    return 0;
}

/* Every file. A name has at most BUNDLE_NAME_MAX bytes, so every directory is opened by its name
 * from the top: one descriptor at any depth. A deeper file could not be named anyway. */
enum {
    WALK_STEPS = 100000,    /* entries to visit; a deeper directory counts for more */
    WALK_PENDING = 4 << 20, /* bytes of the names of directories that are still to visit */
    WALK_DEPTH_STEP =
        32, /* so many bytes of a directory's name cost one step, because opening walks them */
};

struct walk {
    int top_fd;
    char path[BUNDLE_NAME_MAX + 1]; /* of the current directory; "" is the top */
    size_t len;
    struct buf pending; /* the directories to visit next, as a stack: name, NUL, struct pending */
    unsigned steps;
    unsigned entries_max;
    bool directories; /* those without a file are sent, too */
    bool cut;         /* a bound was reached: the rest is not visited */
};
struct pending {
    uint32_t parent_len,
        name_len; /* the path of the parent is a prefix of walk.path until this is visited */
};

static int push_directory(struct walk *w, const char *name, struct err *e)
{
    struct pending p = { .parent_len = (uint32_t)w->len, .name_len = (uint32_t)strlen(name) };
    if (buf_add(&w->pending, name, p.name_len + 1, e))
        return -1;
    return buf_add(&w->pending, &p, sizeof p, e);
}

static bool pop_directory(struct walk *w)
{
    struct pending p;
    if (w->pending.len == 0)
        return false;
    w->pending.len -= sizeof p;
    memcpy(&p, w->pending.data + w->pending.len, sizeof p);
    w->pending.len -= p.name_len + 1;
    w->len = p.parent_len;
    w->len += (size_t)snprintf(w->path + w->len, sizeof w->path - w->len, "%s%s",
                               w->len > 0 ? "/" : "", w->pending.data + w->pending.len);
    return true;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static unsigned entry_type(int fd, const struct dirent *entry)
{
    struct stat st;
    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type;
    if (fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return DT_UNKNOWN;
    return IFTODT(st.st_mode);
}

/* Other kinds of files are skipped. */
static int walk_entry(struct collection *c, struct walk *w, int fd, const struct dirent *entry,
                      bool *told_too_long, struct err *e)
{
    char full[BUNDLE_NAME_MAX + BUNDLE_PART_MAX + 2];
    unsigned type = entry_type(fd, entry);
    w->steps++;
    if (type != DT_REG && type != DT_DIR && w->steps < WALK_STEPS)
        return 0;
    w->cut = w->steps >= WALK_STEPS || w->pending.len > WALK_PENDING ||
             (type == DT_REG && c->entries >= w->entries_max);
    int n = snprintf(full, sizeof full, "%s%s%s", w->path, w->len > 0 ? "/" : "", entry->d_name);
    if (n > BUNDLE_NAME_MAX) { /* it cannot be named, but its directory can */
        bool told = *told_too_long;
        *told_too_long = true;
        return told ? 0 : send_reason(c, w->path, OUTPUT_TOO_LARGE, e);
    }
    if (w->cut)
        return send_reason(c, full, OUTPUT_TOO_LARGE, e);
    return type == DT_DIR ? push_directory(w, entry->d_name, e)
                          : collect_one(c, fd, entry->d_name, full, e);
}

static int send_directory(struct collection *c, struct walk *w, struct err *e)
{
    w->cut = c->entries >= w->entries_max;
    return w->cut ? send_reason(c, w->path, OUTPUT_TOO_LARGE, e)
                  : send_entry(c, w->path, OUTPUT_OK, S_IFDIR | 0755, 0, e);
}

static int walk_directory(struct collection *c, struct walk *w, struct err *e)
{
    w->steps += (unsigned)(w->len / WALK_DEPTH_STEP);
    w->cut = w->steps >= WALK_STEPS;
    if (w->cut)
        return send_reason(c, w->path, OUTPUT_TOO_LARGE, e);
    int fd = open_inside(w->top_fd, w->len > 0 ? w->path : ".", O_DIRECTORY);
    autodir DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    bool told_too_long = false;
    size_t pending = w->pending.len;
    unsigned entries = c->entries;
    if (!d) { /* the program may lock the top too, which has no name */
        fd_close(&fd);
        return w->len > 0 ? send_reason(c, w->path, OUTPUT_REFUSED, e) : 0;
    }
    for (struct dirent *entry; !w->cut && (entry = readdir(d));) {
        if (!is_dots(entry->d_name) && walk_entry(c, w, fd, entry, &told_too_long, e))
            return -1;
    }
    bool empty = c->entries == entries && w->pending.len == pending;
    return w->directories && empty && w->len > 0 ? send_directory(c, w, e) : 0;
}

static void walk_done(struct walk *w)
{
    buf_done(&w->pending);
}

static int collect_all(struct collection *c, int top_fd, unsigned max, bool directories,
                       struct err *e)
{
    scoped(walk)
        w = { .top_fd = top_fd, .entries_max = c->entries + max, .directories = directories };
    do {
        if (walk_directory(c, &w, e))
            return -1;
    } while (!w.cut && c->entries <= w.entries_max && pop_directory(&w));
    return 0;
}

static bool is_all(const char *name)
{
    return strcmp(name, FILES_ALL) == 0 || strcmp(name, FILES_TREE) == 0;
}

static int collect_named(struct collection *c, int dir_fd, int tmp_fd, const char *name,
                         struct err *e)
{
    bool in_tmp = output_is_in_tmp(name);
    return collect_one(c, in_tmp ? tmp_fd : dir_fd, in_tmp ? name + strlen(OUTPUT_IN_TMP) : name,
                       name, e);
}

int files_collect(int dir_fd, int tmp_fd, char *const *names, int out_fd, struct err *e)
{
    struct collection c = { .out_fd = out_fd };
    unsigned others = 0;
    bool all = false;
    for (char *const *name = names; *name; name++)
        others += !is_all(*name);
    for (; *names; names++) {
        if (!is_all(*names)) {
            if (collect_named(&c, dir_fd, tmp_fd, *names, e))
                return -1;
        } else if (!all) {
            all = true;
            if (collect_all(&c, dir_fd, others < BUNDLE_FILES_MAX ? BUNDLE_FILES_MAX - others : 0,
                            strcmp(*names, FILES_TREE) == 0, e))
                return -1;
        }
    }
    return 0;
}

int files_collect_small(int dir_fd, const char *name, uint64_t max, int out_fd, struct err *e)
{
    struct collection c = { .out_fd = out_fd };
    enum output_status status;
    struct stat st = { 0 };
    autoclose int fd = open_output(dir_fd, name, &st, &status);
    if (fd < 0)
        return send_reason(&c, name, status, e);
    uint64_t size = (uint64_t)st.st_size < max ? (uint64_t)st.st_size : max;
    if (send_entry(&c, name, OUTPUT_OK, st.st_mode & 0777, size, e))
        return -1;
    return send_bytes(fd, out_fd, size) ? err_set(e, ERR_KERNEL, errno, "send the file %s", name)
                                        : 0;
}
