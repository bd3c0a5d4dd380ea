/* store/image_rows.h — one row for each image of a session that is in a file, and the facts by which
 * the file is known again. Runs in: a store thread. */
#pragma once

#include "store/db.h"
#include "store/digest.h"

/* Of a file that nobody has touched since it was written. */
struct image_stamp {
    uint64_t inode, bytes;
    int64_t changed_ns, modified_ns;
};

/* A row that was read owns its texts; image_row_done() frees them. */
struct image_row {
    char *id, *key, *kind, *session, *name, *language; /* key, session, name: NULL if none */
    char *bases;                                       /* JSON array of ids, or NULL */
    char *detail;                                      /* JSON, or NULL */
    char *form;                                        /* of the file; NULL: the image as it is */
    char *request; /* of a template: JSON; written, and read by images_request() alone */
    int64_t cell;  /* cells of its session before it */
    int64_t bytes, created_ms;
    uint8_t digest[DIGEST_BYTES];
    struct image_stamp stamp;
};
void image_row_done(struct image_row *r);

struct image_rows {
    struct image_row *rows; /* the oldest first */
    size_t n;
};
void image_rows_done(struct image_rows *r);

[[nodiscard]] int images_insert(struct db *db, const struct image_row *r, struct err *e);
/* The request that made a template, for free(). ERR_NOT_FOUND if there is none. */
[[nodiscard]] int images_request(struct db *db, const char *id, char **ret, struct err *e);
[[nodiscard]] int images_delete(struct db *db, const char *id, struct err *e);
/* From now on it is only a base of others: its kind is "base". */
[[nodiscard]] int images_demote(struct db *db, const char *id, struct err *e);
[[nodiscard]] int images_list(struct db *db, struct image_rows *ret, struct err *e);
