/* session/checkpoints.h — checkpoints of a session: images of its earlier states, and its way back to
 * one of them.
 * Runs in: keeper, on its loop.
 *
 * A client asks for a checkpoint and may name it. With `undo` in the spec of its session there is
 * also one before each cell; the last `undo` of them are kept.
 *
 * Invariants
 * CHECKPOINT-1 A checkpoint that was answered is on the disk with its row. A checkpoint before a cell
 *              is sealed in memory before the cell begins, and goes to the disk meanwhile.
 * CHECKPOINT-2 The program of a session ends for a rollback only after another program has become
 *              the checkpoint. Until then a rollback that fails changes nothing.
 * CHECKPOINT-3 Checkpoints of a session end with it.
 * CHECKPOINT-4 A checkpoint before a cell that cannot be taken or stored costs the cell a note. */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "base/id.h"
#include "store/session_rows.h"
#include "store/store.h"

struct session;
struct session_image;
struct images;
struct image_load;
struct saved_image;

enum { UNDO_MAX = 20, CHECKPOINT_NAME_MAX = 200 };

/* One checkpoint as of now. Its texts are borrowed, until the loop goes on. */
struct checkpoint {
    char id[ID_SIZE];
    const char *name;   /* NULL: none */
    const char *detail; /* JSON: not_carried, pause_ms */
    unsigned cell;      /* the last cell whose effects it has; 0: none */
    unsigned before;    /* the cell that it was taken before; 0: a client asked for it */
    uint64_t bytes;
    int64_t created_ms;
};

/* The part of a session that belongs to checkpoints.c and rollback.c. */
struct session_checkpoints {
    struct pending_checkpoint *first; /* before cells, not on the disk yet; the oldest first */
    struct rollback *rollback;        /* that goes on; NULL: none */
    bool saving;                      /* the first one is being written */
    bool asked;                       /* for one, by a client */
    struct session_image
        *base; /* the newest one on the disk: later ones share its bytes; or NULL */
    /* It ended the jar, and the session went back. Below at_cell: another one began since. */
    unsigned recovered_cell;
    unsigned taken;                          /* so far */
    unsigned newest;                         /* the number of the checkpoint `id` */
    char id[ID_SIZE];                        /* the newest one of its present past; "": none */
    int64_t since_ms;                        /* Unix time at which its program became ready */
    struct session_rollback_row rolled_back; /* the last rollback */
};

/* Calls each() for every checkpoint, the oldest first, until it returns true. */
bool checkpoints_each(const struct session *s, bool (*each)(void *context, struct checkpoint *c),
                      void *context);
/* By its id or name. ERR_NOT_FOUND. */
[[nodiscard]] int checkpoint_find(const struct session *s, const char *name, struct checkpoint *ret,
                                  struct err *e);
/* The state after this cell; 0: before the first one. ERR_NOT_FOUND. */
[[nodiscard]] int checkpoint_after_cell(const struct session *s, unsigned cell,
                                        struct checkpoint *ret, struct err *e);
/* The state before the last cells. ERR_CONFLICT. */
[[nodiscard]] int checkpoint_before_cells(const struct session *s, unsigned cells,
                                          struct checkpoint *ret, struct err *e);
/* Its image: at once if it is in memory (load->image), otherwise on_done() of `load` follows. */
[[nodiscard]] int checkpoint_open(const struct session *s, const char *id, struct image_load *load,
                                  struct err *e);
/* Removes its row and its file. */
void checkpoint_remove(struct session *s, const char *id);
/* So many states before cells are kept from now on. */
void session_set_undo(struct session *s, unsigned undo);

/* A checkpoint that a client asks for. */
struct checkpoint_request {
    /* e NULL: it is on the disk. The owner may free the request now. */
    void (*on_done)(struct checkpoint_request *r, const struct err *e);
    const char *name;  /* NULL: none; copied */
    const char *actor; /* for the audit log; copied */
    bool strict;       /* refuse if a thing cannot be carried */
    char id[ID_SIZE];  /* of the checkpoint */
};
/* ERR_CONFLICT while a cell runs, or if the name exists. on_done() follows. */
[[nodiscard]] int session_checkpoint(struct session *s, struct checkpoint_request *r,
                                     struct err *e);

/* A rollback that a client asks for. */
struct rollback_request {
    /* e NULL: the session has the state of the checkpoint and is idle. Otherwise it is as before. The
     * owner may free the request now. */
    void (*on_done)(struct rollback_request *r, const struct err *e);
    const char *actor; /* for the audit log; copied */
    bool is_undo;
    struct rollback *private;
};
/* Cells that run or wait when the program changes end. ERR_CONFLICT if another rollback goes on.
 * on_done() follows. */
[[nodiscard]] int session_roll_back(struct session *s, const struct checkpoint *to,
                                    struct rollback_request *r, struct err *e);

/* The record of an event of a session, in the audit log. */
struct session_record {
    /* e: it is not written, and the event must not happen. The owner may free the record now. */
    void (*on_done)(struct session_record *r, const struct err *e);
    struct store_job job; /* private, as the rest */
    struct session *session;
    const char *kind;
    char *actor, *detail;
};
/* The owner sets on_done(), which follows, perhaps within this call. Takes over the detail. */
void session_record(struct session *s, struct session_record *r, const char *kind,
                    const char *actor, json_t *detail);
