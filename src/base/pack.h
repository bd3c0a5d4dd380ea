/* base/pack.h — fields to bytes and back. Runs in: keeper, warden, embryo.
 * Invariant: a reader that has met an error stays failed and yields zeros. Only unpack_end()
 * reports that, and it requires that every byte was consumed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct packer {
    char *at;
    size_t left;
    bool failed; /* did not fit */
};

void pack_u32(struct packer *p, uint32_t v);
void pack_u64(struct packer *p, uint64_t v);
void pack_bytes(struct packer *p, const void *bytes, size_t n);
void pack_str(struct packer *p, const char *s);
/* A NULL-terminated array. */
void pack_strv(struct packer *p, char *const *strv);

struct unpacker {
    const char *at;
    size_t left;
    bool failed;
};

uint32_t unpack_u32(struct unpacker *u);
uint64_t unpack_u64(struct unpacker *u);
/* Points into the message; the string is terminated there. NULL on failure. */
const char *unpack_str(struct unpacker *u);
/* The counterpart of pack_bytes(). Points into the message; NULL on failure. */
const char *unpack_bytes(struct unpacker *u, size_t *ret_n);
/* A new NULL-terminated array whose strings point into the message; free() the array alone. */
char **unpack_strv(struct unpacker *u, size_t max);
[[nodiscard]] int unpack_end(const struct unpacker *u, const char *what, struct err *e);
