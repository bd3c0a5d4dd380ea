/* Heads of programs and libraries, and the loader's cache, as somebody who means harm would write
 * them. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "allowlist/elf.h"
#include "allowlist/libraries.h"
#include "base/auto.h"
#include "base/fdio.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int touch(void *context, const char *path, struct err *e)
{
    size_t *total = context;
    (void)e;
    if (path[0] == '\0' && *total == SIZE_MAX)
        abort();
    *total += strlen(path);
    return 0;
}

static void read_head(const uint8_t *data, size_t size)
{
    struct err e;
    scoped(elf) f = { 0 };
    struct libraries none = { 0 };
    size_t total = 0;
    autoclose int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || fd_write_all(fd, data, size) || elf_read(fd, &f, &e))
        return;
    if (strlen(f.interpreter) >= ELF_NAME_MAX)
        abort();
    for (char **name = f.needed; *name; name++)
        if (libraries_find(&none, *name, f.runpath[0] ? f.runpath : f.rpath, "/usr/bin", touch,
                           &total, &e))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err e;
    size_t total = 0;
    scoped(libraries) l = { 0 };
    if (size > 1 << 16)
        return 0;
    read_head(data, size);
    if (buf_add(&l.cache, data, size, &e) == 0)
        (void)!libraries_find(&l, "x.so", "", "/", touch, &total, &e);
    return 0;
}
