#include "run/home_seed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/place.h"
#include "spec/bundle.h"

enum {
    SEED_BYTES_MAX = 2 << 20,
    SEARCHED_MAX = 256 << 10, /* of all files of a job together */
    BUNDLE_BYTES_MAX = 8 << 20,
};
/* A run with less has no room for the seed. */
#define DISK_MIN  (16ULL << 20)
#define FILES_MIN 1000

/* The files of each seed, packed; parallel to languages[]. Constant once the keeper is confined. */
static struct buf packed[LANGUAGES_MAX];

static struct buf *packed_of(const struct language *l)
{
    for (size_t i = 0; languages[i]; i++)
        if (languages[i] == l)
            return &packed[i];
    return NULL;
}

/* ---- reading it ---- */

static int pack_file(int dir_fd, const char *name, const char *to, struct buf *out, struct err *e)
{
    char path[BUNDLE_NAME_MAX];
    struct stat st;
    autoclose int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return 0;
    scoped(buf) bytes = { 0 };
    (void)snprintf(path, sizeof path, "%s/%s", to, name);
    if (fd_read_to_buf(fd, SEED_BYTES_MAX, &bytes, e))
        return -1;
    return bundle_add(out, path, 0644, buf_str(&bytes), bytes.len, e);
}

static int pack_folder(const char *path, const char *to, struct buf *out, struct err *e)
{
    autodir DIR *dir = opendir(path);
    if (!dir)
        return 0; /* it is not prepared */
    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] != '.' && pack_file(dirfd(dir), entry->d_name, to, out, e))
            return -1;
    return out->len <= SEED_BYTES_MAX
               ? 0
               : err_set(e, ERR_TOO_LARGE, 0, "the seed in %s is too large", path);
}

void home_seed_load(const struct language *l)
{
    char name[128], path[4200];
    struct err ignored;
    struct buf *out = l->home_seed ? packed_of(l) : NULL;
    if (!out)
        return;
    buf_done(out);
    (void)snprintf(name, sizeof name, GUEST_DIR "/%s/seed/%s", l->name, l->home_seed->from);
    if (place_find(name, path, sizeof path, &ignored) == 0 &&
        pack_folder(path, l->home_seed->to, out, &ignored))
        buf_done(out);
}

/* ---- adding it ---- */

static bool is_below(const struct bundle_entry *f, const char *dir)
{
    size_t n = strcspn(dir, "/");
    return f->head.name_len >= n && memcmp(f->name, dir, n) == 0;
}

/* True if a file of the language imports the library, and no file is where the seed would be. */
static bool is_wanted(const struct language *l, const struct buf *files)
{
    struct bundle_entry f;
    struct err ignored;
    bool more = true, wanted = false;
    size_t searched = 0;
    for (size_t pos = 0; bundle_next(files, &pos, &f, &more, &ignored) == 0 && more;) {
        if (is_below(&f, l->home_seed->to))
            return false;
        size_t left = SEARCHED_MAX - searched;
        size_t n = f.head.size < left ? (size_t)f.head.size : left;
        if (wanted || !language_has(l, f.name, f.head.name_len))
            continue;
        wanted = code_imports(f.bytes, n, l->home_seed->imports);
        searched += n;
    }
    return wanted && !more;
}

static bool has_room(const struct limits *limits)
{
    return limits->v[LIMIT_DISK] >= DISK_MIN && limits->v[LIMIT_FILES] >= FILES_MIN;
}

int home_seed_add(const struct jar_request *q, int *ret_fd, struct err *e)
{
    const struct language *l = q->language;
    const struct buf *seed = l->home_seed ? packed_of(l) : NULL;
    struct stat st;
    *ret_fd = -1;
    if (q->kind != 0 || !seed || seed->len == 0 || !has_room(&q->limits) ||
        env_names(q->env, l->home_seed->unless))
        return 0;
    if (fstat(q->bundle_fd, &st) < 0)
        return err_set(e, ERR_KERNEL, errno, "look at the files of the job");
    if (st.st_size == 0 || st.st_size > BUNDLE_BYTES_MAX)
        return 0;
    void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, q->bundle_fd, 0);
    if (map == MAP_FAILED)
        return err_set(e, ERR_KERNEL, errno, "read the files of the job");
    const struct buf files = { .data = map, .len = (size_t)st.st_size };
    scoped(buf) both = { 0 };
    int rc = 0;
    if (is_wanted(l, &files))
        rc = buf_add(&both, files.data, files.len, e) || buf_add(&both, seed->data, seed->len, e) ||
                     fd_sealed_memory("belljar-files", &both, ret_fd, e)
                 ? -1
                 : 0;
    (void)munmap(map, (size_t)st.st_size);
    return rc;
}
