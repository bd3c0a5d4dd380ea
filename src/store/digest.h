/* store/digest.h — a digest of a list of values, by which the audit log and rules name bytes.
 * Runs in: any thread; pure.
 *
 * BLAKE2b-256 over the values. Each value follows its length; lengths and numbers are 8 bytes, most
 * significant first. So two different lists never give the same bytes, and the digest is the same
 * on every machine. */
#pragma once

#include <sodium.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { DIGEST_BYTES = 32, DIGEST_HEX = 2 * DIGEST_BYTES + 1 };

/* libsodium wants its state on 64 bytes, and the stack frames of the sanitizers keep only 32. */
enum { DIGEST_ALIGN = 64 };
struct digest {
    unsigned char room[sizeof(crypto_generichash_state) + DIGEST_ALIGN];
};

void digest_begin(struct digest *d);
void digest_add(struct digest *d, const void *bytes, size_t n);
/* NULL differs from "". */
void digest_add_text(struct digest *d, const char *text);
void digest_add_number(struct digest *d, uint64_t v);
/* NULL-terminated; NULL differs from an empty list. */
void digest_add_list(struct digest *d, char *const *list);
/* As digest_add() of the whole file behind fd, which is read from its start. */
[[nodiscard]] int digest_add_file(struct digest *d, int fd, struct err *e);
void digest_end(struct digest *d, uint8_t ret[DIGEST_BYTES]);
const char *digest_end_hex(struct digest *d, char ret[DIGEST_HEX]);
