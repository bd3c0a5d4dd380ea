/* allowlist/elf.h — the loader and the libraries that a program or library names in its ELF
 * headers. Runs in: keeper. The files are the machine's own, but are treated as untrusted: every
 * offset and count is checked, and only the requested parts are read (a program can have a hundred
 * megabytes).
 *
 * Only 64-bit little-endian files of this machine's architecture are read: no other starts in a
 * jar. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

enum { ELF_NEEDED_MAX = 256, ELF_NAME_MAX = 512 };

struct elf {
    char interpreter[ELF_NAME_MAX]; /* "" for a library or a static program */
    char rpath[ELF_NAME_MAX];       /* its search path for libraries, with colons; "" for none */
    char runpath[ELF_NAME_MAX];
    char **needed; /* names of libraries, NULL-terminated */
};
void elf_done(struct elf *f);

/* ERR_BAD_REQUEST for a file that is not ELF, or that this machine cannot start. */
[[nodiscard]] int elf_read(int fd, struct elf *ret, struct err *e);
