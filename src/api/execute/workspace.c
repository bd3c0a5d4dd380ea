#include "api/execute/workspace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "base/units.h"
#include "spec/bundle.h"

/* The name of a file during its write. A file that a crash left behind is skipped. */
#define TEMPORARY ".belljar-new-"

/* Below the directory of /execute: the directories of keys. */
#define OF_KEYS ".belljar-keys"

static int open_sub(int dir_fd, const char *name)
{
    if (mkdirat(dir_fd, name, 0750) < 0 && errno != EEXIST)
        return -1;
    return openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int workspace_open(int top_fd, const char *name, int *ret_fd, struct err *e)
{
    autoclose int of_keys = open_sub(top_fd, name ? OF_KEYS : ".");
    autoclose int own = name && of_keys >= 0 ? open_sub(of_keys, name) : -1;
    if (of_keys < 0 || (name && own < 0))
        return err_set(e, ERR_KERNEL, errno, "open the working directory");
    *ret_fd = fd_take(name ? &own : &of_keys);
    return 0;
}

static bool is_ours(const char *name, const char *program)
{
    size_t n = strlen(OF_KEYS);
    if (strncmp(name, OF_KEYS, n) == 0 && (name[n] == '\0' || name[n] == '/'))
        return true;
    const char *slash = strrchr(name, '/');
    const char *last = slash ? slash + 1 : name;
    return strcmp(name, program) == 0 || strncmp(last, TEMPORARY, strlen(TEMPORARY)) == 0;
}

void workspace_list_done(struct workspace_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->files[i].name);
    free(l->files);
    *l = (struct workspace_list){ 0 };
}

static void hash_bytes(const void *bytes, size_t n, uint8_t out[WORKSPACE_HASH_BYTES])
{
    (void)crypto_generichash(out, WORKSPACE_HASH_BYTES, bytes ? bytes : "", n, NULL, 0);
}

static int list_add(struct workspace_list *l, const char *name, uint32_t mode,
                    const struct buf *bytes, struct err *e)
{
    if (l->n == l->max) {
        size_t max = l->max ? l->max * 2 : 64;
        struct workspace_file *files = realloc(l->files, max * sizeof *files);
        if (!files)
            return err_no_memory(e, "the list of files");
        l->files = files;
        l->max = max;
    }
    struct workspace_file f = { .name = strdup(name), .mode = mode };
    if (!f.name)
        return err_no_memory(e, "the list of files");
    hash_bytes(bytes->data, bytes->len, f.hash);
    l->files[l->n++] = f;
    l->bytes += bytes->len;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct workspace_file *)a)->name,
                  ((const struct workspace_file *)b)->name);
}

static struct workspace_file *list_find(struct workspace_list *l, const char *name)
{
    struct workspace_file key = { .name = (char *)name };
    return l->n ? bsearch(&key, l->files, l->n, sizeof key, by_name) : NULL;
}

/* ---- into the jar ---- */
struct workspace_walk {
    const char *program;
    uint64_t max_bytes;
    struct buf *bundle;
    struct workspace_list *given;
};

static int too_large(const char *problem, struct err *e)
{
    return err_set(e, ERR_TOO_LARGE, 0,
                   "the working directory of /execute %s: remove files from it on the host (below "
                   "the path in the setting execute.workspace) and try again",
                   problem);
}

static const char too_many[] = "holds more than 9999 files";

static int add_given(struct workspace_walk *w, const char *name, uint32_t mode,
                     const struct buf *bytes, struct err *e)
{
    return bundle_add(w->bundle, name, mode, buf_str(bytes), bytes->len, e) ||
                   list_add(w->given, name, mode, bytes, e)
               ? -1
               : 0;
}

static int pack_file(struct workspace_walk *w, int dir_fd, const char *last, const char *name,
                     struct err *e)
{
    char problem[96], max[32];
    struct stat st;
    scoped(buf) bytes = { 0 };
    /* O_NONBLOCK: the file may have become a FIFO, whose open() would wait. */
    autoclose int fd = openat(dir_fd, last, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
        return 0; /* gone, a link, or not a file */
    uint64_t left = w->max_bytes - w->given->bytes;
    if (w->given->n + 1 >= BUNDLE_FILES_MAX)
        return too_large(too_many, e);
    if (fd_read_to_buf(fd, left, &bytes, e)) {
        (void)snprintf(problem, sizeof problem, "holds more than %s",
                       unit_format(UNIT_BYTES, w->max_bytes, max, sizeof max));
        return e->code == ERR_TOO_LARGE ? too_large(problem, e) : -1;
    }
    return add_given(w, name, st.st_mode & 0777, &bytes, e);
}

/* A directory in which nothing was found for the jar. */
static int pack_empty(struct workspace_walk *w, const char *name, struct err *e)
{
    static const struct buf nothing = { 0 };
    if (w->given->n + 1 >= BUNDLE_FILES_MAX)
        return too_large(too_many, e);
    return add_given(w, name, S_IFDIR | 0755, &nothing, e);
}

static int pack_dir(struct workspace_walk *w, int dir_fd, const char *prefix, int depth,
                    struct err *e);

static int pack_entry(struct workspace_walk *w, int dir_fd, const char *prefix, const char *last,
                      int depth, struct err *e)
{
    char name[BUNDLE_NAME_MAX + 2];
    struct stat st;
    struct err ignored;
    int n = snprintf(name, sizeof name, "%s%s%s", prefix, *prefix ? "/" : "", last);
    if (n < 0 || (size_t)n >= sizeof name || bundle_name_check(name, (size_t)n, &ignored) ||
        is_ours(name, w->program) || fstatat(dir_fd, last, &st, AT_SYMLINK_NOFOLLOW))
        return 0;
    if (S_ISREG(st.st_mode))
        return pack_file(w, dir_fd, last, name, e);
    if (!S_ISDIR(st.st_mode))
        return 0;
    if (depth + 1 >= WORKSPACE_DEPTH_MAX)
        return too_large("holds directories nested more than 32 deep", e);
    autoclose int sub = openat(dir_fd, last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    size_t before = w->given->n;
    if (sub < 0)
        return 0;
    if (pack_dir(w, sub, name, depth + 1, e))
        return -1;
    return w->given->n == before ? pack_empty(w, name, e) : 0;
}

static int pack_dir(struct workspace_walk *w, int dir_fd, const char *prefix, int depth,
                    struct err *e)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    autodir DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        int sys = errno;
        fd_close(&fd);
        return err_set(e, ERR_KERNEL, sys, "open the working directory of /execute");
    }
    for (struct dirent *entry; (entry = readdir(d));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            pack_entry(w, dir_fd, prefix, entry->d_name, depth, e))
            return -1;
    return 0;
}

int workspace_pack(int dir_fd, const char *program, uint64_t max_bytes, struct buf *bundle,
                   struct workspace_list *given, struct err *e)
{
    uint64_t max = max_bytes < BUNDLE_MAX_BYTES ? max_bytes : BUNDLE_MAX_BYTES;
    struct workspace_walk w = { program, max, bundle, given };
    if (given->max_bytes == 0)
        given->max_bytes = max;
    if (pack_dir(&w, dir_fd, "", 0, e))
        return -1;
    if (given->n)
        qsort(given->files, given->n, sizeof *given->files, by_name);
    return 0;
}

/* ---- out of the jar ---- */

/* Opens the directory of `name`; *ret_last is the last part of the name. Walks one part at a time
 * and follows no link, which is RESOLVE_BENEATH of openat2 on every kernel. -1 with errno. */
static int open_parent(int dir_fd, const char *name, bool make, const char **ret_last)
{
    char part[BUNDLE_PART_MAX + 1];
    autoclose int at = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int depth = 0; at >= 0; depth++) {
        const char *slash = strchr(name, '/');
        if (!slash) {
            *ret_last = name;
            return fd_take(&at);
        }
        if ((size_t)(slash - name) >= sizeof part || depth >= WORKSPACE_DEPTH_MAX - 1) {
            errno = ENAMETOOLONG;
            return -1;
        }
        (void)snprintf(part, sizeof part, "%.*s", (int)(slash - name), name);
        bool made = make && mkdirat(at, part, 0755) == 0;
        if (make && !made && errno != EEXIST)
            return -1;
        int next = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (made && next >= 0)
            (void)fchmod(next, 0755); /* despite our umask: other users read the results */
        fd_close(&at);
        at = next;
        name = slash + 1;
    }
    return -1;
}

/* The mode that a file keeps. The next call must be able to read it, and no other user of the host
 * writes it. */
static uint32_t kept_mode(uint32_t mode)
{
    return (mode & 0755) | 0400;
}

static int write_new(int parent, const char *temporary, const struct bundle_entry *entry)
{
    autoclose int fd = openat(parent, temporary,
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd < 0 || fchmod(fd, kept_mode(entry->head.mode)) ||
                   fd_write_all(fd, entry->bytes, entry->head.size)
               ? -1
               : 0;
}

static int depth_of(const char *name)
{
    int depth = 0;
    while ((name = strchr(name, '/')))
        depth++, name++;
    return depth;
}

/* -1 with errno. */
static int write_file(int dir_fd, const char *name, const struct bundle_entry *entry)
{
    char temporary[64];
    const char *last;
    if (depth_of(name) >= WORKSPACE_DEPTH_MAX) { /* before any directory is made */
        errno = ENAMETOOLONG;
        return -1;
    }
    autoclose int parent = open_parent(dir_fd, name, true, &last);
    if (parent < 0)
        return -1;
    (void)snprintf(temporary, sizeof temporary, TEMPORARY "%08x%08x", randombytes_random(),
                   randombytes_random());
    bool moved = write_new(parent, temporary, entry) == 0;
    if (moved && renameat(parent, temporary, parent, last)) {
        moved = false;
        /* The run replaced a directory, which is empty by now, with a file. */
        if (errno == EISDIR && unlinkat(parent, last, AT_REMOVEDIR) == 0)
            moved = renameat(parent, temporary, parent, last) == 0;
    }
    if (!moved) {
        int sys = errno;
        (void)unlinkat(parent, temporary, 0);
        errno = sys;
    }
    return moved ? 0 : -1;
}

/* Removes directories that become empty as well: a directory that the run left empty is an entry of
 * its own, and is made again. */
static void remove_given(int dir_fd, const struct workspace_file *file)
{
    char name[BUNDLE_NAME_MAX + 2];
    (void)snprintf(name, sizeof name, "%s", file->name);
    for (int flags = S_ISDIR(file->mode) ? AT_REMOVEDIR : 0;; flags = AT_REMOVEDIR) {
        const char *last;
        autoclose int parent = open_parent(dir_fd, name, false, &last);
        if (parent < 0 || unlinkat(parent, last, flags))
            return;
        char *slash = strrchr(name, '/');
        if (!slash)
            return;
        *slash = '\0';
    }
}

static int add_problem(struct buf *problems, const char *name, const char *why, struct err *e)
{
    return buf_addf(problems, e, "'%s' was not kept: %s\n", QUOTED(name), why);
}

/* ---- the space in the directory ---- */
struct room {
    uint64_t bytes, max_bytes;
    size_t files;
};

/* A file system counts whole pages. */
static uint64_t pages_of(uint64_t size)
{
    return (size + 4095) & ~(uint64_t)4095;
}

static void measure(int dir_fd, int depth, struct room *room)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    autodir DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d)
        fd_close(&fd);
    for (struct dirent *entry; d && (entry = readdir(d));) {
        struct stat st;
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
            (depth == 0 && strcmp(name, OF_KEYS) == 0) ||
            fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        if (S_ISREG(st.st_mode)) {
            room->bytes += pages_of((uint64_t)st.st_size);
            room->files++;
        } else if (S_ISDIR(st.st_mode) && depth + 1 < WORKSPACE_DEPTH_MAX) {
            room->files++;
            autoclose int sub = openat(dir_fd, name,
                                       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (sub >= 0)
                measure(sub, depth + 1, room);
        }
    }
}

/* Counts the file, in place of the old file of that name. False: it does not fit, and is not
 * counted. */
static bool room_take(struct room *room, int dir_fd, const char *name, uint64_t size)
{
    const char *last;
    struct stat st;
    autoclose int parent = open_parent(dir_fd, name, false, &last);
    bool replaces = parent >= 0 && fstatat(parent, last, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                    S_ISREG(st.st_mode);
    uint64_t before = replaces ? pages_of((uint64_t)st.st_size) : 0;
    uint64_t bytes = room->bytes - (before < room->bytes ? before : room->bytes) + pages_of(size);
    size_t files = room->files + !replaces;
    if ((bytes > room->max_bytes && pages_of(size) > before) || files + 1 >= BUNDLE_FILES_MAX)
        return false;
    room->bytes = bytes;
    room->files = files;
    return true;
}

/* -1 with errno. */
static int make_directory(int dir_fd, const char *name)
{
    char inside[BUNDLE_NAME_MAX + 4];
    const char *last;
    (void)snprintf(inside, sizeof inside, "%s/.", name);
    if (depth_of(inside) >= WORKSPACE_DEPTH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    autoclose int made = open_parent(dir_fd, inside, true, &last);
    return made < 0 ? -1 : 0;
}

static int keep_file(int dir_fd, const char *name, const struct bundle_entry *entry,
                     struct workspace_file *before, struct room *room, struct buf *problems,
                     struct err *e)
{
    uint8_t hash[WORKSPACE_HASH_BYTES];
    enum output_status status = (enum output_status)entry->head.status;
    if (status == OUTPUT_MISSING || status == OUTPUT_NOT_A_FILE)
        return 0;
    if (status != OUTPUT_OK)
        return add_problem(problems, name, output_status_why(status), e);
    hash_bytes(entry->bytes, entry->head.size, hash);
    if (before && before->seen && memcmp(before->hash, hash, sizeof hash) == 0 &&
        (bundle_is_directory(entry) || before->mode == entry->head.mode))
        return 0;
    if (!room_take(room, dir_fd, name, entry->head.size))
        return add_problem(problems, name, "the working directory is full", e);
    if (bundle_is_directory(entry) ? make_directory(dir_fd, name) : write_file(dir_fd, name, entry))
        return add_problem(problems, name, strerror(errno), e);
    return 0;
}

/* For each file that the run returned, except the program: marks it as seen, and keeps it unless
 * room is NULL. */
static int each_file(int dir_fd, const char *program, const struct buf *files, struct room *room,
                     struct workspace_list *given, struct buf *problems, struct err *e)
{
    struct bundle_entry entry;
    bool more = true;
    for (size_t pos = 0;;) {
        char name[BUNDLE_NAME_MAX + 2];
        if (bundle_next(files, &pos, &entry, &more, e))
            return -1;
        if (!more)
            return 0;
        (void)snprintf(name, sizeof name, "%.*s", (int)entry.head.name_len, entry.name);
        if (is_ours(name, program))
            continue;
        struct workspace_file *before = list_find(given, name);
        if (before && entry.head.status != OUTPUT_MISSING &&
            entry.head.status != OUTPUT_NOT_A_FILE &&
            (entry.head.status != OUTPUT_OK ||
             bundle_is_directory(&entry) == S_ISDIR(before->mode)))
            before->seen = true;
        if (room && keep_file(dir_fd, name, &entry, before, room, problems, e))
            return -1;
    }
}

static int update(int dir_fd, const char *program, const struct buf *files, bool may_remove,
                  struct workspace_list *given, struct buf *problems, struct err *e)
{
    struct room room = { .max_bytes = given->max_bytes ? given->max_bytes : BUNDLE_MAX_BYTES };
    /* Removals first: a file may have become a directory of the same name. */
    if (each_file(dir_fd, program, files, NULL, given, problems, e))
        return -1;
    for (size_t i = 0; may_remove && i < given->n; i++)
        if (!given->files[i].seen)
            remove_given(dir_fd, &given->files[i]);
    measure(dir_fd, 0, &room);
    return each_file(dir_fd, program, files, &room, given, problems, e);
}

int workspace_update(int dir_fd, const char *program, const struct buf *files, bool may_remove,
                     struct workspace_list *given, struct buf *problems, struct err *e)
{
    /* One update at a time, because each counts the space. The lock belongs to the open file, so
     * each thread has its own. */
    autoclose int lock = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock < 0 || flock(lock, LOCK_EX) < 0)
        return err_set(e, ERR_KERNEL, errno, "lock the working directory");
    return update(dir_fd, program, files, may_remove, given, problems, e);
}
