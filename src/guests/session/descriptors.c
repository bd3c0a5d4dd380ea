#include "guests/session/descriptors.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PIECE = 1 << 16, ASIDE = 300 };

struct descriptor_identity descriptor_identity_of(int fd)
{
    struct stat st;
    struct descriptor_identity none = { 0 };
    if (fstat(fd, &st) < 0)
        return none;
    return (struct descriptor_identity){ st.st_dev, st.st_ino };
}

static bool is_same(struct descriptor_identity a, struct descriptor_identity b)
{
    return a.inode != 0 && a.device == b.device && a.inode == b.inode;
}

void descriptor_plan_free(struct descriptor_plan *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->rows[i].name);
    free(p->rows);
    free(p->folder);
    *p = (struct descriptor_plan){ 0 };
}

/* ---- the list ---- */

/* The open numbers in order, without the one of the list itself. The caller frees them. */
static int *open_numbers(size_t *ret_n)
{
    DIR *d = opendir("/proc/self/fd");
    const struct dirent *entry;
    size_t n = 0, room = 64;
    int *numbers = malloc(room * sizeof *numbers);
    while (d && numbers && (entry = readdir(d))) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        int number = (int)strtol(entry->d_name, NULL, 10);
        if (number == dirfd(d))
            continue;
        if (n == room) {
            int *more = realloc(numbers, (room *= 2) * sizeof *numbers);
            if (!more)
                free(numbers);
            numbers = more;
        }
        if (numbers)
            numbers[n++] = number;
    }
    if (d)
        (void)closedir(d);
    *ret_n = numbers ? n : 0;
    return d ? numbers : (free(numbers), NULL);
}

static bool has_number(const int numbers[], size_t n, int number)
{
    for (size_t i = 0; i < n; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

/* Two numbers share one offset if moving one moves the other. */
static bool share_offset(const struct descriptor_row *a, const struct descriptor_row *b)
{
    if (!is_same(a->identity, b->identity) || a->flags != b->flags || a->offset != b->offset ||
        lseek(a->number, a->offset + 1, SEEK_SET) < 0)
        return false;
    bool same = lseek(b->number, 0, SEEK_CUR) == a->offset + 1;
    (void)lseek(a->number, a->offset, SEEK_SET);
    return same;
}

static const struct descriptor_row *first_of(const struct descriptor_plan *p,
                                             const struct descriptor_row *row)
{
    for (const struct descriptor_row *r = p->rows; r < row; r++)
        if ((r->fate == FATE_REOPENED || r->fate == FATE_REFILLED) && share_offset(r, row))
            return r;
    return NULL;
}

static enum descriptor_fate fate_of(const struct descriptor_row *row, const struct stat *st)
{
    if (row->name[0] == '/' && S_ISREG(st->st_mode) && st->st_nlink == 0)
        return FATE_REFILLED;
    bool named = row->name[0] == '/' && st->st_nlink > 0;
    if (named && (S_ISREG(st->st_mode) || S_ISDIR(st->st_mode)))
        return FATE_REOPENED;
    return named && S_ISCHR(st->st_mode) && strncmp(row->name, "/dev/", 5) == 0 ? FATE_REOPENED
                                                                                : FATE_DEAD;
}

static void tell_lost(const struct descriptor_row *row, struct image_losses *losses)
{
    static const struct {
        const char *begins, *name;
    } kinds[] = {
        { "socket:", "a socket" },
        { "pipe:", "a pipe" },
        { "anon_inode:", "a kernel object" },
    };
    char text[PATH_MAX + 64];
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strncmp(row->name, kinds[i].begins, strlen(kinds[i].begins)) == 0) {
            (void)snprintf(text, sizeof text, "%s (descriptor %d)", kinds[i].name, row->number);
            losses->add(losses, text);
            return;
        }
    (void)snprintf(text, sizeof text, "the file %s (descriptor %d)", row->name, row->number);
    losses->add(losses, text);
}

static int describe(struct descriptor_plan *p, struct descriptor_row *row, int number,
                    const struct descriptor_roles *roles)
{
    struct stat st;
    char path[64], name[PATH_MAX];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", number);
    ssize_t n = readlink(path, name, sizeof name - 1);
    if (n < 0 || fstat(number, &st) < 0)
        return 0;
    name[n] = '\0';
    *row = (struct descriptor_row){ .number = number,
                                    .flags = fcntl(number, F_GETFL),
                                    .stays = !(fcntl(number, F_GETFD) & FD_CLOEXEC),
                                    .mode = st.st_mode & 07777,
                                    .identity = { st.st_dev, st.st_ino },
                                    .bytes = (uint64_t)st.st_size,
                                    .name = strdup(name) };
    if (!row->name)
        return -1;
    row->fate = fate_of(row, &st);
    row->offset = S_ISREG(st.st_mode) ? lseek(number, 0, SEEK_CUR) : 0;
    for (size_t i = 0; i < roles->n; i++)
        if (is_same(roles->is[i], row->identity)) {
            row->fate = FATE_OURS;
            row->role = i;
        }
    bool has_offset = S_ISREG(st.st_mode) && row->fate != FATE_OURS && row->fate != FATE_DEAD;
    const struct descriptor_row *first = has_offset ? first_of(p, row) : NULL;
    if (first) {
        row->fate = FATE_DUPLICATE;
        row->same_as = first->number;
    }
    return 1;
}

int descriptor_plan_make(struct descriptor_plan *p, const struct descriptor_roles *roles,
                         const int skipped[], size_t n_skipped, struct image_losses *losses,
                         char why[IMAGE_WHY])
{
    size_t n = 0;
    *p = (struct descriptor_plan){ .folder = getcwd(NULL, 0) };
    for (int i = 0; i < RLIM_NLIMITS; i++)
        (void)getrlimit((__rlimit_resource_t)i, &p->limits[i]);
    int *numbers = open_numbers(&n);
    p->rows = numbers ? calloc(n + 1, sizeof *p->rows) : NULL;
    int failed = p->rows ? 0 : -1;
    for (size_t i = 0; i < n && !failed; i++) {
        if (has_number(skipped, n_skipped, numbers[i]))
            continue;
        int got = describe(p, &p->rows[p->n], numbers[i], roles);
        failed = got < 0 ? -1 : 0;
        if (got > 0 && p->rows[p->n].fate == FATE_DEAD)
            tell_lost(&p->rows[p->n], losses);
        p->n += got > 0;
    }
    free(numbers);
    return failed ? image_refuse(why, "its descriptors cannot be listed: %s", strerror(errno)) : 0;
}

/* ---- deleted files ---- */

/* A file that the process may only write is read by its name in /proc. */
static int open_for_reading(const struct descriptor_row *row)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", row->number);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static int copy_bytes(int from, uint64_t from_at, int to, uint64_t to_at, uint64_t bytes)
{
    static char piece[PIECE];
    for (uint64_t done = 0; done < bytes;) {
        size_t part = bytes - done < sizeof piece ? (size_t)(bytes - done) : sizeof piece;
        ssize_t n = pread(from, piece, part, (off_t)(from_at + done));
        if (n <= 0 || pwrite(to, piece, (size_t)n, (off_t)(to_at + done)) != n)
            return -1;
        done += (uint64_t)n;
    }
    return 0;
}

int descriptor_plan_store(struct descriptor_plan *p, int fd, uint64_t *at, uint64_t room,
                          char why[IMAGE_WHY])
{
    for (size_t i = 0; i < p->n; i++) {
        struct descriptor_row *row = &p->rows[i];
        if (row->fate != FATE_REFILLED)
            continue;
        if (*at > room || row->bytes > room - *at)
            return image_refuse(why,
                                "its deleted files need more than the %llu bytes that an image "
                                "may have",
                                (unsigned long long)room);
        int from = open_for_reading(row);
        int failed = from < 0 || copy_bytes(from, 0, fd, *at, row->bytes);
        if (from >= 0)
            (void)close(from);
        if (failed)
            return image_refuse(why, "the file %.100s cannot be copied: %s", row->name,
                                strerror(errno));
        row->at = *at;
        *at += row->bytes;
    }
    return 0;
}

static int refill(const struct descriptor_row *row, int image)
{
    char path[] = "/tmp/.belljar-XXXXXX";
    int made = mkostemp(path, O_CLOEXEC);
    if (made < 0)
        return -1;
    (void)fchmod(made, row->mode | S_IRUSR | S_IWUSR);
    /* Opened a second time for the flags that it had. */
    int fd = copy_bytes(image, row->at, made, 0, row->bytes)
                 ? -1
                 : open(path, (row->flags & ~(O_CREAT | O_EXCL | O_TRUNC)) | O_CLOEXEC);
    (void)fchmod(made, row->mode);
    (void)unlink(path);
    (void)close(made);
    return fd;
}

/* ---- the process that became the image ---- */

static int dead_end(const struct descriptor_row *row)
{
    int ends[2];
    bool writes = (row->flags & O_ACCMODE) == O_WRONLY;
    if (row->name && strncmp(row->name, "pipe:", 5) == 0
            ? pipe2(ends, O_CLOEXEC) < 0
            : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return -1;
    (void)close(ends[writes ? 0 : 1]);
    return ends[writes ? 1 : 0];
}

static int reopen(const struct descriptor_row *row)
{
    int fd = open(row->name,
                  (row->flags & ~(O_CREAT | O_EXCL | O_TRUNC)) | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd >= 0)
        (void)fcntl(fd, F_SETFL, row->flags);
    return fd;
}

static void place(const struct descriptor_row *row, int fd)
{
    if (fd < 0)
        return;
    if (row->offset > 0)
        (void)lseek(fd, row->offset, SEEK_SET);
    if (fd != row->number) {
        (void)dup3(fd, row->number, row->stays ? 0 : O_CLOEXEC);
        (void)close(fd);
    } else {
        (void)fcntl(fd, F_SETFD, row->stays ? 0 : FD_CLOEXEC);
    }
}

static bool is_planned(const struct descriptor_plan *p, int number)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->rows[i].number == number)
            return true;
    return false;
}

/* A number that the plan does not use. */
static int put_aside(const struct descriptor_plan *p, int fd)
{
    for (int at = ASIDE;;) {
        int number = fcntl(fd, F_DUPFD_CLOEXEC, at);
        if (number < 0 && at == 0)
            return -1;
        if (number < 0) { /* beyond the limit */
            at = 0;
            continue;
        }
        if (!is_planned(p, number))
            return number;
        (void)close(number);
        at = number + 1;
    }
}

/* Limits of the time of the CPU are the host's for each cell. */
static void restore_limits(const struct descriptor_plan *p)
{
    for (int i = 0; i < RLIM_NLIMITS; i++) {
        struct rlimit now, want = p->limits[i];
        if (i == RLIMIT_CPU || getrlimit((__rlimit_resource_t)i, &now) < 0)
            continue;
        want.rlim_max = want.rlim_max < now.rlim_max ? want.rlim_max : now.rlim_max;
        want.rlim_cur = want.rlim_cur < want.rlim_max ? want.rlim_cur : want.rlim_max;
        (void)setrlimit((__rlimit_resource_t)i, &want);
    }
}

static void restore_row(const struct descriptor_row *row, int image)
{
    int fd = -1;
    if (row->fate == FATE_DUPLICATE) {
        (void)dup3(row->same_as, row->number, row->stays ? 0 : O_CLOEXEC);
        return;
    }
    if (row->fate == FATE_REOPENED)
        fd = reopen(row);
    else if (row->fate == FATE_REFILLED)
        fd = refill(row, image);
    place(row, fd >= 0 ? fd : dead_end(row));
}

void descriptor_plan_restore(const struct descriptor_plan *p, const int ours[], size_t n_roles,
                             int fd)
{
    int aside[DESCRIPTOR_ROLES_MAX + 1];
    size_t n = 0, n_aside = n_roles + 1;
    for (size_t i = 0; i < n_roles; i++)
        aside[i] = put_aside(p, ours[i]);
    aside[n_roles] = put_aside(p, fd);
    int *numbers = open_numbers(&n);
    for (size_t i = 0; i < n; i++)
        if (!has_number(aside, n_aside, numbers[i]))
            (void)close(numbers[i]);
    free(numbers);
    for (size_t i = 0; i < p->n; i++)
        if (p->rows[i].fate == FATE_OURS && p->rows[i].role < n_roles)
            (void)dup3(aside[p->rows[i].role], p->rows[i].number, p->rows[i].stays ? 0 : O_CLOEXEC);
    for (size_t i = 0; i < p->n; i++)
        if (p->rows[i].fate != FATE_OURS)
            restore_row(&p->rows[i], aside[n_roles]);
    for (size_t i = 0; i < n_aside; i++)
        (void)close(aside[i]);
    if (p->folder)
        (void)!chdir(p->folder);
    restore_limits(p);
}

/* ---- other processes ---- */

/* -1: it has ended. */
static pid_t parent_of(pid_t pid)
{
    char path[64], text[256];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        (void)close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *after = strrchr(text, ')'); /* of its name; then a space, its state and a space */
    return after && strlen(after) > 4 && after[2] != 'Z' ? (pid_t)strtol(after + 4, NULL, 10) : -1;
}

static void tell_process(pid_t pid, struct image_losses *losses)
{
    char path[64], name[64], text[160];
    (void)snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, name, sizeof name - 1) : 0;
    if (fd >= 0)
        (void)close(fd);
    if (n <= 0)
        return; /* it has ended */
    name[n] = '\0';
    name[strcspn(name, "\n")] = '\0';
    (void)snprintf(text, sizeof text, "the process %d (%s)", (int)pid, name);
    losses->add(losses, text);
}

void tell_other_processes(const struct process_relative ours[], size_t n,
                          struct image_losses *losses)
{
    /* The parent of the program of a jar is outside, and everything inside belongs to the session.
     * Outside a jar only its children do. */
    bool all = getppid() == 0;
    DIR *d = opendir("/proc");
    const struct dirent *entry;
    while (d && (entry = readdir(d))) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10), parent = pid > 1 ? parent_of(pid) : -1;
        bool lost = parent >= 0 && (all || parent == getpid());
        for (size_t i = 0; i < n; i++)
            lost = lost || (parent > 0 && parent == ours[i].pid);
        for (size_t i = 0; i < n; i++)
            lost = lost && pid != ours[i].pid && !(ours[i].with_children && parent == ours[i].pid);
        if (lost && pid != getpid())
            tell_process(pid, losses);
    }
    if (d)
        (void)closedir(d);
}
