/* store/artifact_rows.h — artifacts with all their versions. Runs in: a store thread. */
#pragma once

#include "store/db.h"

struct artifact_row {
    int64_t seq;
    char *id, *owner, *conversation, *title, *content, *language, *type,
        *parent; /* conversation, parent may be NULL; owner: the id of a key, or "" */
    int64_t version, created_ms, updated_ms;
};
void artifact_row_done(struct artifact_row *r);
struct artifact_rows {
    struct artifact_row *rows;
    size_t n;
};
void artifact_rows_done(struct artifact_rows *r);

/* The bytes that artifacts with all their versions may take: of one owner, and in all. 0: any. */
struct artifact_quota {
    int64_t owner_bytes, all_bytes;
};
/* Each version is counted with this addition, for its row and its index. */
enum { ARTIFACT_VERSION_BYTES = 512 };

/* Parameter `owner` below: only artifacts of this owner exist for the call; NULL: all of them. */

/* Stores version 1. Uses id, owner, conversation, title, content, language, type, parent,
 * created_ms. ERR_QUOTA if the owner has no room for it. */
[[nodiscard]] int artifacts_insert(struct db *db, const struct artifact_row *r,
                                   const struct artifact_quota *quota, struct err *e);
[[nodiscard]] int artifacts_get(struct db *db, const char *id, const char *owner,
                                struct artifact_row *ret, struct err *e);
/* Stores a new version. A NULL parameter leaves its value unchanged. *ret is the row afterwards. */
[[nodiscard]] int artifacts_update(struct db *db, const char *id, const char *owner,
                                   const char *content, const char *title, int64_t now_ms,
                                   const struct artifact_quota *quota, struct artifact_row *ret,
                                   struct err *e);
/* Removes the artifact with every version. */
[[nodiscard]] int artifacts_delete(struct db *db, const char *id, const char *owner, struct err *e);
/* Newest first. */
[[nodiscard]] int artifacts_of_conversation(struct db *db, const char *conversation,
                                            const char *owner, struct artifact_rows *ret,
                                            struct err *e);
/* The newest ones, up to ARTIFACTS_LISTED, whose seq is below before_seq, newest first. Their content
 * is "". */
enum { ARTIFACTS_LISTED = 100 };
[[nodiscard]] int artifacts_list(struct db *db, int64_t before_seq, const char *owner,
                                 struct artifact_rows *ret, struct err *e);
/* Oldest first. created_ms of each row is the time of that version. */
[[nodiscard]] int artifacts_versions(struct db *db, const char *id, const char *owner,
                                     struct artifact_rows *ret, struct err *e);
