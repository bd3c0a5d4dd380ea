#include "allowlist/libraries.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"

enum { CACHE_MAX = 4 << 20, PATH_SIZE = 1024 };

/* The format of ldconfig since glibc 2.2: a header, entries, strings. All offsets count from the
 * header. */
static const char cache_magic[] = "glibc-ld.so.cache1.1";
struct cache_head {
    char magic[20];
    uint32_t entries;
    uint32_t strings_len;
    uint32_t unused[5];
};
struct cache_entry {
    int32_t flags;
    uint32_t name, path;
    uint32_t os;
    uint64_t processor;
};
_Static_assert(sizeof(struct cache_head) == 48 && sizeof(struct cache_entry) == 24, "as on disk");

/* The loader's default directories, here and on machines without a cache. */
static const char *const standard[] = {
#if defined(__x86_64__)
    "/usr/lib/x86_64-linux-gnu",
    "/lib/x86_64-linux-gnu",
#else
    "/usr/lib/aarch64-linux-gnu",
    "/lib/aarch64-linux-gnu",
#endif
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
    "/usr/local/lib",
};

int libraries_open(struct libraries *ret, struct err *e)
{
    *ret = (struct libraries){ 0 };
    autoclose int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : err_set(e, ERR_KERNEL, errno, "open /etc/ld.so.cache");
    return fd_read_to_buf(fd, CACHE_MAX, &ret->cache, e);
}

void libraries_done(struct libraries *l)
{
    buf_done(&l->cache);
}

/* The string at this offset; NULL if it is outside of the file. The buffer ends with a NUL. */
static const char *cache_text(const struct buf *b, uint32_t at)
{
    return at < b->len ? b->data + at : NULL;
}

static int find_in_cache(const struct buf *b, const char *name, library_found *found, void *context,
                         struct err *e)
{
    struct cache_head head;
    if (b->len < sizeof head)
        return 0;
    memcpy(&head, b->data, sizeof head);
    /* another format or no cache: only the default directories */
    if (memcmp(head.magic, cache_magic, sizeof head.magic) != 0 ||
        head.entries > (b->len - sizeof head) / sizeof(struct cache_entry))
        return 0;
    for (uint32_t i = 0; i < head.entries; i++) {
        struct cache_entry entry;
        memcpy(&entry, b->data + sizeof head + i * sizeof entry, sizeof entry);
        const char *of = cache_text(b, entry.name), *path = cache_text(b, entry.path);
        if (of && path && strcmp(of, name) == 0 && found(context, path, e))
            return -1;
    }
    return 0;
}

/* One directory of a list, which may begin with $ORIGIN or ${ORIGIN}. */
static int try_in(const char *dir, size_t n, const char *origin, const char *name,
                  library_found *found, void *context, struct err *e)
{
    static const char *const tokens[] = { "$ORIGIN", "${ORIGIN}" };
    char path[PATH_SIZE];
    const char *before = "";
    for (int i = 0; i < 2; i++) {
        size_t len = strlen(tokens[i]);
        if (n >= len && strncmp(dir, tokens[i], len) == 0) {
            before = origin;
            dir += len;
            n -= len;
            break;
        }
    }
    int len = snprintf(path, sizeof path, "%s%.*s/%s", before, (int)n, dir, name);
    /* An empty entry means the current directory, which is the guest's. */
    return len >= (int)sizeof path || path[0] != '/' || (n == 0 && !*before)
               ? 0
               : found(context, path, e);
}

static int try_list(const char *list, const char *origin, const char *name, library_found *found,
                    void *context, struct err *e)
{
    while (*list) {
        size_t n = strcspn(list, ":");
        if (n < PATH_SIZE && try_in(list, n, origin, name, found, context, e))
            return -1;
        list += n + (list[n] == ':');
    }
    return 0;
}

int libraries_find_near(const char *name, const char *search, const char *origin,
                        library_found *found, void *context, struct err *e)
{
    if (name[0] == '/')
        return found(context, name, e);
    if (strchr(name, '/')) /* a path, not a name to search for */
        return try_in(name, strcspn(name, "/"), origin, strchr(name, '/') + 1, found, context, e);
    return try_list(search, origin, name, found, context, e);
}

int libraries_find(const struct libraries *l, const char *name, const char *search,
                   const char *origin, library_found *found, void *context, struct err *e)
{
    if (libraries_find_near(name, search, origin, found, context, e))
        return -1;
    if (strchr(name, '/'))
        return 0;
    if (find_in_cache(&l->cache, name, found, context, e))
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(standard); i++)
        if (try_in(standard[i], strlen(standard[i]), "", name, found, context, e))
            return -1;
    return 0;
}
