#include "image/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct image_scratch *image_scratch_new(void)
{
    void *s = mmap(NULL, sizeof(struct image_scratch), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return s == MAP_FAILED ? NULL : s;
}

void image_scratch_free(struct image_scratch *s)
{
    if (s)
        (void)munmap(s, sizeof *s);
}

const char *image_map_name(const struct image_scratch *s, const struct image_map *m)
{
    return m->name < s->names_bytes ? s->names + m->name : "";
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static bool is_of_kernel(const char *name)
{
    return strncmp(name, "[vdso", 5) == 0 || strncmp(name, "[vvar", 5) == 0;
}

/* A file that can be opened by its name later is mapped again. The contents of others go into the
 * image. */
static void look_at_file(const struct image_scratch *s, struct image_map *m, const char *name)
{
    struct stat st;
    if (s->n_maps > 0 && m[-1].name == m->name && m[-1].kind == IMAGE_FILE) {
        m->kind = IMAGE_FILE;
        m->device = m[-1].device;
        m->inode = m[-1].inode;
        m->size = m[-1].size;
        m->changed = m[-1].changed;
        return;
    }
    if (name[0] != '/' || ends_with(name, " (deleted)") || stat(name, &st) < 0 ||
        !S_ISREG(st.st_mode)) {
        m->kind = IMAGE_ANONYMOUS;
        m->whole = 1;
        return;
    }
    m->kind = IMAGE_FILE;
    m->device = st.st_dev;
    m->inode = st.st_ino;
    m->size = (uint64_t)st.st_size;
    m->changed = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
}

static void classify(struct image_scratch *s, struct image_map *m, const char *name)
{
    uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    bool is_scratch = m->start >= (uint64_t)(uintptr_t)s &&
                      m->end <= (uint64_t)(uintptr_t)s + sizeof *s + IMAGE_PAGE;
    m->heap = strcmp(name, "[heap]") == 0;
    m->stack = m->start <= here && here < m->end;
    if (is_scratch || strcmp(name, "[vsyscall]") == 0)
        m->kind = IMAGE_LEFT_OUT;
    else if (is_of_kernel(name))
        m->kind = IMAGE_OF_KERNEL;
    else if (m->inode)
        look_at_file(s, m, name);
    else
        m->kind = IMAGE_ANONYMOUS;
    m->whole = m->whole || (m->kind == IMAGE_ANONYMOUS && m->shared);
}

static uint64_t take_hex(const char **at)
{
    uint64_t v = 0;
    for (;; (*at)++) {
        char c = **at;
        if (c >= '0' && c <= '9')
            v = v * 16 + (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            v = v * 16 + (uint64_t)(c - 'a' + 10);
        else
            return v;
    }
}

static uint64_t take_decimal(const char **at)
{
    uint64_t v = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        v = v * 10 + (uint64_t)(**at - '0');
    return v;
}

/* MAJOR:MINOR, both hexadecimal. */
static uint64_t take_device(const char **at)
{
    uint64_t major = take_hex(at);
    *at += **at == ':';
    return makedev((unsigned)major, (unsigned)take_hex(at));
}

static void skip_word(const char **at)
{
    while (**at && **at != ' ')
        (*at)++;
    while (**at == ' ')
        (*at)++;
}

/* The mappings of one file follow each other and share the name. */
static int take_name(struct image_scratch *s, struct image_map *m, const char *name,
                     char why[IMAGE_WHY])
{
    size_t n = strlen(name) + 1;
    if (s->n_maps > 0 && strcmp(image_map_name(s, m - 1), name) == 0) {
        m->name = m[-1].name;
        return 0;
    }
    if (s->names_bytes + n > sizeof s->names)
        return image_refuse(why, "the names of its mapped files are too long");
    m->name = (uint32_t)s->names_bytes;
    memcpy(s->names + s->names_bytes, name, n);
    s->names_bytes += n;
    return 0;
}

/* START-END MODE OFFSET DEVICE INODE NAME */
static int take_line(struct image_scratch *s, const char *line, char why[IMAGE_WHY])
{
    const char *at = line;
    if (s->n_maps == IMAGE_MAPS_MAX)
        return image_refuse(why, "it has more than %d mappings of memory", IMAGE_MAPS_MAX);
    struct image_map *m = &s->maps[s->n_maps];
    *m = (struct image_map){ .start = take_hex(&at) };
    at++;
    m->end = take_hex(&at);
    at++;
    m->prot = (at[0] == 'r' ? PROT_READ : 0U) | (at[1] == 'w' ? PROT_WRITE : 0U) |
              (at[2] == 'x' ? PROT_EXEC : 0U);
    m->shared = at[3] == 's';
    skip_word(&at);
    m->offset = take_hex(&at);
    skip_word(&at);
    m->device = take_device(&at);
    skip_word(&at);
    m->inode = take_decimal(&at);
    skip_word(&at);
    if (take_name(s, m, at, why))
        return -1;
    classify(s, m, at);
    s->n_maps += m->kind != IMAGE_LEFT_OUT;
    return 0;
}

static int take_lines(struct image_scratch *s, size_t *len, char why[IMAGE_WHY])
{
    char *line = s->text, *end = s->text + *len, *stop;
    while ((stop = memchr(line, '\n', (size_t)(end - line)))) {
        *stop = '\0';
        if (take_line(s, line, why))
            return -1;
        line = stop + 1;
    }
    *len = (size_t)(end - line);
    memmove(s->text, line, *len);
    return 0;
}

int image_read_maps(struct image_scratch *s, char why[IMAGE_WHY])
{
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    ssize_t n;
    int rc = 0;
    if (fd < 0)
        return image_refuse(why, "/proc/self/maps cannot be opened: %s", strerror(errno));
    s->n_maps = s->names_bytes = 0;
    while (rc == 0 && (n = read(fd, s->text + len, sizeof s->text - len)) > 0) {
        len += (size_t)n;
        rc = take_lines(s, &len, why);
    }
    (void)close(fd);
    if (rc == 0 && s->n_maps == 0)
        return image_refuse(why, "/proc/self/maps is empty");
    return rc;
}

uint64_t image_kernel_code(const struct image_scratch *s)
{
    uint64_t digest = 0xcbf29ce484222325; /* FNV-1a */
    for (size_t i = 0; i < s->n_maps; i++) {
        const struct image_map *m = &s->maps[i];
        if (m->kind != IMAGE_OF_KERNEL || !(m->prot & PROT_EXEC))
            continue;
        const unsigned char *p = image_at(m->start);
        for (uint64_t k = 0; k < m->end - m->start; k++)
            digest = (digest ^ p[k]) * 0x100000001b3;
    }
    return digest;
}
