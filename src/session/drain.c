/* The stop of the service: every session sleeps after the cells of its line, or ends. */
#include <stdio.h>

#include "session/session_impl.h"
#include "session/templates.h"

enum { FALLING_MAX = 4 }; /* sessions that fall asleep at a time */

static void sleep_or_end(struct session *s)
{
    struct err e = { 0 };
    const char *reason = s->all->drain_reason;
    char why[sizeof s->reason];
    if (s->state == SESSION_STARTING || !s->spec.language->forks) {
        session_end(s, reason);
    } else if (session_sleep(s, false, NULL, &e)) {
        (void)snprintf(why, sizeof why, "%s, and it could not sleep: %.150s", reason, e.text);
        session_end(s, why);
    }
}

void sessions_drain_step(struct sessions *all)
{
    struct session *next;
    bool awake = false;
    if (!all->drain_reason || all->draining_now)
        return;
    all->draining_now = true;
    for (struct session *s = all->first; s; s = next) {
        next = s->next;
        if (!s->sleep && !s->first && !s->question && s->state != SESSION_SLEEPING &&
            all->falling < FALLING_MAX)
            sleep_or_end(s);
    }
    all->draining_now = false;
    for (const struct session *s = all->first; s; s = s->next)
        awake = awake || s->state != SESSION_SLEEPING || s->sleep;
    void (*on_drained)(void *) = all->on_drained;
    if (awake || !on_drained)
        return;
    all->on_drained = NULL;
    on_drained(all->drained_context);
}

void session_on_line_empty(struct session *s)
{
    if (s->for_one_run && !s->first)
        session_end(s, "its run is over");
    if (!s->first)
        sessions_drain_step(s->all);
}

void sessions_drain(struct sessions *all, const char *reason, void (*on_done)(void *context),
                    void *context)
{
    all->stopping = true;
    all->drain_reason = reason;
    all->on_drained = on_done;
    all->drained_context = context;
    templates_stop(all);
    for (struct session *next, *s = all->first; s; s = next) { /* a replay may take long */
        next = s->next;
        session_replay_fail(s, "the service is stopping");
    }
    sessions_drain_step(all);
}
