#include "image/earlier.h"

#include <string.h>
#include <unistd.h>

#include "image/bases.h"

static bool take(struct earlier_files *f, void *to, size_t n)
{
    bool is_whole = pread(f->bases->fds[0], to, n, (off_t)f->at) == (ssize_t)n;
    f->at += n;
    return is_whole;
}

/* The next entry. An image with broken entries has no more of them. */
static void advance(struct earlier_files *f)
{
    struct file_entry *e = &f->entry;
    f->is_over = true;
    if (!take(f, e, sizeof *e) || e->kind == FILE_END || e->kind >= FILE_KINDS ||
        e->name_bytes >= sizeof f->name || !take(f, f->name, e->name_bytes))
        return;
    f->name[e->name_bytes] = '\0';
    if (e->kind == FILE_SHARED) {
        if (!take(f, &f->place, sizeof f->place))
            return;
    } else {
        f->place.at = f->at;
        f->at += e->bytes;
    }
    f->is_over = f->at > INT64_MAX;
}

void earlier_open(struct earlier_files *f, struct image_bases *bases)
{
    struct image_front front;
    f->bases = bases;
    f->at = IMAGE_FRONT;
    f->is_over = !bases || bases->n == 0 || !image_read_front(bases->fds[0], &front) ||
                 front.head_at <= IMAGE_FRONT;
    if (!f->is_over)
        advance(f);
}

/* In the order of a walk the separator comes before every other byte. */
static int by_walk(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    int first = *a == '/' ? 0 : (unsigned char)*a, second = *b == '/' ? 0 : (unsigned char)*b;
    if (first == second) /* one has ended, and the other goes on below it */
        return (*a == '/') - (*b == '/');
    return first - second;
}

bool earlier_find(struct earlier_files *f, const char *name, uint64_t bytes,
                  struct file_source *ret)
{
    struct image_front front;
    int order = -1;
    while (!f->is_over && (order = by_walk(f->name, name)) < 0)
        advance(f);
    if (f->is_over || order != 0 || f->entry.bytes != bytes ||
        (f->entry.kind != FILE_REGULAR && f->entry.kind != FILE_SHARED))
        return false;
    int found = f->entry.kind == FILE_REGULAR ? 0 : image_find_base(f->bases, &f->place.id);
    if (found < 0 || !image_read_front(f->bases->fds[found], &front))
        return false;
    *ret = (struct file_source){ f->bases->fds[found], f->place.at, front.id };
    return true;
}

void earlier_use(struct earlier_files *f, const struct file_source *source)
{
    for (size_t i = 0; i < f->bases->n; i++)
        if (f->bases->fds[i] == source->fd)
            f->bases->used |= 1U << i;
}
