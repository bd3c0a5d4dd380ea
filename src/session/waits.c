/* Requests that wait for the end of a sleep or of a wake. */
#include "session/session_impl.h"

void session_answer_waits(struct session *s, bool for_sleep, json_t *not_carried,
                          const struct err *e)
{
    struct session_wait *list = s->waits, *next;
    s->waits = NULL;
    for (struct session_wait *w = list; w; w = next) {
        next = w->next;
        if (w->for_sleep != for_sleep) {
            w->next = s->waits;
            s->waits = w;
            continue;
        }
        w->not_carried = for_sleep && !e ? json_incref(not_carried) : NULL;
        w->on_done(w, s, e);
    }
}

void session_add_wait(struct session *s, struct session_wait *w, bool for_sleep)
{
    if (!w)
        return;
    w->for_sleep = for_sleep;
    w->next = s->waits;
    s->waits = w;
}

struct session_wait *session_replay_wait(const struct session *s)
{
    struct session_wait *w = s->waits;
    while (w && (w->for_sleep || !w->on_replay))
        w = w->next;
    return w;
}

void session_wait_drop(struct session *s, struct session_wait *w)
{
    for (struct session_wait **at = &s->waits; *at; at = &(*at)->next) {
        if (*at == w) {
            *at = w->next;
            return;
        }
    }
}
