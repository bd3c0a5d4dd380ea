#include "api/sessions/cell_marks.h"

#include "run/json.h"
#include "run/result.h"

void cell_marks_init(struct cell_marks *m, const struct session_row *row, int64_t newest)
{
    *m = (struct cell_marks){ .rollbacks = row->rollbacks ? json_loads(row->rollbacks, 0, NULL)
                                                          : NULL,
                              .newest = newest };
}

void cell_marks_init_state(struct cell_marks *m, const struct session_row *row, int64_t cell,
                           int64_t at_ms)
{
    cell_marks_init(m, row, cell);
    m->is_state = true;
    m->until_ms = at_ms;
}

void cell_marks_done(struct cell_marks *m)
{
    json_decref(m->rollbacks);
    m->rollbacks = NULL;
}

static json_int_t number(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

static size_t count(const struct cell_marks *m)
{
    size_t n = json_array_size(m->rollbacks);
    while (n > 0 && m->until_ms > 0 &&
           number(json_array_get(m->rollbacks, n - 1), "at_ms") > m->until_ms)
        n--;
    return n;
}

/* Goes back over the first n rollbacks, from the newest cell. A rollback that lies behind an older
 * state is none of its past. Returns the number of rollbacks up to the one that removed the cell, or
 * 0; *at: the end of the way. */
static size_t walk(const struct cell_marks *m, size_t n, bool is_state, json_int_t cell,
                   json_int_t *at)
{
    for (size_t i = n; i-- > 0;) {
        const json_t *r = json_array_get(m->rollbacks, i);
        json_int_t last = number(r, "last"), to = number(r, "to");
        bool began_anew = is_state && *at == 0 && i + 1 == n && to < 0;
        if (!began_anew && (*at < last || (*at == last && (is_state || i + 1 < n))))
            continue;
        if (cell > last && cell <= *at)
            return 0;
        if (cell > to && cell <= last)
            return i + 1;
        *at = to;
    }
    return 0;
}

/* A cell can be removed again and again: the first time counts. */
const json_t *cell_rolled_back_by(const struct cell_marks *m, json_int_t cell)
{
    json_int_t at = m->newest;
    const json_t *found = NULL;
    size_t n = walk(m, count(m), m->is_state, cell, &at);
    while (n > 0) {
        found = json_array_get(m->rollbacks, n - 1);
        at = number(found, "last");
        n = walk(m, n - 1, false, cell, &at);
    }
    return found;
}

bool cell_marks_reach_beginning(const struct cell_marks *m)
{
    json_int_t at = m->newest;
    (void)walk(m, count(m), m->is_state, INT64_MAX, &at);
    return at >= 0;
}

void cell_marks_put(const struct cell_marks *m, json_t *cell)
{
    const json_t *by = cell_rolled_back_by(m, number(cell, "cell"));
    json_put(cell, "rolled_back", json_boolean(by != NULL));
    if (!by)
        return;
    json_t *to = json_object_get(by, "to"), *kind = json_object_get(by, "kind");
    json_put(cell, "rolled_back_by",
             json_pack("{s:o, s:o, s:o}", "kind",
                       kind ? json_incref(kind) : json_string(rollback_words[ROLLBACK_ASKED]), "at",
                       result_time((uint64_t)number(by, "at_ms")), "to",
                       json_integer_value(to) < 0 ? json_null() : json_incref(to)));
}
