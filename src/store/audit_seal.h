/* store/audit_seal.h — seals of the audit log: how they look, and how they are checked.
 * Runs in: commands check them; the supervisor makes them (audit_sealer.h).
 *
 * A seal says that the chain had a head: record seq had this hash. It is signed (Ed25519) by the key
 * of its epoch, and names the public key of the next epoch. The secret of an epoch is forgotten with
 * its seal. So a seal cannot be made later, by anybody, and the public key of the first epoch is
 * enough to check all seals.
 *
 * A block is a row of seals. Its line has the place where the block begins (the epoch, its public
 * key, the last sealed record) and the public key that signs the line of the next block. The key of
 * the first epoch signs the first line of a block. So a block is proven without the seals of the
 * blocks before it: these may be dropped, if their records are removed.
 *
 *     STATE/audit.seals  "key PUBLIC", then in the order of time
 *                        "block NUMBER EPOCH SEQ HEAD TIME KEY NEXT SIGNATURE"
 *                        "seal EPOCH SEQ HEAD TIME NEXT SIGNATURE" */
#pragma once

#include <stdbool.h>

#include "store/digest.h"

enum { SEAL_KEY_BYTES = 32, SEAL_KEY_HEX = 65, SEAL_SIGNATURE_BYTES = 64 };

struct audit_seal {
    uint64_t epoch;
    int64_t seq, time_ms;
    uint8_t head[DIGEST_BYTES];
    uint8_t next[SEAL_KEY_BYTES];
    uint8_t signature[SEAL_SIGNATURE_BYTES];
};

struct audit_block {
    uint64_t number, epoch;     /* the epoch of its first seal */
    int64_t seq, time_ms;       /* of the last seal before it; 0: there was none */
    uint8_t head[DIGEST_BYTES]; /* of that seal */
    uint8_t key[SEAL_KEY_BYTES], next[SEAL_KEY_BYTES];
    uint8_t signature[SEAL_SIGNATURE_BYTES];
};

enum { AUDIT_SEAL_LINE = 512, AUDIT_SIGNED_BYTES = 5 * 8 + DIGEST_BYTES + 2 * SEAL_KEY_BYTES };
/* Without a newline. */
void audit_seal_format(const struct audit_seal *s, char line[AUDIT_SEAL_LINE]);
void audit_block_format(const struct audit_block *b, char line[AUDIT_SEAL_LINE]);
[[nodiscard]] bool audit_seal_parse(const char *line, struct audit_seal *ret);
[[nodiscard]] bool audit_block_parse(const char *line, struct audit_block *ret);
/* The bytes that are signed, and their number. */
size_t audit_seal_signed(const struct audit_seal *s, uint8_t ret[AUDIT_SIGNED_BYTES]);
size_t audit_block_signed(const struct audit_block *b, uint8_t ret[AUDIT_SIGNED_BYTES]);

/* The size of the file of seals: at one seal a minute, enough for seven years. */
enum { AUDIT_SEALS_MAX_BYTES = 1 << 30 };
#define AUDIT_SEALS_FILE "audit.seals"

struct audit_seals {
    char first[SEAL_KEY_HEX]; /* the public key of the first epoch */
    struct audit_seal *at;
    size_t n;
    struct audit_block *blocks;
    size_t n_blocks;
    uint64_t dropped;    /* number of seals that were dropped */
    int64_t dropped_seq; /* the last record that one of them was about; 0: none was dropped */
};
void audit_seals_done(struct audit_seals *s);
/* Reads and checks every signature. The error names the first line that does not follow from the
 * lines before it. ERR_NOT_FOUND: there is no file. */
[[nodiscard]] int audit_seals_read(struct audit_seals *ret, int dir_fd, struct err *e);
/* The same for the text of such a file. */
[[nodiscard]] int audit_seals_parse(struct audit_seals *ret, const struct buf *text, struct err *e);
