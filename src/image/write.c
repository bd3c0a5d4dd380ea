/* Writes an image of this process: a child does, from its copy of the memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "image/context.h"
#include "image/identity.h"
#include "image/share.h"

enum {
    /* A smaller gap between two runs costs less in the image than one more run. */
    GAP_PAGES = 4,
    /* Each run is a system call, and many are a mapping, when a process becomes the image. With more
     * of them, pages of bases between two runs are stored again: the image grows, and stays quick to
     * become. */
    RUNS_MOST = 4096,
    KERNEL_DATA_MAX = 16 * IMAGE_PAGE,
};

/* pagemap(5) */
#define PRESENT (UINT64_C(1) << 63)
#define SWAPPED (UINT64_C(1) << 62)
#define OF_FILE (UINT64_C(1) << 61)

static struct image_context context; /* one image at a time */

struct writer {
    int fd, report_fd;
    uint64_t head_at, room;
    struct image_bases bases;
    struct image_share share;
    uint64_t gap,
        base_gap; /* bytes: nothing, or pages of bases, between two runs that become one */
    struct image_scratch *s;
    char why[IMAGE_WHY];
};

/* ---- runs ---- */

static uint64_t end_of(const struct image_run *r)
{
    return r->start + r->bytes;
}

static bool continues(const struct image_run *last, const struct image_run *r)
{
    return last->map == r->map && last->file == r->file && end_of(last) == r->start &&
           (r->file == 0 || last->at + last->bytes == r->at);
}

/* Whether a run of the image's own pages may grow over everything up to r. */
static bool reaches(const struct image_run *last, const struct image_run *r, uint64_t gap)
{
    return last->map == r->map && last->file == 0 && r->file == 0 && r->start - end_of(last) <= gap;
}

static void append(struct writer *w, const struct image_run *r)
{
    struct image_scratch *s = w->s;
    struct image_run *last = s->n_runs > 0 ? &s->runs[s->n_runs - 1] : NULL;
    if (last && continues(last, r)) {
        last->bytes += r->bytes;
    } else if (last && reaches(last, r, w->gap)) {
        last->bytes = end_of(r) - last->start;
    } else if (s->n_runs > 1 && last->file != 0 && reaches(last - 1, r, w->base_gap)) {
        last[-1].bytes = end_of(r) - last[-1].start; /* over a short run of a base */
        s->n_runs--;
    } else {
        s->runs[s->n_runs++] = *r;
    }
}

/* Fills gaps, and stores short runs of bases, until the list is short enough. */
static void thin_out(struct writer *w)
{
    struct image_scratch *s = w->s;
    while (s->n_runs > s->n_maps + RUNS_MOST / 2) {
        size_t n = s->n_runs;
        w->base_gap = w->base_gap ? 2 * w->base_gap : IMAGE_PAGE;
        w->gap = w->gap > w->base_gap ? w->gap : w->base_gap;
        s->n_runs = 0;
        for (size_t i = 0; i < n; i++) {
            struct image_run r = s->runs[i];
            if (r.bytes <= w->base_gap)
                r.file = 0;
            append(w, &r);
        }
    }
}

static void add_pages(struct writer *w, const struct image_map *m, uint64_t start, uint64_t bytes,
                      uint32_t file, uint64_t at)
{
    const struct image_run r = { start, bytes, at, file, (uint32_t)(m - w->s->maps) };
    append(w, &r);
    if (w->s->n_runs >= w->s->n_maps + RUNS_MOST)
        thin_out(w);
}

/* ---- which pages ---- */

/* The state of a piece of a mapping. */
struct piece {
    const struct image_map *map;
    uint32_t origin;  /* the base from which its pages come, unless they are private */
    bool is_readable; /* also the pages that are not private */
};

static void add_page(struct writer *w, const struct piece *p, uint64_t address, uint64_t entry)
{
    static const char zeros[IMAGE_PAGE];
    const struct image_map *m = p->map;
    bool is_private = (entry & PRESENT && !(entry & OF_FILE)) || entry & SWAPPED;
    uint64_t at = m->offset + (address - m->start);
    if (!is_private && !m->whole)
        return;
    if (!is_private && p->origin) {
        add_pages(w, m, address, IMAGE_PAGE, p->origin, at);
        return;
    }
    const char *page = image_at(address);
    if (!is_private && !p->is_readable) {
        add_pages(w, m, address, IMAGE_PAGE, 0, 0);
        return;
    }
    uint32_t file = image_share_find(&w->share, address, &at);
    if (file && memcmp(page, image_share_page(&w->share, file, at), IMAGE_PAGE) == 0)
        add_pages(w, m, address, IMAGE_PAGE, file, at);
    else if (m->kind == IMAGE_FILE || memcmp(page, zeros, IMAGE_PAGE) != 0)
        add_pages(w, m, address, IMAGE_PAGE, 0, 0);
}

static int scan_map(struct writer *w, int pagemap, struct image_map *m)
{
    struct image_scratch *s = w->s;
    const size_t most = sizeof s->entries / sizeof s->entries[0];
    struct piece p = { .map = m, .origin = image_share_origin(&w->share, m) };
    if (p.origin) { /* not by its name, if it has one: by its id */
        m->kind = IMAGE_ANONYMOUS;
        m->whole = 1;
    }
    for (uint64_t at = m->start; at < m->end;) {
        size_t n = (m->end - at) / IMAGE_PAGE < most ? (m->end - at) / IMAGE_PAGE : most;
        /* Beyond the end of a file, a page of a mapping cannot be read. */
        p.is_readable = m->whole && !p.origin &&
                        madvise(image_at(at), n * IMAGE_PAGE, MADV_POPULATE_READ) == 0;
        ssize_t got = pread(pagemap, s->entries, n * sizeof s->entries[0],
                            (off_t)(at / IMAGE_PAGE * sizeof s->entries[0]));
        if (got <= 0)
            return image_refuse(w->why, "/proc/self/pagemap cannot be read: %s", strerror(errno));
        n = (size_t)got / sizeof s->entries[0];
        for (size_t i = 0; i < n; i++)
            add_page(w, &p, at + i * IMAGE_PAGE, s->entries[i]);
        at += n * IMAGE_PAGE;
    }
    return 0;
}

static bool can_join(const struct image_map *a, const struct image_map *b)
{
    return a->kind == IMAGE_ANONYMOUS && b->kind == IMAGE_ANONYMOUS && a->end == b->start &&
           a->prot == b->prot && !a->shared && !b->shared && !a->heap && !b->heap && !a->stack &&
           !b->stack;
}

/* A process that became an image has a mapping for each run. Without this, the lists of its own
 * images would grow from one to the next. */
static void join_maps(struct image_scratch *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_maps; i++)
        if (n > 0 && can_join(&s->maps[n - 1], &s->maps[i]))
            s->maps[n - 1].end = s->maps[i].end;
        else
            s->maps[n++] = s->maps[i];
    s->n_maps = n;
}

static int scan(struct writer *w)
{
    struct image_scratch *s = w->s;
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (pagemap < 0)
        return image_refuse(w->why, "/proc/self/pagemap cannot be opened: %s", strerror(errno));
    s->n_runs = 0;
    w->gap = (uint64_t)GAP_PAGES * IMAGE_PAGE;
    w->base_gap = 0;
    for (size_t i = 0; i < s->n_maps; i++) {
        struct image_map *m = &s->maps[i];
        if (m->kind == IMAGE_OF_KERNEL || (m->kind == IMAGE_FILE && m->shared))
            continue;
        /* Of the writer's own copy of the memory. */
        if (!(m->prot & PROT_READ))
            (void)mprotect(image_at(m->start), m->end - m->start, PROT_READ);
        if (scan_map(w, pagemap, m))
            return -1;
    }
    (void)close(pagemap);
    join_maps(s);
    return 0;
}

/* ---- the file ---- */

static int put(struct writer *w, const void *bytes, uint64_t n, uint64_t at)
{
    for (uint64_t done = 0; done < n;) {
        ssize_t got = pwrite(w->fd, (const char *)bytes + done, (size_t)(n - done),
                             (off_t)(at + done));
        if (got < 0 && errno == EFAULT) { /* beyond the end of a file: zeros */
            done = (done / IMAGE_PAGE + 1) * IMAGE_PAGE;
            continue;
        }
        if (got <= 0)
            return image_refuse(w->why, "the image cannot be written: %s", strerror(errno));
        done += (uint64_t)got;
    }
    return 0;
}

static int write_all(struct writer *w, struct image_head *h, uint64_t *ret_bytes)
{
    struct image_scratch *s = w->s;
    uint64_t at = w->head_at + IMAGE_HEAD_BYTES;
    h->bases_used = 0;
    for (size_t i = 0; i < s->n_runs; i++) {
        struct image_run *r = &s->runs[i];
        r->map = 0;
        if (r->file > 0) {
            h->bases_used |= UINT64_C(1) << (r->file - 1);
            continue;
        }
        r->at = at;
        at += r->bytes;
    }
    h->n_maps = s->n_maps;
    h->maps_at = at;
    h->n_runs = s->n_runs;
    h->runs_at = h->maps_at + image_whole_pages(s->n_maps * sizeof s->maps[0]);
    h->names_bytes = s->names_bytes;
    h->names_at = h->runs_at + image_whole_pages(s->n_runs * sizeof s->runs[0]);
    *ret_bytes = h->names_at + image_whole_pages(s->names_bytes);
    if (*ret_bytes > w->room)
        return image_refuse(w->why, "the image needs %llu bytes, and there is room for %llu",
                            (unsigned long long)*ret_bytes, (unsigned long long)w->room);
    if (ftruncate(w->fd, (off_t)*ret_bytes) < 0)
        return image_refuse(w->why, "the image cannot be written: %s", strerror(errno));
    for (size_t i = 0; i < s->n_runs; i++)
        if (s->runs[i].file == 0 &&
            put(w, image_at(s->runs[i].start), s->runs[i].bytes, s->runs[i].at))
            return -1;
    struct image_front front = { IMAGE_MAGIC, w->head_at, *ret_bytes, { { 0 } } };
    if (getrandom(&front.id, sizeof front.id, 0) != (ssize_t)sizeof front.id)
        return image_refuse(w->why, "the image has no id: %s", strerror(errno));
    return put(w, s->maps, s->n_maps * sizeof s->maps[0], h->maps_at) ||
                   put(w, s->runs, s->n_runs * sizeof s->runs[0], h->runs_at) ||
                   put(w, s->names, s->names_bytes, h->names_at) ||
                   put(w, h, sizeof *h, w->head_at) || put(w, &front, sizeof front, 0)
               ? -1
               : 0;
}

/* The child. It shares the file and the scratch with the session, and nothing else. */
_Noreturn static void run_writer(struct writer *w)
{
    char line[IMAGE_WHY + 32];
    uint64_t began_us = clock_us(), bytes = 0;
    struct image_head head = { .context = &context,
                               .thread_pointer = (uint64_t)(uintptr_t)__builtin_thread_pointer() };
    int rc = image_read_maps(w->s, w->why);
    head.kernel_code = image_kernel_code(w->s);
    head.processor = image_processor();
    image_identify(w->s);
    image_share_open(&w->share, &w->bases);
    for (size_t i = 0; i < w->share.n; i++)
        head.bases[i] = w->share.files[i].id;
    rc = rc || scan(w);
    if (rc || write_all(w, &head, &bytes))
        (void)snprintf(line, sizeof line, "error %s\n", w->why);
    else
        (void)snprintf(line, sizeof line, "ok %llu %zu %zu %llu %llu\n", (unsigned long long)bytes,
                       w->s->n_maps, w->s->n_runs, (unsigned long long)(clock_us() - began_us),
                       (unsigned long long)(head.bases_used | w->bases.used));
    (void)!write(w->report_fd, line, strlen(line));
    _exit(0);
}

static bool allow_range(uint64_t from, uint64_t to)
{
    /* ENOMEM: there are holes */
    return madvise(image_at(from), to - from, MADV_DOFORK) == 0 || errno == ENOMEM;
}

/* The kernel refuses its data page, which lies in front of its code. Everything around takes two
 * calls: one for each mapping would be a third of the pause of a small session. */
static bool allow_around_kernel(void)
{
    const uint64_t all = UINT64_C(0x7ffffffff000);
    uint64_t code = getauxval(AT_SYSINFO_EHDR), data = code;
    while (data > 0 && code - data < KERNEL_DATA_MAX && !allow_range(data - IMAGE_PAGE, data))
        data -= IMAGE_PAGE;
    return code > 0 && code < all && allow_range(0, data) && allow_range(code, all);
}

/* V8 keeps most of its memory out of children (MADV_DONTFORK). The writer needs all of it. */
static int allow_copies(struct writer *w, char why[IMAGE_WHY])
{
    if (allow_around_kernel())
        return 0;
    if (image_read_maps(w->s, why)) /* other mappings of the kernel lie between */
        return -1;
    for (size_t i = 0; i < w->s->n_maps; i++) {
        const struct image_map *m = &w->s->maps[i];
        if (m->kind != IMAGE_OF_KERNEL)
            (void)madvise(image_at(m->start), m->end - m->start, MADV_DOFORK);
    }
    return 0;
}

/* Not fork() of the C library: its handlers would change the memory that is to be written, and a
 * session must not hear of the end of a child that it did not start. */
static pid_t clone_plainly(void)
{
#ifdef __aarch64__
    return (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
#else
    return (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, 0);
#endif
}

/* __builtin_setjmp keeps no register: everything that is used after it lives in memory. */
int image_write(int fd, uint64_t at, uint64_t room, int report_fd, const struct image_bases *bases,
                struct image_written *ret, char why[IMAGE_WHY])
{
    static struct image_written *to;
    static struct writer w;
    uint64_t began_us = clock_us();
    to = ret;
    w = (struct writer){ .fd = fd,
                         .report_fd = report_fd,
                         .head_at = image_whole_pages(at),
                         .room = room,
                         .s = image_scratch_new() };
    if (bases)
        w.bases = *bases;
    if (!w.s)
        return image_refuse(why, "there is no memory for the list of its pages");
    if (allow_copies(&w, why)) {
        image_scratch_free(w.s);
        return -1;
    }
    image_context_save(&context);
    if (__builtin_setjmp(context.jump)) {
        image_context_restore(&context);
        *to = (struct image_written){ .became = true, .cookie = context.cookie };
        return 0;
    }
    pid_t pid = clone_plainly();
    if (pid == 0)
        run_writer(&w);
    image_scratch_free(w.s);
    if (pid < 0)
        return image_refuse(why, "its memory cannot be copied: %s", strerror(errno));
    *to = (struct image_written){ .writer = pid, .pause_us = clock_us() - began_us };
    return 0;
}

bool image_reap(pid_t writer)
{
    int status;
    return waitpid(writer, &status, WNOHANG | __WALL) != 0;
}
