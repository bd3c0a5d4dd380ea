/* allowlist/elf.h — what a program or library names in its head: its loader, and the libraries it needs.
 * Runs in: keeper. Reads files of the machine's own, and would as soon read a stranger's: every offset and count is
 * checked, and nothing is read that was not asked for (a program can be a hundred megabytes).
 *
 * Only 64-bit little-endian files of this machine's architecture are understood: no other starts in a jar. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

enum { ELF_NEEDED_MAX = 256, ELF_NAME_MAX = 512 };

struct elf {
    char interpreter
        [ELF_NAME_MAX]; /* "" where there is none: a library, or a program that is whole by itself */
    char rpath
        [ELF_NAME_MAX]; /* where it wants its libraries looked for, with colons; "" for nowhere */
    char runpath[ELF_NAME_MAX];
    char **needed; /* names of libraries, NULL-terminated */
};
void elf_done(struct elf *f);

/* ERR_BAD_REQUEST for a file that is none, or is none that this machine can start. */
[[nodiscard]] int elf_read(int fd, struct elf *ret, struct err *e);
