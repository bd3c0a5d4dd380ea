/* store/artifact_rows.h — artifacts with all their versions. Runs in: a store thread. */
#pragma once

#include "store/db.h"

struct artifact_row {
    int64_t seq;
    char *id, *conversation, *title, *content, *language, *type,
        *parent; /* conversation, parent may be NULL */
    int64_t version, created_ms, updated_ms;
};
void artifact_row_done(struct artifact_row *r);
struct artifact_rows {
    struct artifact_row *rows;
    size_t n;
};
void artifact_rows_done(struct artifact_rows *r);

/* Stores version 1. Uses id, conversation, title, content, language, type, parent, created_ms. */
[[nodiscard]] int artifacts_insert(struct db *db, const struct artifact_row *r, struct err *e);
/* ERR_NOT_FOUND for a deleted artifact. */
[[nodiscard]] int artifacts_get(struct db *db, const char *id, struct artifact_row *ret,
                                struct err *e);
/* Stores a new version. A NULL parameter leaves its value unchanged. *ret is the row afterwards. */
[[nodiscard]] int artifacts_update(struct db *db, const char *id, const char *content,
                                   const char *title, int64_t now_ms, struct artifact_row *ret,
                                   struct err *e);
[[nodiscard]] int artifacts_delete(struct db *db, const char *id, int64_t now_ms, struct err *e);
/* Newest first. */
[[nodiscard]] int artifacts_of_conversation(struct db *db, const char *conversation,
                                            struct artifact_rows *ret, struct err *e);
/* Oldest first. created_ms of each row is the time of that version. */
[[nodiscard]] int artifacts_versions(struct db *db, const char *id, struct artifact_rows *ret,
                                     struct err *e);
