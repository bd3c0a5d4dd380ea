/* Writes an image of this process: a child does, from its copy of the memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "image/context.h"
#include "image/maps.h"

/* A smaller gap between two runs costs less in the image than one more run. */
enum { GAP_PAGES = 4 };

/* pagemap(5) */
#define PRESENT (UINT64_C(1) << 63)
#define SWAPPED (UINT64_C(1) << 62)
#define OF_FILE (UINT64_C(1) << 61)

static struct image_context context; /* one image at a time */

struct writer {
    int fd, report_fd;
    uint64_t head_at, room;
    struct image_scratch *s;
    char why[IMAGE_WHY];
};

/* ---- which pages ---- */

static int add_page(struct image_scratch *s, const struct image_map *m, uint64_t start,
                    uint64_t bytes, char why[IMAGE_WHY])
{
    struct image_run *last = s->n_runs ? &s->runs[s->n_runs - 1] : NULL;
    if (last && last->start >= m->start &&
        start <= last->start + last->bytes + (uint64_t)GAP_PAGES * IMAGE_PAGE) {
        last->bytes = start + bytes - last->start;
        return 0;
    }
    if (s->n_runs == IMAGE_RUNS_MAX)
        return image_refuse(why, "its memory is in more than %d pieces", IMAGE_RUNS_MAX);
    s->runs[s->n_runs++] = (struct image_run){ .start = start, .bytes = bytes };
    return 0;
}

static int scan_map(struct writer *w, int pagemap, const struct image_map *m)
{
    struct image_scratch *s = w->s;
    const size_t most = sizeof s->entries / sizeof s->entries[0];
    for (uint64_t at = m->start; at < m->end;) {
        size_t n = (m->end - at) / IMAGE_PAGE < most ? (m->end - at) / IMAGE_PAGE : most;
        ssize_t got = pread(pagemap, s->entries, n * sizeof s->entries[0],
                            (off_t)(at / IMAGE_PAGE * sizeof s->entries[0]));
        if (got <= 0)
            return image_refuse(w->why, "/proc/self/pagemap cannot be read: %s", strerror(errno));
        n = (size_t)got / sizeof s->entries[0];
        for (size_t i = 0; i < n; i++) {
            uint64_t entry = s->entries[i];
            if (((entry & PRESENT && !(entry & OF_FILE)) || entry & SWAPPED) &&
                add_page(s, m, at + i * IMAGE_PAGE, IMAGE_PAGE, w->why))
                return -1;
        }
        at += n * IMAGE_PAGE;
    }
    return 0;
}

static int scan(struct writer *w)
{
    struct image_scratch *s = w->s;
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (pagemap < 0)
        return image_refuse(w->why, "/proc/self/pagemap cannot be opened: %s", strerror(errno));
    s->n_runs = 0;
    for (size_t i = 0; i < s->n_maps; i++) {
        const struct image_map *m = &s->maps[i];
        size_t before = s->n_runs;
        if (m->kind == IMAGE_OF_KERNEL || (m->kind == IMAGE_FILE && m->shared))
            continue;
        if (m->whole ? add_page(s, m, m->start, m->end - m->start, w->why)
                     : scan_map(w, pagemap, m))
            return -1;
        /* Of the writer's own copy of the memory. */
        if (s->n_runs > before && !(m->prot & PROT_READ))
            (void)mprotect(image_at(m->start), m->end - m->start, PROT_READ);
    }
    (void)close(pagemap);
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
    for (size_t i = 0; i < s->n_runs; i++) {
        s->runs[i].at = at;
        at += s->runs[i].bytes;
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
        if (put(w, image_at(s->runs[i].start), s->runs[i].bytes, s->runs[i].at))
            return -1;
    const struct image_front front = { IMAGE_MAGIC, w->head_at, *ret_bytes };
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
    int rc = image_read_maps(w->s, w->why) || scan(w);
    head.kernel_code = image_kernel_code(w->s);
    if (rc || write_all(w, &head, &bytes))
        (void)snprintf(line, sizeof line, "error %s\n", w->why);
    else
        (void)snprintf(line, sizeof line, "ok %llu %zu %zu %llu\n", (unsigned long long)bytes,
                       w->s->n_maps, w->s->n_runs, (unsigned long long)(clock_us() - began_us));
    (void)!write(w->report_fd, line, strlen(line));
    _exit(0);
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
int image_write(int fd, uint64_t at, uint64_t room, int report_fd, struct image_written *ret,
                char why[IMAGE_WHY])
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
    if (!w.s)
        return image_refuse(why, "there is no memory for the list of its pages");
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
