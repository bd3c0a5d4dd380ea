#include "image/walk.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "image/listing.h"

/* Reserved, and used as far as the names reach. */
enum { NAMES_BYTES = 256 << 20 };

static int walk_below(struct image_walk *w);

static int walk_one(struct image_walk *w)
{
    struct stat st;
    if (lstat(w->path, &st) < 0)
        return 0; /* a process of the guest was faster */
    bool is_folder = S_ISDIR(st.st_mode);
    int rc = is_folder && w->folders_last ? walk_below(w) : 0;
    if (rc == 0)
        rc = w->visit(w, &st);
    return rc == 0 && is_folder && !w->folders_last ? walk_below(w) : rc;
}

/* ---- the names of one folder ---- */

struct names {
    const char *bytes; /* all names of the walk */
    uint32_t *at;      /* of each name of this folder */
    size_t n;
};

static bool comes_after(const struct names *l, size_t a, size_t b)
{
    return strcmp(l->bytes + l->at[a], l->bytes + l->at[b]) > 0;
}

static void swap(struct names *l, size_t a, size_t b)
{
    uint32_t kept = l->at[a];
    l->at[a] = l->at[b];
    l->at[b] = kept;
}

static void sift(struct names *l, size_t root, size_t end)
{
    for (size_t child; (child = 2 * root + 1) < end; root = child) {
        if (child + 1 < end && comes_after(l, child + 1, child))
            child++;
        if (!comes_after(l, child, root))
            return;
        swap(l, root, child);
    }
}

/* A heap sort, because qsort() of the C library may allocate. */
static void sort(struct names *l)
{
    for (size_t i = l->n / 2; i-- > 0;)
        sift(l, i, l->n);
    for (size_t end = l->n; end-- > 1;) {
        swap(l, 0, end);
        sift(l, 0, end);
    }
}

/* Reads the names behind those of the folders above. False: errno has the reason. */
static bool list(struct image_walk *w, struct names *ret)
{
    struct image_listing listing;
    const char *name;
    size_t start = w->used, at = start, n = 0;
    if (!image_listing_open(&listing, w->path))
        return false;
    bool fits = true;
    while (fits && (name = image_listing_next(&listing))) {
        size_t bytes = strlen(name) + 1;
        fits = bytes <= NAMES_BYTES - at;
        if (fits)
            memcpy(w->names + at, name, bytes);
        at += fits ? bytes : 0;
        n += fits;
    }
    image_listing_close(&listing);
    size_t table = (at + sizeof(uint32_t) - 1) / sizeof(uint32_t) * sizeof(uint32_t);
    if (!fits || table > NAMES_BYTES || n > (NAMES_BYTES - table) / sizeof(uint32_t)) {
        errno = ENOMEM;
        return false;
    }
    *ret = (struct names){ w->names, (uint32_t *)(void *)(w->names + table), n };
    for (size_t i = 0, from = start; i < n; from += strlen(w->names + from) + 1)
        ret->at[i++] = (uint32_t)from;
    sort(ret);
    w->used = table + n * sizeof(uint32_t);
    return true;
}

static int walk_below(struct image_walk *w)
{
    struct names found;
    size_t n = strlen(w->path), before = w->used;
    int rc = 0;
    if (!list(w, &found))
        return w->unreadable(w, errno);
    for (size_t i = 0; i < found.n && rc == 0; i++) {
        int more = snprintf(w->path + n, sizeof w->path - n, "/%s", found.bytes + found.at[i]);
        bool fits = more > 0 && (size_t)more < sizeof w->path - n;
        if (fits)
            rc = walk_one(w);
        w->path[n] = '\0';
        if (!fits)
            rc = w->unreadable(w, ENAMETOOLONG);
    }
    w->used = before;
    return rc;
}

int image_walk_again(struct image_walk *w)
{
    return walk_below(w);
}

int image_walk_place(struct image_walk *w, const char *place)
{
    (void)snprintf(w->path, sizeof w->path, "%s", place);
    w->used = 0;
    w->names = mmap(NULL, NAMES_BYTES, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (w->names == MAP_FAILED)
        return w->unreadable(w, errno);
    int rc = walk_below(w);
    (void)munmap(w->names, NAMES_BYTES);
    return rc;
}
