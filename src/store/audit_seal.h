/* store/audit_seal.h — seals of the audit log: signatures that a process without the database makes,
 * with keys that it forgets.
 * Runs in: the supervisor makes them; commands check them.
 *
 * A seal says that the chain had a head: record seq had this hash. It is signed (Ed25519) by the key
 * of its epoch, and names the public key of the next epoch. The secret of the next epoch is a hash
 * of this one, which is then overwritten in memory and on the disk. So a seal cannot be made later,
 * by anybody, and the public key of the first epoch is enough to check all seals.
 *
 *     STATE/audit.seals  "key PUBLIC", then for each seal "seal EPOCH SEQ HEAD TIME NEXT SIGNATURE"
 *     STATE/audit.key    the epoch and its secret; for the supervisor alone
 *
 * Invariants
 * SEAL-1 A seal is on the disk before the secret that made it is overwritten. After a crash in
 *        between, the next start overwrites it, so that no secret makes two seals.
 * SEAL-2 No child of the supervisor has the secret: its page is empty after fork().
 * SEAL-3 Seals go forward: a head before the last sealed record is refused. */
#pragma once

#include "store/digest.h"

enum { SEAL_KEY_BYTES = 32, SEAL_KEY_HEX = 65, SEAL_SIGNATURE_BYTES = 64 };

struct audit_seal {
    uint64_t epoch;
    int64_t seq, time_ms;
    uint8_t head[DIGEST_BYTES];
    uint8_t next[SEAL_KEY_BYTES];
    uint8_t signature[SEAL_SIGNATURE_BYTES];
};

enum { AUDIT_SEAL_LINE = 512 };
/* Without a newline. */
void audit_seal_format(const struct audit_seal *s, char line[AUDIT_SEAL_LINE]);

/* ---- checking ---- */
struct audit_seals {
    char first[SEAL_KEY_HEX]; /* the public key of the first epoch */
    struct audit_seal *at;
    size_t n;
};
void audit_seals_done(struct audit_seals *s);
/* Reads and checks every signature. The error names the first line that does not follow from the
 * lines before it. ERR_NOT_FOUND: there is no file. */
[[nodiscard]] int audit_seals_read(struct audit_seals *ret, int dir_fd, struct err *e);
/* The same for the text of such a file. */
[[nodiscard]] int audit_seals_parse(struct audit_seals *ret, const struct buf *text, struct err *e);

/* ---- sealing ---- */
struct audit_sealer;
/* Makes the key and the file of seals if there are none. Borrows dir_fd. */
[[nodiscard]] int audit_sealer_open(struct audit_sealer **ret, int dir_fd, struct err *e);
void audit_sealer_close(struct audit_sealer *s);
/* ERR_CONFLICT if the head lies before the last seal. Nothing happens if it is the last one. */
[[nodiscard]] int audit_sealer_seal(struct audit_sealer *s, int64_t seq,
                                    const uint8_t head[DIGEST_BYTES], int64_t now_ms,
                                    struct err *e);
