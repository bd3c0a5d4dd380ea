#include "image/share.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "image/bases.h"

static void open_file(struct image_share *s, size_t i, int fd)
{
    struct stat st;
    struct image_front front;
    if (!image_read_front(fd, &front) || fstat(fd, &st) < 0)
        return;
    void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return;
    s->files[i].bytes = bytes;
    s->files[i].size = (uint64_t)st.st_size;
    s->files[i].device = st.st_dev;
    s->files[i].inode = st.st_ino;
    s->files[i].id = front.id;
}

static int file_with_id(const struct image_share *s, const struct image_id *id)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->files[i].bytes && memcmp(&s->files[i].id, id, sizeof *id) == 0)
            return (int)i;
    return -1;
}

static bool is_inside(uint64_t at, uint64_t bytes, uint64_t size)
{
    return at <= size && bytes <= size - at;
}

/* The list of runs stays in the mapped file. */
static void open_runs(struct image_share *s)
{
    const char *bytes = s->files[0].bytes;
    uint64_t size = s->files[0].size;
    struct image_front front;
    struct image_head head;
    if (!bytes)
        return;
    memcpy(&front, bytes, sizeof front);
    if (!is_inside(front.head_at, sizeof head, size))
        return;
    memcpy(&head, bytes + front.head_at, sizeof head);
    if (head.n_runs > IMAGE_RUNS_MAX || head.runs_at % IMAGE_PAGE ||
        !is_inside(head.runs_at, head.n_runs * sizeof *s->runs, size))
        return;
    s->runs = (const struct image_run *)(const void *)(bytes + head.runs_at);
    s->n_runs = (size_t)head.n_runs;
    s->file_of[0] = 0;
    for (size_t i = 0; i < IMAGE_BASES_MAX; i++)
        s->file_of[i + 1] = head.bases_used >> i & 1 ? file_with_id(s, &head.bases[i]) : -1;
}

void image_share_open(struct image_share *s, const struct image_bases *bases)
{
    *s = (struct image_share){ .n = bases->n < IMAGE_BASES_MAX ? bases->n : IMAGE_BASES_MAX };
    for (size_t i = 0; i < s->n; i++)
        open_file(s, i, bases->fds[i]);
    if (s->n > 0)
        open_runs(s);
}

uint32_t image_share_origin(const struct image_share *s, const struct image_map *m)
{
    for (size_t i = 0; m->inode && !m->shared && i < s->n; i++)
        if (s->files[i].bytes && s->files[i].device == m->device && s->files[i].inode == m->inode &&
            is_inside(m->offset, m->end - m->start, s->files[i].size))
            return (uint32_t)i + 1;
    return 0;
}

uint32_t image_share_find(struct image_share *s, uint64_t address, uint64_t *ret_at)
{
    while (s->next < s->n_runs && s->runs[s->next].start + s->runs[s->next].bytes <= address)
        s->next++;
    if (s->next == s->n_runs || s->runs[s->next].start > address)
        return 0;
    const struct image_run *r = &s->runs[s->next];
    int file = r->file <= IMAGE_BASES_MAX ? s->file_of[r->file] : -1;
    uint64_t at = r->at + (address - r->start);
    if (file < 0 || at % IMAGE_PAGE || !is_inside(at, IMAGE_PAGE, s->files[file].size))
        return 0;
    *ret_at = at;
    return (uint32_t)file + 1;
}
