#include "allowlist/elf.h"

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#error "add the e_machine of this architecture"
#endif

enum { SEGMENTS_MAX = 64, DYNAMIC_MAX = 2048 };

struct elf_reader {
    int fd;
    Elf64_Phdr segments[SEGMENTS_MAX];
    unsigned n_segments;
    uint64_t strings, strings_size; /* of the dynamic section, as an offset in the file */
    struct elf *elf;
    size_t n_needed;
};

static int not_ours(struct err *e, const char *why)
{
    return err_set(e, ERR_BAD_REQUEST, 0, "not a program for this machine: %s", why);
}

static int read_at(int fd, uint64_t offset, void *out, size_t n, struct err *e)
{
    if (offset > INT64_MAX - n)
        return not_ours(e, "it points past every file's end");
    for (size_t have = 0; have < n;) {
        ssize_t got = pread(fd, (char *)out + have, n - have, (off_t)(offset + have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set(e, ERR_KERNEL, errno, "read a program");
        if (got == 0)
            return not_ours(e, "it is cut off");
        have += (size_t)got;
    }
    return 0;
}

static int read_head(struct elf_reader *r, struct err *e)
{
    Elf64_Ehdr h;
    if (read_at(r->fd, 0, &h, sizeof h, e))
        return -1;
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64 ||
        h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_machine != OUR_MACHINE ||
        (h.e_type != ET_EXEC && h.e_type != ET_DYN))
        return not_ours(e, "its type is not supported");
    if (h.e_phentsize != sizeof r->segments[0] || h.e_phnum > SEGMENTS_MAX)
        return not_ours(e, "its segments are not valid");
    r->n_segments = h.e_phnum;
    return h.e_phnum == 0
               ? 0
               : read_at(r->fd, h.e_phoff, r->segments, h.e_phnum * sizeof r->segments[0], e);
}

/* The offset in the file of an address, and the number of bytes there. */
static bool find_address(const struct elf_reader *r, uint64_t address, uint64_t *ret_offset,
                         uint64_t *ret_left)
{
    for (unsigned i = 0; i < r->n_segments; i++) {
        const Elf64_Phdr *s = &r->segments[i];
        if (s->p_type != PT_LOAD || address < s->p_vaddr || address - s->p_vaddr >= s->p_filesz)
            continue;
        uint64_t in = address - s->p_vaddr;
        if (s->p_offset > UINT64_MAX - in)
            return false;
        *ret_offset = s->p_offset + in;
        *ret_left = s->p_filesz - in;
        return true;
    }
    return false;
}

/* A string of the file that ends within `left` bytes. */
static int read_string(int fd, uint64_t offset, uint64_t left, char out[ELF_NAME_MAX],
                       struct err *e)
{
    size_t n = left < ELF_NAME_MAX ? (size_t)left : ELF_NAME_MAX;
    char bytes[ELF_NAME_MAX] = "";
    /* Reading byte by byte would be as correct but take many calls. The bytes behind the string, up
     * to the end of the table, exist too. */
    if (n == 0 || read_at(fd, offset, bytes, n, e))
        return n == 0 ? not_ours(e, "a name is missing") : -1;
    if (!memchr(bytes, '\0', n))
        return not_ours(e, "a name has no end");
    memcpy(out, bytes, strlen(bytes) + 1);
    return 0;
}

static int read_name(const struct elf_reader *r, uint64_t at, char out[ELF_NAME_MAX], struct err *e)
{
    if (at >= r->strings_size)
        return not_ours(e, "a name lies outside of its table");
    return read_string(r->fd, r->strings + at, r->strings_size - at, out, e);
}

static int add_needed(struct elf_reader *r, uint64_t at, struct err *e)
{
    char name[ELF_NAME_MAX];
    if (r->n_needed == ELF_NEEDED_MAX)
        return not_ours(e, "it needs too many libraries");
    if (read_name(r, at, name, e))
        return -1;
    r->elf->needed[r->n_needed] = strdup(name);
    return r->elf->needed[r->n_needed++] ? 0 : err_no_memory(e, "a program");
}

/* Reads the table of strings first, wherever it stands: the other entries are offsets into it. */
static int find_strings(struct elf_reader *r, const Elf64_Dyn *d, size_t n, struct err *e)
{
    uint64_t address = 0, size = 0, left = 0;
    for (size_t i = 0; i < n && d[i].d_tag != DT_NULL; i++) {
        address = d[i].d_tag == DT_STRTAB ? d[i].d_un.d_ptr : address;
        size = d[i].d_tag == DT_STRSZ ? d[i].d_un.d_val : size;
    }
    if (address == 0 || !find_address(r, address, &r->strings, &left) || size > left)
        return not_ours(e, "its table of names is missing");
    r->strings_size = size;
    return 0;
}

static int read_dynamic(struct elf_reader *r, const Elf64_Phdr *s, struct err *e)
{
    size_t n = (size_t)(s->p_filesz / sizeof(Elf64_Dyn));
    if (s->p_filesz > DYNAMIC_MAX * sizeof(Elf64_Dyn))
        return not_ours(e, "its dynamic section is too large");
    Elf64_Dyn *d = calloc(n + 1, sizeof *d);
    int rc = !d ? err_no_memory(e, "a program")
                : read_at(r->fd, s->p_offset, d, n * sizeof *d, e) || find_strings(r, d, n, e);
    for (size_t i = 0; rc == 0 && i < n && d[i].d_tag != DT_NULL; i++) {
        if (d[i].d_tag == DT_NEEDED)
            rc = add_needed(r, d[i].d_un.d_val, e);
        else if (d[i].d_tag == DT_RPATH)
            rc = read_name(r, d[i].d_un.d_val, r->elf->rpath, e);
        else if (d[i].d_tag == DT_RUNPATH)
            rc = read_name(r, d[i].d_un.d_val, r->elf->runpath, e);
    }
    free(d);
    return rc ? -1 : 0;
}

static int read_segments(struct elf_reader *r, struct err *e)
{
    bool dynamic = false;
    for (unsigned i = 0; i < r->n_segments; i++) {
        const Elf64_Phdr *s = &r->segments[i];
        if (s->p_type == PT_INTERP &&
            read_string(r->fd, s->p_offset, s->p_filesz, r->elf->interpreter, e))
            return -1;
        if (s->p_type != PT_DYNAMIC || s->p_filesz == 0)
            continue;
        if (dynamic) /* the loader uses one of them, and it is not known which */
            return not_ours(e, "it has two dynamic sections");
        dynamic = true;
        if (read_dynamic(r, s, e))
            return -1;
    }
    return 0;
}

void elf_done(struct elf *f)
{
    for (char **s = f->needed; s && *s; s++)
        free(*s);
    free(f->needed);
    *f = (struct elf){ 0 };
}

int elf_read(int fd, struct elf *ret, struct err *e)
{
    struct elf f = { .needed = calloc(ELF_NEEDED_MAX + 1, sizeof *f.needed) };
    struct elf_reader r = { .fd = fd, .elf = &f };
    if (!f.needed)
        return err_no_memory(e, "a program");
    if (read_head(&r, e) || read_segments(&r, e)) {
        elf_done(&f);
        return -1;
    }
    *ret = f;
    return 0;
}
