#include "image/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/auto.h"
#include "image/listing.h"

enum {
    ROWS_MAX = IMAGE_DESCRIPTORS_MAX,
    WATCHES_MAX = 4096,
    NAMES_BYTES = 1 << 20,
    UNREAD_BYTES = 1 << 20,
    LINK_BYTES = PATH_MAX,
    INFO_BYTES = 256 << 10, /* of one event loop */
    ASIDE = 300,            /* out of the way while the others are made */
};

enum kind { OURS, NAMED, DUPLICATE, COUNTER, LOOP, PIPE, DEAD_PIPE, DEAD_STREAM, DEAD_QUIET };

struct row {
    int number, flags, fd_flags;
    enum kind kind;
    enum image_role role;
    dev_t device;
    ino_t inode;
    off_t at;       /* of a file */
    int same_as;    /* of a duplicate: the number of the first one, with the same position */
    uint64_t count; /* of a counter */
    size_t name;
    size_t unread, n_unread; /* of a pipe: at its end that reads */
};

struct image_descriptors {
    struct row rows[ROWS_MAX];
    struct watch {
        int loop;
        int fd;
        struct epoll_event event;
    } watches[WATCHES_MAX];
    size_t n_rows, n_watches, n_names, n_unread;
    bool is_still; /* while they are taken */
    char folder[PATH_MAX];
    char names[NAMES_BYTES];
    char unread[UNREAD_BYTES];
    char text[INFO_BYTES]; /* of /proc */
    int numbers[ROWS_MAX];
};

struct image_descriptors *image_descriptors_new(void)
{
    void *d = mmap(NULL, sizeof(struct image_descriptors), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return d == MAP_FAILED ? NULL : d;
}

void image_descriptors_free(struct image_descriptors *d)
{
    if (d)
        (void)munmap(d, sizeof *d);
}

void image_roles_find(struct image_roles *roles, const int numbers[IMAGE_ROLES])
{
    for (int i = 0; i < IMAGE_ROLES; i++) {
        struct stat st;
        bool is_there = fstat(numbers[i], &st) == 0;
        roles->of[i].device = is_there ? st.st_dev : 0;
        roles->of[i].inode = is_there ? st.st_ino : 0;
    }
}

/* ---- taking ---- */

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static size_t read_text(const char *path, char *to, size_t size)
{
    size_t n = 0;
    ssize_t got;
    autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && n < size - 1 && (got = read(fd, to + n, size - 1 - n)) > 0)
        n += (size_t)got;
    to[n] = '\0';
    return n;
}

static const char *read_info(struct image_descriptors *d, int number)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/fdinfo/%d", number);
    (void)read_text(path, d->text, sizeof d->text);
    return d->text;
}

static bool number_after(const char *text, const char *word, int base, uint64_t *ret)
{
    const char *at = strstr(text, word);
    if (!at)
        return false;
    *ret = strtoull(at + strlen(word), NULL, base);
    return true;
}

static int take_watches(struct image_descriptors *d, int loop, char why[IMAGE_WHY])
{
    const char *line = read_info(d, loop);
    for (; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        uint64_t fd, events, data;
        if (!starts_with(line, "tfd:") || !number_after(line, "tfd:", 10, &fd) ||
            !number_after(line, "events:", 16, &events) || !number_after(line, "data:", 16, &data))
            continue;
        if (d->n_watches == WATCHES_MAX)
            return image_refuse(why, "its event loops watch more than %d descriptors", WATCHES_MAX);
        d->watches[d->n_watches++] = (struct watch){
            loop, (int)fd, { .events = (uint32_t)events, .data = { .u64 = data } }
        };
    }
    return 0;
}

static bool has_name(const struct stat *st, const char *link)
{
    if (link[0] != '/' || ends_with(link, " (deleted)"))
        return false;
    return S_ISREG(st->st_mode) || S_ISDIR(st->st_mode) ||
           (S_ISCHR(st->st_mode) && starts_with(link, "/dev/"));
}

/* A listening socket that finds its end, or one of datagrams, would keep an event loop busy. */
static enum kind kind_of_socket(int number)
{
    int type = 0, listens = 0;
    socklen_t n = sizeof type;
    (void)getsockopt(number, SOL_SOCKET, SO_TYPE, &type, &n);
    n = sizeof listens;
    (void)getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &listens, &n);
    return listens || type == SOCK_DGRAM || type == SOCK_RAW ? DEAD_QUIET : DEAD_STREAM;
}

static enum kind kind_of(const struct stat *st, int number, const char *link)
{
    if (has_name(st, link))
        return NAMED;
    if (starts_with(link, "anon_inode:[eventfd]"))
        return COUNTER;
    if (starts_with(link, "anon_inode:[eventpoll]"))
        return LOOP;
    if (S_ISFIFO(st->st_mode))
        return PIPE;
    return S_ISSOCK(st->st_mode) ? kind_of_socket(number) : DEAD_STREAM;
}

static const struct {
    const char *start, *name;
} known[] = {
    { "socket:", "a socket" },
    { "pipe:", "a pipe" },
    { "anon_inode:", "a kernel object" },
};

static void lose(struct image_losses *losses, const struct row *r, const char *link)
{
    char text[LINK_BYTES + 64];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (!starts_with(link, known[i].start))
            continue;
        (void)snprintf(text, sizeof text, "%s (descriptor %d)", known[i].name, r->number);
        losses->add(losses, text);
        return;
    }
    (void)snprintf(text, sizeof text, "the file %s (descriptor %d)", link, r->number);
    losses->add(losses, text);
}

static int take_name(struct image_descriptors *d, struct row *r, const char *link,
                     char why[IMAGE_WHY])
{
    size_t n = strlen(link) + 1;
    if (n > sizeof d->names - d->n_names)
        return image_refuse(why, "the names of its open files are too long");
    r->name = d->n_names;
    memcpy(d->names + d->n_names, link, n);
    d->n_names += n;
    return 0;
}

static bool find_role(const struct image_roles *roles, struct row *r)
{
    for (int i = 0; i < IMAGE_ROLES; i++) {
        if (roles->of[i].inode == 0 || roles->of[i].inode != r->inode ||
            roles->of[i].device != r->device)
            continue;
        r->kind = OURS;
        r->role = (enum image_role)i;
        return true;
    }
    return false;
}

/* Two numbers have one position if moving one moves the other. */
static bool share_position(const struct row *a, const struct row *b)
{
    if (a->kind != NAMED || a->inode != b->inode || a->device != b->device ||
        a->flags != b->flags || a->at != b->at || lseek(a->number, a->at + 1, SEEK_SET) < 0)
        return false;
    bool same = lseek(b->number, 0, SEEK_CUR) == a->at + 1;
    (void)lseek(a->number, a->at, SEEK_SET);
    return same;
}

static void find_first(const struct image_descriptors *d, struct row *r)
{
    for (const struct row *o = d->rows; d->is_still && o < r; o++) {
        if (!share_position(o, r))
            continue;
        r->kind = DUPLICATE;
        r->same_as = o->number;
        return;
    }
}

static int take_one(struct image_descriptors *d, const struct image_roles *roles, int number,
                    char why[IMAGE_WHY])
{
    struct stat st;
    char path[64], link[LINK_BYTES];
    struct row *r = &d->rows[d->n_rows];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", number);
    ssize_t n = readlink(path, link, sizeof link - 1);
    if (n < 0 || fstat(number, &st) < 0)
        return 0; /* it was the list itself */
    link[n] = '\0';
    *r = (struct row){ .number = number,
                       .flags = fcntl(number, F_GETFL),
                       .fd_flags = fcntl(number, F_GETFD),
                       .device = st.st_dev,
                       .inode = st.st_ino };
    d->n_rows++;
    if (find_role(roles, r))
        return 0;
    r->kind = kind_of(&st, number, link);
    if (take_name(d, r, link, why))
        return -1;
    if (r->kind == NAMED && S_ISREG(st.st_mode)) {
        r->at = lseek(number, 0, SEEK_CUR);
        find_first(d, r);
    } else if (r->kind == COUNTER) {
        (void)number_after(read_info(d, number), "eventfd-count:", 16, &r->count);
    }
    return r->kind == LOOP ? take_watches(d, number, why) : 0;
}

static bool reads(const struct row *r)
{
    return (r->flags & O_ACCMODE) == O_RDONLY;
}

static const struct row *other_end(const struct image_descriptors *d, const struct row *r)
{
    for (const struct row *o = d->rows; o < d->rows + d->n_rows; o++)
        if (o->kind == PIPE && o->inode == r->inode && reads(o) != reads(r))
            return o;
    return NULL;
}

/* Reads the bytes in a pipe and puts them back: no other thread runs. */
static bool take_unread(struct image_descriptors *d, struct row *r, int writer)
{
    int n = 0;
    size_t room = sizeof d->unread - d->n_unread;
    if (ioctl(r->number, FIONREAD, &n) < 0 || n <= 0)
        return n == 0;
    if ((size_t)n > room)
        return false;
    (void)fcntl(r->number, F_SETFL, r->flags | O_NONBLOCK);
    ssize_t got = read(r->number, d->unread + d->n_unread, (size_t)n);
    (void)fcntl(r->number, F_SETFL, r->flags);
    if (got <= 0)
        return true;
    r->unread = d->n_unread;
    r->n_unread = (size_t)got;
    d->n_unread += r->n_unread;
    return write(writer, d->unread + r->unread, r->n_unread) == got;
}

static void take_pipes(struct image_descriptors *d)
{
    for (struct row *r = d->rows; r < d->rows + d->n_rows; r++) {
        if (r->kind != PIPE)
            continue;
        const struct row *other = other_end(d, r);
        bool is_first = true;
        for (const struct row *o = d->rows; o < r; o++)
            is_first = is_first && (o->inode != r->inode || reads(o) != reads(r));
        if (other && reads(r) && is_first && !take_unread(d, r, other->number))
            r->kind = DEAD_PIPE; /* too many bytes; the other end follows */
    }
    for (struct row *r = d->rows; r < d->rows + d->n_rows; r++)
        if (r->kind == PIPE && !other_end(d, r))
            r->kind = DEAD_PIPE;
}

static size_t list_numbers(int to[ROWS_MAX])
{
    struct image_listing l;
    size_t n = 0;
    int number;
    if (!image_listing_open(&l, "/proc/self/fd"))
        return 0;
    while ((number = image_listing_next_number(&l)) >= 0 && n < ROWS_MAX)
        if (number != l.fd)
            to[n++] = number;
    image_listing_close(&l);
    return n;
}

int image_descriptors_take(struct image_descriptors *d, const struct image_roles *roles,
                           bool is_still, const int skip[], size_t n_skip,
                           struct image_losses *losses, char why[IMAGE_WHY])
{
    d->is_still = is_still;
    d->n_rows = d->n_watches = d->n_names = d->n_unread = 0;
    ssize_t cwd = readlink("/proc/self/cwd", d->folder, sizeof d->folder - 1);
    d->folder[cwd > 0 ? cwd : 0] = '\0';
    size_t n = list_numbers(d->numbers);
    if (n == 0 || n == ROWS_MAX)
        return image_refuse(why, "it has %d or more descriptors open", ROWS_MAX);
    for (size_t i = 0; i < n; i++) {
        bool is_skipped = false;
        for (size_t k = 0; k < n_skip; k++)
            is_skipped = is_skipped || skip[k] == d->numbers[i];
        if (!is_skipped && take_one(d, roles, d->numbers[i], why))
            return -1;
    }
    take_pipes(d);
    for (const struct row *r = d->rows; r < d->rows + d->n_rows; r++)
        if (r->kind >= DEAD_PIPE)
            lose(losses, r, d->names + r->name);
    return 0;
}

/* ---- making them ---- */

/* Moves fd to the number of the row. */
static void place(int fd, const struct row *r)
{
    if (fd < 0)
        return;
    if (fd != r->number) {
        (void)dup3(fd, r->number, r->fd_flags & FD_CLOEXEC ? O_CLOEXEC : 0);
        (void)close(fd);
    } else {
        (void)fcntl(fd, F_SETFD, r->fd_flags);
    }
}

static int dead_stream(const struct row *r)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (r->flags & O_NONBLOCK), 0, ends) < 0)
        return -1;
    (void)close(ends[1]);
    return ends[0];
}

static int dead_quiet(const struct row *r)
{
    return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | (r->flags & O_NONBLOCK), 0);
}

static int dead_pipe(const struct row *r)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | (r->flags & O_NONBLOCK)) < 0)
        return -1;
    (void)close(ends[reads(r) ? 1 : 0]);
    return ends[reads(r) ? 0 : 1];
}

static int open_again(const struct image_descriptors *d, const struct row *r)
{
    int fd = open(d->names + r->name, (r->flags & ~(O_CREAT | O_EXCL | O_TRUNC)) | O_CLOEXEC);
    if (fd < 0)
        return dead_stream(r);
    if (r->at > 0)
        (void)lseek(fd, r->at, SEEK_SET);
    return fd;
}

static int make_one(const struct image_descriptors *d, const struct row *r)
{
    switch (r->kind) {
    case NAMED:
        return open_again(d, r);
    case COUNTER: {
        int fd = eventfd(0, EFD_CLOEXEC | (r->flags & O_NONBLOCK ? EFD_NONBLOCK : 0));
        if (fd >= 0 && r->count > 0)
            (void)!write(fd, &r->count, sizeof r->count);
        return fd;
    }
    case LOOP:
        return epoll_create1(EPOLL_CLOEXEC);
    case DEAD_PIPE:
        return dead_pipe(r);
    case DEAD_QUIET:
        return dead_quiet(r);
    default:
        return dead_stream(r);
    }
}

static int aside(const struct image_descriptors *d, int fd)
{
    for (int at = ASIDE;; at++) {
        int number = fcntl(fd, F_DUPFD_CLOEXEC, at);
        bool is_taken = false;
        for (const struct row *r = d->rows; r < d->rows + d->n_rows; r++)
            is_taken = is_taken || r->number == number;
        if (number < 0 || !is_taken)
            return number;
        (void)close(number);
        at = number;
    }
}

/* Each number of both ends, once: at the first row of the pipe. */
static void make_pipe(const struct image_descriptors *d, const struct row *first)
{
    int ends[2], moved[2];
    for (const struct row *r = d->rows; r < first; r++)
        if (r->kind == PIPE && r->inode == first->inode)
            return;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return;
    for (int i = 0; i < 2; i++)
        moved[i] = aside(d, ends[i]);
    (void)close(ends[0]);
    (void)close(ends[1]);
    for (const struct row *r = first; r < d->rows + d->n_rows; r++) {
        if (r->kind != PIPE || r->inode != first->inode)
            continue;
        int end = moved[reads(r) ? 0 : 1];
        (void)dup3(end, r->number, r->fd_flags & FD_CLOEXEC ? O_CLOEXEC : 0);
        (void)fcntl(end, F_SETFL, r->flags & O_NONBLOCK);
        if (r->n_unread > 0)
            (void)!write(moved[1], d->unread + r->unread, r->n_unread);
    }
    (void)close(moved[0]);
    (void)close(moved[1]);
}

static void close_all_but(const int kept[IMAGE_ROLES])
{
    struct image_listing l;
    int number, closed = 1;
    /* The list changes under our hands: again, until nothing is left. */
    while (closed > 0 && image_listing_open(&l, "/proc/self/fd")) {
        closed = 0;
        while ((number = image_listing_next_number(&l)) >= 0) {
            bool is_kept = number == l.fd;
            for (int i = 0; i < IMAGE_ROLES; i++)
                is_kept = is_kept || number == kept[i];
            if (!is_kept && close(number) == 0)
                closed++;
        }
        image_listing_close(&l);
    }
}

void image_descriptors_restore(const struct image_descriptors *d, int channel)
{
    const int mine[IMAGE_ROLES] = { 0, 1, 2, channel };
    int kept[IMAGE_ROLES];
    for (int i = 0; i < IMAGE_ROLES; i++)
        kept[i] = aside(d, mine[i]);
    close_all_but(kept);
    for (const struct row *r = d->rows; r < d->rows + d->n_rows; r++) {
        if (r->kind == OURS)
            (void)dup3(kept[r->role], r->number, r->fd_flags & FD_CLOEXEC ? O_CLOEXEC : 0);
        else if (r->kind == PIPE)
            make_pipe(d, r);
        else if (r->kind == DUPLICATE)
            (void)dup3(r->same_as, r->number, r->fd_flags & FD_CLOEXEC ? O_CLOEXEC : 0);
        else
            place(make_one(d, r), r);
    }
    for (size_t i = 0; i < d->n_watches; i++) {
        struct epoll_event event = d->watches[i].event;
        (void)epoll_ctl(d->watches[i].loop, EPOLL_CTL_ADD, d->watches[i].fd, &event);
    }
    for (int i = 0; i < IMAGE_ROLES; i++)
        if (kept[i] >= 0)
            (void)close(kept[i]);
    (void)!chdir(d->folder);
}

size_t image_descriptors_renamed(const struct image_descriptors *d, struct image_renamed *to,
                                 size_t room)
{
    size_t n = 0;
    for (const struct row *r = d->rows; r < d->rows + d->n_rows && n < room; r++)
        if (r->kind == NAMED)
            to[n++] = (struct image_renamed){ image_inode_of(r->number), { r->device, r->inode } };
    return n;
}

/* ---- children ---- */

void image_children(const pid_t skip[], size_t n_skip, struct image_losses *losses)
{
    struct image_listing l;
    int pid;
    if (!image_listing_open(&l, "/proc"))
        return;
    while ((pid = image_listing_next_number(&l)) >= 0) {
        char path[64], text[512], name[640];
        (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
        (void)read_text(path, text, sizeof text);
        /* PID (NAME) STATE PARENT: the name may have anything in it. */
        const char *start = strchr(text, '('), *end = strrchr(text, ')');
        bool is_ours = start && end && start < end && strlen(end) > 4 &&
                       strtol(end + 4, NULL, 10) == getpid();
        for (size_t i = 0; i < n_skip; i++)
            is_ours = is_ours && skip[i] != pid;
        if (!is_ours)
            continue;
        (void)snprintf(name, sizeof name, "the process %d (%.*s)", pid, (int)(end - start - 1),
                       start + 1);
        losses->add(losses, name);
    }
    image_listing_close(&l);
}
