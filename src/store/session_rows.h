/* store/session_rows.h — sessions, the ended ones too: so a client learns why and when its session
 * ended. Runs in: a store thread. */
#pragma once

#include "store/db.h"

/* A row that was read owns its texts; session_row_done() frees them. */
struct session_row {
    char *id, *key, *name, *language, *reason; /* key, name, reason: NULL if there is none */
    int64_t created_ms, ended_ms;              /* Unix time; ended_ms 0: it lives */
    int64_t cells;
    char *adopted_by; /* written only: the session that goes on with its program; NULL: none */
    /* The session that it is a copy of, its last cell then, and the checkpoint; NULL: none */
    char *parent, *parent_image;
    int64_t parent_cell;
    char *rollbacks; /* JSON array of {last, to, at_ms, kind}, the oldest first; NULL: none */
    char *image;     /* the one that it sleeps in; NULL: it does not sleep */
    char *spec;      /* JSON: everything that its client asked for; only while it sleeps */
    int64_t number;  /* rows have rising ones; of sessions_sleeping() only */
};
void session_row_done(struct session_row *r);

/* The event that took the effects of cells away. */
enum rollback_kind {
    ROLLBACK_ASKED,
    ROLLBACK_UNDO,
    ROLLBACK_JAR_ENDED,
    ROLLBACK_RESTART,
    ROLLBACK_REPLAY,
    ROLLBACK_KINDS
};
/* "rollback", "undo" and so on; NULL-terminated. */
extern const char *const rollback_words[];

/* One rollback: cells after `to`, up to `last`, have no effect any longer. */
struct session_rollback_row {
    int64_t last, to; /* to -1: the session began anew */
    int64_t at_ms;    /* Unix time; 0: there was none */
    enum rollback_kind kind;
};

/* Uses id, key, name, language, created_ms, and the three about its parent. */
[[nodiscard]] int sessions_insert(struct db *db, const struct session_row *r, struct err *e);
/* Uses id, ended_ms, reason, cells, adopted_by. */
[[nodiscard]] int sessions_finish(struct db *db, const struct session_row *r, struct err *e);
/* The session `by` goes on with the program of this one, if both have the same key. */
[[nodiscard]] int sessions_set_adopted(struct db *db, const char *id, const char *by,
                                       struct err *e);
/* Uses id, image, spec, cells. It sleeps in the image; or with image NULL it is awake. */
[[nodiscard]] int sessions_set_image(struct db *db, const struct session_row *r, struct err *e);
/* ERR_NOT_FOUND if there is none. Without image and spec. */
[[nodiscard]] int sessions_get(struct db *db, const char *id, struct session_row *ret,
                               struct err *e);

/* The cells of a session are its own, and those of the sessions that it has adopted.
 *
 * The id of the run of a cell, for free(). ERR_NOT_FOUND if there is none. */
[[nodiscard]] int sessions_find_cell(struct db *db, const char *session, int64_t cell,
                                     char **ret_run, struct err *e);

/* Appends the ids of the runs of the first cells after this number, the oldest first. */
[[nodiscard]] int sessions_cells_after(struct db *db, const char *session, int64_t after,
                                       unsigned limit, char ***ids, struct err *e);

/* The same for the newest cells, the newest first. */
[[nodiscard]] int sessions_cells_newest(struct db *db, const char *session, unsigned limit,
                                        char ***ids, struct err *e);

struct session_rows {
    struct session_row *rows; /* the newest first */
    size_t n;
};
void session_rows_done(struct session_rows *r);
/* Ended sessions; key NULL: of all keys. */
[[nodiscard]] int sessions_ended(struct db *db, const char *key, unsigned limit,
                                 struct session_rows *ret, struct err *e);
/* Adds a rollback to the row, unless it is the last one there already. */
[[nodiscard]] int sessions_roll_back(struct db *db, const char *id,
                                     const struct session_rollback_row *r, struct err *e);
/* Every session that has a common ancestor with this one, the oldest first. */
[[nodiscard]] int sessions_tree(struct db *db, const char *id, struct session_rows *ret,
                                struct err *e);
/* The first `limit` sessions that sleep and have a number beyond `after`, in the order of their
 * numbers, with number, image and spec. */
[[nodiscard]] int sessions_sleeping(struct db *db, int64_t after, unsigned limit,
                                    struct session_rows *ret, struct err *e);
/* The highest number of a cell so far; 0: none. */
[[nodiscard]] int sessions_count_cells(struct db *db, const char *session, int64_t *ret,
                                       struct err *e);
/* Appends the languages of the sessions that were created since then. */
[[nodiscard]] int sessions_languages(struct db *db, int64_t since_ms, char ***languages,
                                     struct err *e);
/* At the start of the service: sessions that neither sleep nor live in a keeper have ended. except: a
 * JSON array of the ids that live; NULL: none. */
[[nodiscard]] int sessions_lose(struct db *db, int64_t now_ms, const char *reason,
                                const char *except, struct err *e);
/* Removes sessions that ended before this time. */
[[nodiscard]] int sessions_retain(struct db *db, int64_t before_ms, struct err *e);
