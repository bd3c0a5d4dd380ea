/* api/sessions/cell_marks.h — which cells of a session have an effect on its state, by its rollbacks.
 * Runs in: keeper; a store thread. */
#pragma once

#include "store/session_rows.h"

#include <jansson.h>
#include <stdbool.h>

/* The way from the newest cell of a session back to its beginning. */
struct cell_marks {
    json_t *rollbacks; /* as in the row */
    json_int_t newest; /* the number of the last cell so far */
    bool is_state;     /* `newest` is the last cell whose effects a state has */
    int64_t until_ms;  /* rollbacks after this time do not count; 0: all of them do */
};
/* Of the session as it is. */
void cell_marks_init(struct cell_marks *m, const struct session_row *row, int64_t newest);
/* Of a state that a copy began with. */
void cell_marks_init_state(struct cell_marks *m, const struct session_row *row, int64_t cell,
                           int64_t at_ms);
void cell_marks_done(struct cell_marks *m);

/* The rollback that took the effects of this cell away; NULL: the state has them. Borrowed. */
const json_t *cell_rolled_back_by(const struct cell_marks *m, json_int_t cell);
/* Whether the state goes back to the beginning of the session, and not to one that began anew. */
bool cell_marks_reach_beginning(const struct cell_marks *m);
/* Adds rolled_back and rolled_back_by to a cell. */
void cell_marks_put(const struct cell_marks *m, json_t *cell);
