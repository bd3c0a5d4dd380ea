#include "image/identity.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

enum { DIGESTED_MAX = 256 << 20, NOTES_MAX = 16 << 10, SEGMENTS_MAX = 64 };
#define FNV_START UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

static uint64_t digest_add(uint64_t digest, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): bytes of a number */
        digest = (digest ^ p[i]) * FNV_PRIME;
    return digest;
}

bool image_is_own_place(const char *path)
{
    return strncmp(path, "/sandbox/", 9) == 0 || strncmp(path, "/tmp/", 5) == 0;
}

/* ---- files ---- */

/* 0: there is no build id among these notes. */
static uint64_t find_build_id(const char *notes, size_t n)
{
    for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= n;) {
        Elf64_Nhdr h;
        memcpy(&h, notes + at, sizeof h);
        size_t name = at + sizeof h, desc = name + (((size_t)h.n_namesz + 3) & ~(size_t)3);
        size_t next = desc + (((size_t)h.n_descsz + 3) & ~(size_t)3);
        if (next > n || next <= at)
            return 0;
        if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 && memcmp(notes + name, "GNU", 4) == 0)
            return digest_add(FNV_START, notes + desc, h.n_descsz);
        at = next;
    }
    return 0;
}

static uint64_t build_id(int fd, char *room, size_t room_bytes)
{
    Elf64_Ehdr h;
    Elf64_Phdr segments[SEGMENTS_MAX];
    if (pread(fd, &h, sizeof h, 0) != sizeof h || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
        h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_phentsize != sizeof segments[0] ||
        h.e_phnum > SEGMENTS_MAX)
        return 0;
    size_t bytes = h.e_phnum * sizeof segments[0];
    if (pread(fd, segments, bytes, (off_t)h.e_phoff) != (ssize_t)bytes)
        return 0;
    for (size_t i = 0; i < h.e_phnum; i++) {
        const Elf64_Phdr *p = &segments[i];
        size_t n = p->p_filesz < NOTES_MAX ? (size_t)p->p_filesz : NOTES_MAX;
        if (p->p_type != PT_NOTE || n > room_bytes ||
            pread(fd, room, n, (off_t)p->p_offset) != (ssize_t)n)
            continue;
        uint64_t id = find_build_id(room, n);
        if (id)
            return id;
    }
    return 0;
}

static uint64_t digest_of(int fd, char *room, size_t room_bytes)
{
    uint64_t digest = FNV_START;
    off_t at = 0;
    ssize_t n;
    while ((n = pread(fd, room, room_bytes, at)) > 0 && at < DIGESTED_MAX) {
        digest = digest_add(digest, room, (size_t)n);
        at += n;
    }
    return n == 0 ? digest : 0;
}

uint64_t image_file_identity(const char *path, void *room, size_t room_bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    uint64_t id = build_id(fd, room, room_bytes);
    if (!id)
        id = digest_of(fd, room, room_bytes);
    (void)close(fd);
    return id;
}

void image_identify(struct image_scratch *s)
{
    for (size_t i = 0; i < s->n_maps; i++) {
        struct image_map *m = &s->maps[i];
        const char *name = image_map_name(s, m);
        if (m->kind != IMAGE_FILE || image_is_own_place(name))
            continue;
        bool is_next = i > 0 && m[-1].kind == IMAGE_FILE && m[-1].name == m->name;
        m->identity = is_next ? m[-1].identity
                              : image_file_identity(name, s->entries, sizeof s->entries);
    }
}

/* ---- the processor ---- */

uint64_t image_processor(void)
{
    uint64_t digest = FNV_START;
    const unsigned long capabilities[] = { getauxval(AT_HWCAP), getauxval(AT_HWCAP2) };
    digest = digest_add(digest, capabilities, sizeof capabilities);
#ifdef __x86_64__
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d)) { /* b has the number of the processor that runs this */
        const unsigned features[] = { c, d };
        digest = digest_add(digest, features, sizeof features);
    }
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        const unsigned features[] = { b, c };
        digest = digest_add(digest, features, sizeof features);
    }
    if (__get_cpuid_count(13, 0, &a, &b, &c, &d)) { /* the size of saved registers */
        const unsigned sizes[] = { a, c };
        digest = digest_add(digest, sizes, sizeof sizes);
    }
#endif
    return digest;
}
