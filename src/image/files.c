#include "image/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "image/bases.h"
#include "image/earlier.h"
#include "image/links.h"
#include "image/walk.h"

enum {
    PIECE = 1 << 20,
    COMPARED = 128 << 10, /* at once: both copies stay in the processor's cache */
    SHARED_MIN = 64,      /* a shorter file is stored: a reference is as long */
    HOLE = 4096,          /* holes are so large, or a multiple */
    BLOCK = 512,          /* of st_blocks */
};

const char *const image_places[] = { "/sandbox", "/tmp", NULL };

/* ---- packing ---- */

struct packing {
    struct image_walk walk; /* the first member */
    int fd;
    uint64_t at, room;
    char *pending, *other; /* PIECE bytes each */
    size_t n_pending;
    struct earlier_files earlier;
    struct image_links links;
    struct image_losses *losses;
    char *why;
};

static void lose(struct packing *p, const char *kind, const char *name, int error)
{
    char text[FILE_NAME_MAX + 128];
    if (error)
        (void)snprintf(text, sizeof text, "the %s %s (%s)", kind, name, strerror(error));
    else
        (void)snprintf(text, sizeof text, "the %s %s", kind, name);
    p->losses->add(p->losses, text);
}

static int flush(struct packing *p)
{
    for (size_t done = 0; done < p->n_pending;) {
        ssize_t n = pwrite(p->fd, p->pending + done, p->n_pending - done, (off_t)p->at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return image_refuse(p->why, "the files of the session cannot be written: %s",
                                strerror(errno));
        done += (size_t)n;
        p->at += (uint64_t)n;
    }
    p->n_pending = 0;
    return 0;
}

static int check_room(const struct packing *p, uint64_t more)
{
    uint64_t used = p->at + p->n_pending;
    if (used <= p->room && more <= p->room - used)
        return 0;
    return image_refuse(p->why,
                        "the files of the session need more than the %llu bytes that an image may "
                        "have",
                        (unsigned long long)p->room);
}

static int add(struct packing *p, const void *bytes, size_t n)
{
    if (check_room(p, n))
        return -1;
    for (size_t done = 0; done < n;) {
        size_t part = n - done < PIECE - p->n_pending ? n - done : PIECE - p->n_pending;
        memcpy(p->pending + p->n_pending, (const char *)bytes + done, part);
        p->n_pending += part;
        done += part;
        if (p->n_pending == PIECE && flush(p))
            return -1;
    }
    return 0;
}

/* A guest can set times that nobody can count in nanoseconds. */
static int64_t nanoseconds(const struct timespec *t)
{
    int64_t ns;
    return __builtin_mul_overflow(t->tv_sec, INT64_C(1000000000), &ns) ||
                   __builtin_add_overflow(ns, t->tv_nsec, &ns)
               ? 0
               : ns;
}

static int add_entry(struct packing *p, enum file_kind kind, const struct stat *st, uint64_t bytes)
{
    size_t n = strlen(p->walk.path);
    bool has_holes = S_ISREG(st->st_mode) && st->st_blocks < st->st_size / BLOCK;
    const struct file_entry e = { .kind = (uint8_t)kind,
                                  .mode = (st->st_mode & 07777) | (has_holes ? FILE_HAS_HOLES : 0),
                                  .changed = nanoseconds(&st->st_mtim),
                                  .bytes = bytes,
                                  .name_bytes = (uint32_t)n };
    return add(p, &e, sizeof e) || add(p, p->walk.path, n) ? -1 : 0;
}

/* A process of the guest may cut the file short meanwhile: the rest is zeros. */
static int add_contents(struct packing *p, int fd, uint64_t left)
{
    while (left > 0) {
        size_t most = PIECE - p->n_pending;
        if (left < most)
            most = (size_t)left;
        ssize_t n = read(fd, p->pending + p->n_pending, most);
        if (n <= 0) {
            memset(p->pending + p->n_pending, 0, most);
            n = (ssize_t)most;
        }
        p->n_pending += (size_t)n;
        left -= (uint64_t)n;
        if (p->n_pending == PIECE && flush(p))
            return -1;
    }
    return 0;
}

/* Whether the file has the bytes that are in the earlier image. Its times are no proof: writes to
 * mapped memory of a file do not change them in every file system. */
static bool is_equal(struct packing *p, int fd, const struct file_source *source, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes;) {
        size_t part = bytes - done < COMPARED ? (size_t)(bytes - done) : COMPARED;
        if (pread(fd, p->other, part, (off_t)done) != (ssize_t)part ||
            pread(source->fd, p->other + COMPARED, part, (off_t)(source->at + done)) !=
                (ssize_t)part ||
            memcmp(p->other, p->other + COMPARED, part) != 0)
            return false;
        done += part;
    }
    return true;
}

static int pack_contents(struct packing *p, const struct stat *st, int fd)
{
    uint64_t bytes = (uint64_t)st->st_size;
    struct file_source source;
    if (bytes >= SHARED_MIN && earlier_find(&p->earlier, p->walk.path, bytes, &source) &&
        is_equal(p, fd, &source, bytes)) {
        earlier_use(&p->earlier, &source);
        const struct file_place place = { source.id, source.at };
        return add_entry(p, FILE_SHARED, st, bytes) || add(p, &place, sizeof place) ? -1 : 0;
    }
    return add_entry(p, FILE_REGULAR, st, bytes) || check_room(p, bytes) ||
                   add_contents(p, fd, bytes)
               ? -1
               : 0;
}

/* Of a file with more than one name, the first has its bytes. */
static int pack_file(struct packing *p, const struct stat *st)
{
    bool is_full = false;
    autoclose int fd = open(p->walk.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        lose(p, "file", p->walk.path, errno);
        return 0;
    }
    const char *first = st->st_nlink > 1 ? image_links_find(&p->links, st, p->walk.path, &is_full)
                                         : NULL;
    if (is_full)
        lose(p, "hard link", p->walk.path, 0);
    if (!first)
        return pack_contents(p, st, fd);
    size_t n = strlen(first);
    return add_entry(p, FILE_NAME, st, n) || add(p, first, n) ? -1 : 0;
}

static int pack_link(struct packing *p, const struct stat *st)
{
    char target[PATH_MAX];
    ssize_t n = readlink(p->walk.path, target, sizeof target);
    if (n < 0 || (size_t)n == sizeof target) {
        lose(p, "link", p->walk.path, n < 0 ? errno : ENAMETOOLONG);
        return 0;
    }
    return add_entry(p, FILE_LINK, st, (uint64_t)n) || add(p, target, (size_t)n) ? -1 : 0;
}

static int pack_one(struct image_walk *w, const struct stat *st)
{
    struct packing *p = (struct packing *)w;
    if (S_ISREG(st->st_mode))
        return pack_file(p, st);
    if (S_ISLNK(st->st_mode))
        return pack_link(p, st);
    if (S_ISDIR(st->st_mode) || S_ISFIFO(st->st_mode))
        return add_entry(p, S_ISDIR(st->st_mode) ? FILE_FOLDER : FILE_FIFO, st, 0);
    lose(p, "socket", w->path, 0);
    return 0;
}

static int lose_folder(struct image_walk *w, int error)
{
    lose((struct packing *)w, "contents of", w->path, error);
    return 0;
}

static char *new_piece(char why[IMAGE_WHY])
{
    /* Not from the allocator, whose memory goes into the image. */
    char *piece = mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (piece != MAP_FAILED)
        return piece;
    (void)image_refuse(why, "there is no memory for the files of the session");
    return NULL;
}

int image_files_pack(int fd, struct image_bases *bases, const char *const places[], uint64_t room,
                     struct image_losses *losses, uint64_t *ret_end, char why[IMAGE_WHY])
{
    const struct file_entry end = { .kind = FILE_END };
    struct packing p = { .walk = { .visit = pack_one, .unreadable = lose_folder },
                         .fd = fd,
                         .at = IMAGE_FRONT,
                         .room = room,
                         .pending = new_piece(why),
                         .other = new_piece(why),
                         .losses = losses,
                         .why = why };
    int rc = p.pending && p.other ? 0 : -1;
    earlier_open(&p.earlier, bases);
    for (; rc == 0 && *places; places++)
        rc = image_walk_place(&p.walk, *places);
    if (rc == 0)
        rc = add(&p, &end, sizeof end) || flush(&p) ? -1 : 0;
    image_links_done(&p.links);
    if (p.pending)
        (void)munmap(p.pending, PIECE);
    if (p.other)
        (void)munmap(p.other, PIECE);
    if (rc == 0)
        *ret_end = p.at;
    return rc;
}

/* ---- unpacking ---- */

static int remove_one(struct image_walk *w, const struct stat *st)
{
    (void)(S_ISDIR(st->st_mode) ? rmdir(w->path) : unlink(w->path));
    return 0; /* a name that stays stops the entry that needs it */
}

static int open_folder(struct image_walk *w, int error)
{
    struct stat st;
    if (error == EACCES && lstat(w->path, &st) == 0 && (st.st_mode & 0700) != 0700 &&
        chmod(w->path, 0700) == 0)
        return image_walk_again(w);
    return 0;
}

struct unpacking {
    int fd;
    const struct image_bases *bases;
    uint64_t at;
    char *piece; /* PIECE bytes */
    struct file_entry entry;
    char name[FILE_NAME_MAX];
    char *why;
};

static int take(struct unpacking *u, void *to, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(u->fd, (char *)to + done, n - done, (off_t)u->at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return image_refuse(u->why, "the files of the image are cut short");
        done += (size_t)got;
        u->at += (uint64_t)got;
    }
    return 0;
}

static int take_entry(struct unpacking *u)
{
    struct file_entry *e = &u->entry;
    if (take(u, e, sizeof *e))
        return -1;
    if (e->kind == FILE_END)
        return 0;
    if (e->kind >= FILE_KINDS || e->name_bytes >= sizeof u->name)
        return image_refuse(u->why, "the image has a file of an unknown kind or with too long a "
                                    "name");
    if (take(u, u->name, e->name_bytes))
        return -1;
    u->name[e->name_bytes] = '\0';
    return 0;
}

static int cannot_make(const struct unpacking *u)
{
    return image_refuse(u->why, "%.120s cannot be made: %s", u->name, strerror(errno));
}

static bool is_zeros(const char *bytes, size_t n)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0;
}

/* PIECE bytes at most, at an offset that is a multiple of it. */
static int write_piece(const struct unpacking *u, int fd, size_t n)
{
    bool has_holes = u->entry.mode & FILE_HAS_HOLES;
    for (size_t done = 0; done < n;) {
        size_t part = has_holes && n - done > HOLE ? HOLE : n - done;
        if (has_holes && is_zeros(u->piece + done, part)) {
            if (lseek(fd, (off_t)part, SEEK_CUR) < 0)
                return cannot_make(u);
            done += part;
            continue;
        }
        ssize_t wrote = write(fd, u->piece + done, part);
        if (wrote <= 0)
            return cannot_make(u);
        done += (size_t)wrote;
    }
    return 0;
}

/* The bytes of the file go on at u->at of u->fd. */
static int make_file(struct unpacking *u)
{
    autoclose int fd = open(u->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return cannot_make(u);
    for (uint64_t left = u->entry.bytes; left > 0;) {
        size_t part = left < PIECE ? (size_t)left : PIECE;
        if (take(u, u->piece, part))
            return -1;
        left -= part;
        if (write_piece(u, fd, part))
            return -1;
    }
    /* The last bytes may be a hole. */
    if (u->entry.mode & FILE_HAS_HOLES && ftruncate(fd, (off_t)u->entry.bytes) < 0)
        return cannot_make(u);
    return 0;
}

/* The same from another file. */
static int make_shared_file(struct unpacking *u)
{
    struct file_place place;
    if (take(u, &place, sizeof place))
        return -1;
    int found = image_find_base(u->bases, &place.id);
    if (found < 0)
        return image_refuse(u->why, "an earlier image that it needs is missing");
    const int fd = u->fd;
    const uint64_t at = u->at;
    u->fd = u->bases->fds[found];
    u->at = place.at;
    int rc = make_file(u);
    u->fd = fd;
    u->at = at;
    return rc;
}

static int make_folder(struct unpacking *u)
{
    return mkdir(u->name, 0700) < 0 ? cannot_make(u) : 0;
}

/* Into u->piece. */
static int take_target(struct unpacking *u)
{
    if (u->entry.bytes >= PATH_MAX)
        return image_refuse(u->why, "the image has a link with too long a target");
    if (take(u, u->piece, (size_t)u->entry.bytes))
        return -1;
    u->piece[u->entry.bytes] = '\0';
    return 0;
}

static int make_link(struct unpacking *u)
{
    return take_target(u) ? -1 : symlink(u->piece, u->name) < 0 ? cannot_make(u) : 0;
}

static int make_name(struct unpacking *u)
{
    return take_target(u) ? -1 : link(u->piece, u->name) < 0 ? cannot_make(u) : 0;
}

static int make_fifo(struct unpacking *u)
{
    return mkfifo(u->name, 0600) < 0 ? cannot_make(u) : 0;
}

static int (*const makers[])(struct unpacking *) = {
    [FILE_REGULAR] = make_file, [FILE_FOLDER] = make_folder,      [FILE_LINK] = make_link,
    [FILE_FIFO] = make_fifo,    [FILE_SHARED] = make_shared_file, [FILE_NAME] = make_name,
};

/* The file system may not have a time that an image asks for. */
static void finish_one(const struct unpacking *u)
{
    const struct file_entry *e = &u->entry;
    int64_t ns = e->changed % 1000000000, s = e->changed / 1000000000;
    if (ns < 0) {
        ns += 1000000000;
        s--;
    }
    const struct timespec times[] = { { s, ns }, { s, ns } };
    if (e->kind != FILE_LINK)
        (void)chmod(u->name, e->mode & 07777);
    (void)utimensat(AT_FDCWD, u->name, times, AT_SYMLINK_NOFOLLOW);
}

/* Folders get their mode and time when nothing more is put into them, backwards: the right to enter
 * a folder may be the first that goes. */
struct folder {
    struct folder *before;
    uint64_t at; /* of its entry */
};

static int remember_folder(struct folder **last, uint64_t at, char why[IMAGE_WHY])
{
    struct folder *f = malloc(sizeof *f);
    if (!f)
        return image_refuse(why, "there is no memory for the folders of the session");
    *f = (struct folder){ *last, at };
    *last = f;
    return 0;
}

static int make_all(struct unpacking *u, struct folder **last)
{
    u->at = IMAGE_FRONT;
    for (;;) {
        uint64_t at = u->at;
        if (take_entry(u))
            return -1;
        if (u->entry.kind == FILE_END)
            return 0;
        if (makers[u->entry.kind](u))
            return -1;
        if (u->entry.kind != FILE_FOLDER)
            finish_one(u);
        else if (remember_folder(last, at, u->why))
            return -1;
    }
}

static int finish_folders(struct unpacking *u, struct folder *last, int rc)
{
    while (last) {
        autofree struct folder *f = last;
        last = f->before;
        u->at = f->at;
        if (rc == 0 && (rc = take_entry(u)) == 0)
            finish_one(u);
    }
    return rc;
}

int image_files_unpack(int fd, const struct image_bases *bases, const char *const places[],
                       char why[IMAGE_WHY])
{
    struct image_walk clear = { .visit = remove_one,
                                .unreadable = open_folder,
                                .folders_last = true };
    struct unpacking u = { .fd = fd, .bases = bases, .piece = new_piece(why), .why = why };
    if (!u.piece)
        return -1;
    for (; *places; places++)
        (void)image_walk_place(&clear, *places);
    struct folder *last = NULL;
    int rc = make_all(&u, &last);
    rc = finish_folders(&u, last, rc);
    (void)munmap(u.piece, PIECE);
    return rc;
}
