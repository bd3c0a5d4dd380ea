/* store/audit_sealer.h — makes the seals of the audit log, with keys that it forgets.
 * Runs in: the supervisor.
 *
 *     STATE/audit.key  two places for the current secrets, one of which is empty; for the
 *                      supervisor alone
 *
 * The secret of the next epoch is a hash of the current one. The secret that signs the lines of
 * blocks is forgotten in the same way, with each line.
 *
 * Invariants
 * SEAL-1 A seal is on the disk before the secret that made it is overwritten. After a crash in
 *        between, the next start overwrites it, so that no secret makes two seals.
 * SEAL-2 No child of the supervisor has the secret: its page is empty after fork().
 * SEAL-3 Seals go forward: a head before the last sealed record is refused, and so is a head that is
 *        further away than a log can have grown.
 * SEAL-4 A secret makes a seal only after it is on the disk and its predecessor is not. So a key
 *        file that could not be written stops the seals, and never breaks their chain.
 * SEAL-5 Seals are dropped in whole blocks, from the oldest on, and never the current block. */
#pragma once

#include "store/audit_seal.h"

enum { AUDIT_BLOCK_EPOCHS = 1024 };

struct audit_sealer;
/* Makes the key and the file of seals if there are none. Borrows dir_fd. A new block begins with
 * each multiple of block_epochs. */
[[nodiscard]] int audit_sealer_open(struct audit_sealer **ret, int dir_fd, unsigned block_epochs,
                                    struct err *e);
/* Copies the key file to an empty file, for a backup: one state of it, also while a service makes seals.
 * Seals that are copied afterwards are at least as new, and the key catches up with them. A reader of
 * the copy can make seals from its epoch on, and none before. ERR_NOT_FOUND: there is no key. */
[[nodiscard]] int audit_key_copy(int dir_fd, int to_fd, struct err *e);
void audit_sealer_close(struct audit_sealer *s);
/* ERR_CONFLICT if the head lies before the last seal, or too far behind it. Nothing happens if it is
 * the last one. */
[[nodiscard]] int audit_sealer_seal(struct audit_sealer *s, int64_t seq,
                                    const uint8_t head[DIGEST_BYTES], int64_t now_ms,
                                    struct err *e);
/* Drops the blocks whose records are all among the first removed_seq, which the log has not any
 * more. The caller need not trust that number: `audit verify` wants a seal for each record that is
 * there. */
[[nodiscard]] int audit_sealer_drop(struct audit_sealer *s, int64_t removed_seq, struct err *e);
