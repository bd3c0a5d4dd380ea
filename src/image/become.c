/* Plans how this process becomes an image, and does it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "image/bases.h"
#include "image/identity.h"
#include "image/keep.h"
#include "image/restore.h"

enum {
    /* A shorter run inside a mapping is copied: a mapping of its own costs a split of the other. */
    RUN_MAPPED = 4 * IMAGE_PAGE,
    STACK_BYTES = 64 << 10,
    KERNEL_MAPS_MAX = 8,
    OPEN_MAX = 512, /* files that are open at once; a limit of the session may be lower */
};
#define SEARCH_FROM UINT64_C(0x10000000)
#define SEARCH_STEP UINT64_C(0x10000000)
#define SEARCH_END  UINT64_C(0x7f0000000000)

struct becoming {
    int fds[1 + IMAGE_BASES_MAX]; /* the image, then its bases; -1: it needs no such base */
    uint64_t file_bytes[1 + IMAGE_BASES_MAX];
    const struct image_bases *bases;
    struct image_head head;
    struct image_scratch *want, *have;
    char *area; /* code, plan, steps, names, stack; then room for the mappings of the kernel */
    uint64_t area_bytes, aside; /* aside: the address of that room */
    struct restore_step *steps;
    size_t n_steps, max_steps;
    int opened[OPEN_MAX];
    size_t n_opened;
    int spare_fd; /* the number that the next open file will get */
    const struct image_map *open_file;
    char *why;
};

/* ---- reading ---- */

static bool is_inside(const struct becoming *b, uint32_t file, uint64_t at, uint64_t n)
{
    return file <= IMAGE_BASES_MAX && b->fds[file] >= 0 && at <= b->file_bytes[file] &&
           n <= b->file_bytes[file] - at;
}

static int read_part(const struct becoming *b, void *to, uint64_t n, uint64_t at)
{
    if (!is_inside(b, 0, at, n))
        return image_refuse(b->why, "the image is cut short");
    for (uint64_t done = 0; done < n;) {
        ssize_t got = pread(b->fds[0], (char *)to + done, (size_t)(n - done), (off_t)(at + done));
        if (got <= 0)
            return image_refuse(b->why, "the image cannot be read: %s", strerror(errno));
        done += (uint64_t)got;
    }
    return 0;
}

static int check_tables(struct becoming *b)
{
    struct image_scratch *w = b->want;
    uint64_t end = 0;
    for (size_t i = 0; i < w->n_maps; i++) {
        const struct image_map *m = &w->maps[i];
        if (m->start < end || m->end <= m->start || (m->start | m->end) % IMAGE_PAGE ||
            m->name >= w->names_bytes)
            return image_refuse(b->why, "the image has mappings that overlap or have no name");
        end = m->end;
    }
    end = 0;
    for (size_t i = 0; i < w->n_runs; i++) {
        const struct image_run *r = &w->runs[i];
        if (r->start < end || r->bytes == 0 || r->bytes > UINT64_MAX - r->start ||
            (r->start | r->bytes | r->at) % IMAGE_PAGE || !is_inside(b, r->file, r->at, r->bytes))
            return image_refuse(b->why, "the image has pages that overlap or are not there");
        end = r->start + r->bytes;
    }
    return 0;
}

/* The bases that the image needs, in its order. */
static int find_bases(struct becoming *b)
{
    for (size_t i = 0; i < IMAGE_BASES_MAX; i++) {
        struct image_front front;
        if (!(b->head.bases_used >> i & 1))
            continue;
        int found = image_find_base(b->bases, &b->head.bases[i]);
        if (found < 0 || !image_read_front(b->bases->fds[found], &front))
            return image_refuse(b->why, "an earlier image that it needs is missing");
        b->fds[i + 1] = b->bases->fds[found];
        b->file_bytes[i + 1] = front.bytes;
    }
    return 0;
}

static int read_image(struct becoming *b)
{
    struct stat st;
    struct image_front front = { 0 };
    struct image_head *h = &b->head;
    struct image_scratch *w = b->want;
    if (fstat(b->fds[0], &st) < 0)
        return image_refuse(b->why, "the image cannot be read: %s", strerror(errno));
    b->file_bytes[0] = (uint64_t)st.st_size;
    if (read_part(b, &front, sizeof front, 0))
        return -1;
    if (memcmp(front.magic, IMAGE_MAGIC, sizeof front.magic) != 0 ||
        front.bytes != b->file_bytes[0])
        return image_refuse(b->why, "this is no whole image");
    if (read_part(b, h, sizeof *h, front.head_at))
        return -1;
    if (h->n_maps > IMAGE_MAPS_MAX || h->n_runs > IMAGE_RUNS_MAX || h->names_bytes == 0 ||
        h->names_bytes > sizeof w->names)
        return image_refuse(b->why, "the image has too many mappings");
    if (read_part(b, w->maps, h->n_maps * sizeof w->maps[0], h->maps_at) ||
        read_part(b, w->runs, h->n_runs * sizeof w->runs[0], h->runs_at) ||
        read_part(b, w->names, h->names_bytes, h->names_at))
        return -1;
    w->n_maps = h->n_maps;
    w->n_runs = h->n_runs;
    w->names_bytes = h->names_bytes;
    w->names[w->names_bytes - 1] = '\0';
    return find_bases(b) ? -1 : check_tables(b);
}

/* ---- files and kernel ---- */

/* A path is walked once: the file stays open until it is mapped. If no more can be open, *ret_fd is
 * -1. */
static int look_at(struct becoming *b, const char *name, struct stat *ret, int *ret_fd)
{
    int fd = b->n_opened < OPEN_MAX ? open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    *ret_fd = fd;
    if (fd < 0)
        return stat(name, ret);
    b->opened[b->n_opened++] = fd;
    return fstat(fd, ret);
}

/* The same file as before costs two calls. Otherwise its content decides: a package may have been
 * installed again, or this is another machine. */
static int check_file(struct becoming *b, const struct image_map *m, int *ret_fd)
{
    struct stat st;
    struct image_scratch *room = b->want;
    const char *name = image_map_name(b->want, m);
    if (look_at(b, name, &st, ret_fd) < 0)
        return image_refuse(b->why, "%.140s is not here: %s", name, strerror(errno));
    uint64_t changed = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
    bool same = image_is_own_place(name) ||
                (st.st_dev == m->device && st.st_ino == m->inode && changed == m->changed) ||
                (m->identity &&
                 image_file_identity(name, room->entries, sizeof room->entries) == m->identity);
    if (!same || (uint64_t)st.st_size != m->size)
        return image_refuse(b->why, "%.140s changed since the image was written", name);
    return 0;
}

static size_t kernel_maps(const struct image_scratch *s, const struct image_map *ret[])
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_maps && n < KERNEL_MAPS_MAX; i++)
        if (s->maps[i].kind == IMAGE_OF_KERNEL)
            ret[n++] = &s->maps[i];
    return n;
}

/* A process of another program would become it, too, but nobody wants that: the session would have the
 * name of one language and be of another. */
static int check_program(const struct becoming *b)
{
    char own[512];
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    own[n > 0 ? n : 0] = '\0';
    for (size_t i = 0; i < b->want->n_maps; i++)
        if (b->want->maps[i].kind == IMAGE_FILE &&
            strcmp(image_map_name(b->want, &b->want->maps[i]), own) == 0)
            return 0;
    uint64_t same = image_file_identity(own, b->want->entries, sizeof b->want->entries);
    for (size_t i = 0; same && i < b->want->n_maps; i++) /* it may have another name */
        if (b->want->maps[i].kind == IMAGE_FILE && b->want->maps[i].identity == same)
            return 0;
    return image_refuse(b->why, "it is not an image of %.140s", own);
}

static int check_surroundings(struct becoming *b)
{
    const struct image_map *want[KERNEL_MAPS_MAX], *have[KERNEL_MAPS_MAX];
    size_t n = kernel_maps(b->want, want), m = kernel_maps(b->have, have);
    bool same = n == m && image_kernel_code(b->have) == b->head.kernel_code;
    for (size_t i = 0; same && i < n; i++)
        same = want[i]->end - want[i]->start == have[i]->end - have[i]->start &&
               strcmp(image_map_name(b->want, want[i]), image_map_name(b->have, have[i])) == 0;
    if (!same)
        return image_refuse(b->why, "it was written on another version of the Linux kernel");
    if (image_processor() != b->head.processor)
        return image_refuse(b->why, "it was written on a machine with another processor");
    return check_program(b);
}

static int check_files(struct becoming *b)
{
    uint32_t seen = UINT32_MAX;
    int fd = -1;
    for (size_t i = 0; i < b->want->n_maps; i++) {
        const struct image_map *map = &b->want->maps[i];
        b->want->fds[i] = -1;
        if (map->kind != IMAGE_FILE || b->want->keep[i] != KEEP_NOT)
            continue;
        bool is_next = seen != UINT32_MAX &&
                       strcmp(b->want->names + seen, image_map_name(b->want, map)) == 0;
        seen = map->name;
        if (!is_next && check_file(b, map, &fd))
            return -1;
        b->want->fds[i] = fd;
    }
    return 0;
}

/* ---- the area ---- */

static bool is_free(const struct image_scratch *s, uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < s->n_maps; i++)
        if (s->maps[i].start < end && start < s->maps[i].end)
            return false;
    return true;
}

static int make_area(struct becoming *b)
{
    const struct image_map *have[KERNEL_MAPS_MAX];
    size_t n = kernel_maps(b->have, have);
    b->max_steps = b->want->n_maps * 6 + b->want->n_runs + b->have->n_maps + 64;
    uint64_t aside = 0, scratch = (uint64_t)(uintptr_t)b->want,
             other = (uint64_t)(uintptr_t)b->have;
    for (size_t i = 0; i < n; i++)
        aside += have[i]->end - have[i]->start;
    uint64_t names = image_whole_pages(b->want->names_bytes),
             bytes = image_whole_pages(restore_code_bytes()) + IMAGE_PAGE + names +
                     image_whole_pages(b->max_steps * sizeof *b->steps) + STACK_BYTES;
    for (uint64_t at = SEARCH_FROM; at < SEARCH_END; at += SEARCH_STEP) {
        uint64_t end = at + bytes + aside;
        if (!is_free(b->want, at, end) || !is_free(b->have, at, end) ||
            (scratch < end && at < scratch + sizeof *b->want) ||
            (other < end && at < other + sizeof *b->have))
            continue;
        b->area = mmap(image_at(at), bytes + aside, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (b->area == MAP_FAILED)
            continue;
        b->area_bytes = bytes + aside;
        b->aside = at + bytes;
        return 0;
    }
    return image_refuse(b->why, "no address is free in it and here");
}

/* ---- the plan ---- */

static void step(struct becoming *b, long number, const long args[RESTORE_ARGS], long expected,
                 bool is_checked)
{
    struct restore_step s = { .number = number, .expected = expected, .is_checked = is_checked };
    memcpy(s.args, args, sizeof s.args);
    if (b->n_steps < b->max_steps)
        b->steps[b->n_steps] = s;
    b->n_steps++;
}
#define STEP(b, number, expected, ...) \
    step(b, number, (const long[RESTORE_ARGS]){ __VA_ARGS__ }, (long)(expected), true)
#define TRY(b, number, ...) step(b, number, (const long[RESTORE_ARGS]){ __VA_ARGS__ }, 0, false)

static void plan_move(struct becoming *b, uint64_t from, uint64_t bytes, uint64_t to)
{
    if (from != to)
        STEP(b, SYS_mremap, to, (long)from, (long)bytes, (long)bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
             (long)to);
}

/* Everything goes that is not the area and not kept. Mappings and area have an order. */
static void plan_unmapping(struct becoming *b)
{
    const struct image_scratch *s = b->have;
    const uint64_t area = (uint64_t)(uintptr_t)b->area;
    uint64_t from = 0;
    bool is_past_area = false;
    for (size_t i = 0; i <= s->n_maps; i++) {
        bool is_end = i == s->n_maps;
        if (!is_end && s->keep[i] == KEEP_NOT)
            continue;
        uint64_t to = is_end ? s->maps[i - 1].end : s->maps[i].start;
        if (!is_past_area && (is_end || to > area)) {
            if (area > from)
                STEP(b, SYS_munmap, 0, (long)from, (long)(area - from));
            from = area + b->area_bytes;
            is_past_area = true;
        }
        if (to > from)
            STEP(b, SYS_munmap, 0, (long)from, (long)(to - from));
        from = is_end ? to : s->maps[i].end;
    }
}

/* The kernel's own mappings go aside, and everything else goes. */
static void plan_leaving(struct becoming *b, const struct image_map *heap)
{
    const struct image_map *have[KERNEL_MAPS_MAX];
    size_t n = kernel_maps(b->have, have);
    uint64_t aside = b->aside;
    for (size_t i = 0; i < n; i++) {
        plan_move(b, have[i]->start, have[i]->end - have[i]->start, aside);
        aside += have[i]->end - have[i]->start;
    }
    /* The heap of the kernel's account becomes empty: later requests for more of it cannot meet
     * memory of the image. */
    if (heap)
        TRY(b, SYS_brk, (long)heap->start);
    plan_unmapping(b);
}

static void plan_kernel_maps(struct becoming *b)
{
    const struct image_map *want[KERNEL_MAPS_MAX];
    size_t n = kernel_maps(b->want, want);
    uint64_t aside = b->aside;
    for (size_t i = 0; i < n; i++) {
        plan_move(b, aside, want[i]->end - want[i]->start, want[i]->start);
        aside += want[i]->end - want[i]->start;
    }
}

/* The runs of the image come in the order of its maps. */
struct map_runs {
    const struct image_run *first;
    size_t n;
};

static struct map_runs runs_of(const struct becoming *b, const struct image_map *m, size_t *next)
{
    const struct image_scratch *w = b->want;
    struct map_runs found = { .first = &w->runs[*next] };
    for (; *next < w->n_runs && w->runs[*next].start < m->end; (*next)++)
        found.n++;
    return found;
}

/* One mapping of a file covers runs that lie in it as they lie in the memory, although short runs of
 * other files are between them: they are copied over it. Returns the number of the runs. */
static size_t span_of(const struct map_runs *runs, size_t from)
{
    const struct image_run *first = &runs->first[from], *last = first;
    for (size_t i = from + 1; i < runs->n; i++) {
        const struct image_run *r = &runs->first[i], *before = r - 1;
        if (r->start != before->start + before->bytes)
            break;
        if (r->file == first->file && r->at - first->at == r->start - first->start)
            last = r;
        else if (r->bytes >= RUN_MAPPED)
            break;
    }
    return (size_t)(last - first) + 1;
}

static void plan_close(struct becoming *b)
{
    if (b->open_file)
        STEP(b, SYS_close, 0, b->spare_fd);
    b->open_file = NULL;
}

/* A file stays open for its next mapping. Returns its descriptor; fd: it is open for reading. */
static int plan_open(struct becoming *b, const struct image_map *m, int fd)
{
    bool writes = m->shared && m->prot & PROT_WRITE;
    if (!writes && fd >= 0)
        return fd;
    const char *name = b->area + image_whole_pages(restore_code_bytes()) + IMAGE_PAGE + m->name;
    if (!writes && b->open_file && b->open_file->name == m->name)
        return b->spare_fd;
    plan_close(b);
    STEP(b, SYS_openat, b->spare_fd, AT_FDCWD, (long)(uintptr_t)name,
         (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    b->open_file = m;
    return b->spare_fd;
}

/* After all other calls that open a file: a number that is free again would be the next one. */
static void plan_close_all(struct becoming *b)
{
    plan_close(b);
    for (size_t i = 0; i < b->n_opened; i++)
        STEP(b, SYS_close, 0, b->opened[i]);
}

static void plan_map(struct becoming *b, const struct image_map *m, int fd, long prot,
                     bool brk_again)
{
    long start = (long)m->start, bytes = (long)(m->end - m->start);
    long flags = MAP_FIXED | (m->shared ? MAP_SHARED : MAP_PRIVATE);
    if (m->kind == IMAGE_FILE) {
        fd = plan_open(b, m, fd);
        STEP(b, SYS_mmap, start, start, bytes, prot, flags, fd, (long)m->offset);
    } else if (brk_again) {
        STEP(b, SYS_brk, m->end, (long)m->end);
    } else {
        flags |= MAP_ANONYMOUS | MAP_NORESERVE | (m->stack ? MAP_GROWSDOWN | MAP_STACK : 0);
        STEP(b, SYS_mmap, start, start, bytes, prot, flags, -1, 0);
    }
}

static void plan_copy(struct becoming *b, const struct image_run *r)
{
    STEP(b, SYS_pread64, r->bytes, b->fds[r->file], (long)r->start, (long)r->bytes, (long)r->at);
}

static void plan_span(struct becoming *b, const struct image_run *first, size_t n, long prot)
{
    const struct image_run *last = &first[n - 1];
    STEP(b, SYS_mmap, first->start, (long)first->start,
         (long)(last->start + last->bytes - first->start), prot, MAP_PRIVATE | MAP_FIXED,
         b->fds[first->file], (long)first->at);
    for (size_t i = 1; i < n; i++)
        if (first[i].file != first->file ||
            first[i].at - first->at != first[i].start - first->start)
            plan_copy(b, &first[i]);
}

static bool may_map(const struct image_map *m)
{
    return !m->shared && !m->stack && !(m->prot & PROT_EXEC);
}

/* Memory is writable while runs are copied into it. */
static void plan_runs(struct becoming *b, const struct image_map *m, const struct map_runs *runs,
                      long prot)
{
    for (size_t i = 0, n; i < runs->n; i += n) {
        const struct image_run *first = &runs->first[i];
        n = may_map(m) ? span_of(runs, i) : 1;
        const struct image_run *last = &first[n - 1];
        if (may_map(m) && last->start + last->bytes - first->start >= RUN_MAPPED) {
            plan_span(b, first, n, prot);
        } else {
            plan_copy(b, first);
            n = 1;
        }
    }
}

/* One run has every page of it: the image takes the place of its file. */
static bool is_all_in(const struct image_map *m, const struct map_runs *runs)
{
    return runs->n == 1 && may_map(m) && runs->first->start == m->start &&
           runs->first->bytes == m->end - m->start;
}

/* Neighbours that one mapping of the image covers. */
struct whole {
    struct image_run run;
    uint32_t prot;
    bool of_files; /* all of them */
};

/* Only memory of a file may get more rights: a program may rely on those of its other memory. */
static bool takes(const struct whole *all, const struct image_map *m, const struct image_run *r)
{
    uint32_t prot = all->prot | m->prot;
    return all->run.bytes == 0 ||
           (all->prot & m->prot & PROT_READ && (prot == all->prot || all->of_files) &&
            (prot == m->prot || m->kind == IMAGE_FILE) && r->file == all->run.file &&
            r->start == all->run.start + all->run.bytes && r->at == all->run.at + all->run.bytes);
}

/* The constants that a library relocates, its variables and memory behind them follow each other in
 * memory and in the image. One writable mapping takes their place. Returns the number of mappings that
 * it covers. */
static size_t plan_whole(struct becoming *b, size_t i, size_t *next)
{
    const struct image_scratch *w = b->want;
    struct whole all = { .of_files = true };
    size_t n = 0;
    for (; i + n < w->n_maps; n++) {
        const struct image_map *m = &w->maps[i + n];
        size_t after = *next;
        struct map_runs runs = runs_of(b, m, &after);
        if (m->kind == IMAGE_OF_KERNEL || m->heap || !is_all_in(m, &runs) ||
            !takes(&all, m, runs.first))
            break;
        if (n == 0)
            all.run = *runs.first;
        else
            all.run.bytes += runs.first->bytes;
        all.prot |= m->prot;
        all.of_files = all.of_files && m->kind == IMAGE_FILE;
        *next = after;
    }
    if (n > 0)
        plan_span(b, &all.run, 1, (long)all.prot);
    return n;
}

/* It is there. Only its private pages go. */
static void plan_kept(struct becoming *b, const struct image_map *m, enum image_keep keep,
                      long prot)
{
    long start = (long)m->start, bytes = (long)(m->end - m->start);
    if (keep == KEEP_DIRTY)
        STEP(b, SYS_madvise, 0, start, bytes, MADV_DONTNEED);
    if (prot != (long)m->prot)
        STEP(b, SYS_mprotect, 0, start, bytes, prot);
}

static const struct image_map *heap_of(const struct image_scratch *s)
{
    for (size_t i = 0; i < s->n_maps; i++)
        if (s->maps[i].heap)
            return &s->maps[i];
    return NULL;
}

/* Without pages of the image: the file has all of it. */
static bool is_plain_part(const struct becoming *b, size_t i, size_t next)
{
    const struct image_scratch *w = b->want;
    const struct image_map *m = &w->maps[i];
    return m->kind == IMAGE_FILE && !m->shared && w->keep[i] == KEEP_NOT && w->fds[i] >= 0 &&
           m->prot & PROT_READ && !(m->prot & PROT_WRITE) &&
           (next == w->n_runs || w->runs[next].start >= m->end);
}

/* A library is a chain of constants, code and constants, in its file and in memory. One mapping, which
 * is executable, takes the place of the three: they are half of the time that a large program takes.
 * Returns the number of mappings that it covers. */
static size_t plan_parts(struct becoming *b, size_t i, size_t next)
{
    const struct image_map *first = &b->want->maps[i], *last = first;
    struct image_map all = *first;
    if (!is_plain_part(b, i, next))
        return 0;
    while (++i < b->want->n_maps && last[1].start == last->end && last[1].name == last->name &&
           last[1].offset - last->offset == last->end - last->start && is_plain_part(b, i, next)) {
        last++;
        all.end = last->end;
        all.prot |= last->prot;
    }
    if (last > first)
        plan_map(b, &all, b->want->fds[i - 1], (long)all.prot, false);
    return last > first ? (size_t)(last - first) + 1 : 0;
}

static int plan(struct becoming *b)
{
    const struct image_map *heap = heap_of(b->have);
    /* The heap of a program that was forked has a second mapping from where it grew since. */
    uint64_t heap_end = heap ? heap->start : 0;
    size_t next = 0;
    plan_leaving(b, heap);
    for (size_t i = 0, n; i < b->want->n_maps; i += n) {
        const struct image_map *m = &b->want->maps[i];
        n = plan_parts(b, i, next);
        n = n > 0 ? n : plan_whole(b, i, &next);
        if (n > 0)
            continue;
        n = 1;
        if (m->kind == IMAGE_OF_KERNEL)
            continue;
        struct map_runs runs = runs_of(b, m, &next);
        long prot = (long)m->prot | (runs.n > 0 ? PROT_WRITE : 0);
        bool brk_again = m->heap && heap_end == m->start && m->prot == (PROT_READ | PROT_WRITE);
        heap_end = brk_again ? m->end : heap_end;
        if (b->want->keep[i] != KEEP_NOT)
            plan_kept(b, m, b->want->keep[i], prot);
        else
            plan_map(b, m, b->want->fds[i], prot, brk_again);
        plan_runs(b, m, &runs, prot);
        if (prot != (long)m->prot)
            STEP(b, SYS_mprotect, 0, (long)m->start, (long)(m->end - m->start), (long)m->prot);
    }
    plan_close_all(b);
    plan_kernel_maps(b);
    if (b->n_steps > b->max_steps || next != b->want->n_runs)
        return image_refuse(b->why, "the image has pages outside its mappings");
    return 0;
}

/* ---- doing it ---- */

static int find_spare_fd(struct becoming *b)
{
    b->spare_fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (b->spare_fd < 0)
        return image_refuse(b->why, "no file can be opened: %s", strerror(errno));
    (void)close(b->spare_fd);
    return 0;
}

static int prepare(struct becoming *b, uint64_t cookie, struct restore_plan **ret)
{
    if (!b->want || !b->have)
        return image_refuse(b->why, "there is no memory for the list of its pages");
    if (read_image(b) || image_read_maps(b->have, b->why))
        return -1;
    image_find_kept(b->have, b->want);
    if (check_surroundings(b) || check_files(b) || make_area(b) || find_spare_fd(b))
        return -1;
    uint64_t code = image_whole_pages(restore_code_bytes()),
             names = image_whole_pages(b->want->names_bytes);
    struct restore_plan *p = (struct restore_plan *)(void *)(b->area + code);
    memcpy(b->area + code + IMAGE_PAGE, b->want->names, b->want->names_bytes);
    b->steps = (struct restore_step *)(void *)(b->area + code + IMAGE_PAGE + names);
    if (plan(b))
        return -1;
    *p = (struct restore_plan){ .steps = b->steps,
                                .n_steps = b->n_steps,
                                .thread.args = { RESTORE_SET_THREAD, (long)b->head.thread_pointer },
                                .end.args = { RESTORE_FAILED },
                                .context = b->head.context,
                                .cookie = cookie,
                                .area = b->area,
                                .area_bytes = b->area_bytes };
    restore_copy_code(b->area);
    if (mprotect(b->area, code, PROT_READ | PROT_EXEC) < 0)
        return image_refuse(b->why, "code cannot be copied: %s", strerror(errno));
    *ret = p;
    return 0;
}

void image_become(int fd, const struct image_bases *bases, uint64_t cookie, char why[IMAGE_WHY])
{
    struct becoming b = { .fds = { fd, -1, -1, -1, -1, -1, -1, -1, -1 },
                          .bases = bases,
                          .area = MAP_FAILED,
                          .want = image_scratch_new(),
                          .have = image_scratch_new(),
                          .why = why };
    struct restore_plan *p = NULL;
    if (prepare(&b, cookie, &p) == 0 && image_context_leave(why) == 0)
        restore_run(b.area, image_at(b.aside), p);
    for (size_t i = 0; i < b.n_opened; i++)
        (void)close(b.opened[i]);
    if (b.area != MAP_FAILED)
        (void)munmap(b.area, b.area_bytes);
    image_scratch_free(b.want);
    image_scratch_free(b.have);
}
