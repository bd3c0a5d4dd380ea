/* Branches: copies of a session that run code side by side, and the one that takes its place. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "session/session_impl.h"

/* ---- the original ---- */

int session_check_held(const struct session *s, struct err *e)
{
    if (!s->held)
        return 0;
    return err_set(e, ERR_CONFLICT, 0,
                   "branches of session '%s' run, and it may go on as one of them: try again when "
                   "they are over, or end them by closing the connection of their request",
                   s->id);
}

int session_check_branch(const struct session *s, struct err *e)
{
    if (!s->is_branch)
        return 0;
    return err_set(e, ERR_CONFLICT, 0,
                   "session '%s' is a branch, which runs its candidate and nothing else: use the "
                   "session that it is a copy of, when its branches are over",
                   s->id);
}

static int check_line(const struct session *s, struct err *e)
{
    for (const struct cell *c = s->first; c; c = c->next)
        if (!c->run || !c->run->is_over)
            return err_set(e, ERR_CONFLICT, 0,
                           "cell %u runs or waits, and branches begin between two cells: try again "
                           "when it is over, or interrupt it",
                           c->number);
    return 0;
}

static void on_original_event(struct session_watch *w, struct session *s, enum session_event event)
{
    struct session_branches *b = (struct session_branches *)((char *)w -
                                                             offsetof(struct session_branches,
                                                                      watch));
    struct err e = { 0 };
    if (b->lost || (event != SESSION_EVENT_ENDED && s->restarts == b->restarts))
        return;
    b->lost = true;
    if (s->state == SESSION_ENDED)
        (void)!err_set(&e, ERR_GONE, 0, "session '%s' ended while its branches ran: %s", s->id,
                       s->reason);
    else
        (void)!err_set(&e, ERR_CONFLICT, 0, "session '%s' was restarted while its branches ran",
                       s->id);
    b->on_lost(b, &e);
}

static void release(struct session *s)
{
    s->held = false;
    s->branches = NULL;
    if (s->state == SESSION_BUSY)
        session_set_state(s, SESSION_IDLE);
    cells_advance(s);
    session_on_line_empty(s);
}

/* ---- the copies ---- */

static void on_copy_event(struct session_watch *w, struct session *s, enum session_event event)
{
    struct session_branch *c = (struct session_branch *)w;
    struct session_branches *b = c->branches;
    if (!c->ready && (s->state == SESSION_IDLE || s->state == SESSION_BUSY)) {
        c->ready = true;
        b->on_ready(b, (unsigned)(c - b->copies));
    }
    if (event == SESSION_EVENT_ENDED && s->adopted_by[0])
        b->on_adopted(b);
}

static void on_forked(struct session_fork *f, const struct err *e)
{
    struct session_branches *b = (struct session_branches *)f;
    struct session *s = b->original;
    if (e) {
        s->refs++;
        release(s);
        b->on_forked(b, e); /* it is freed there */
        session_unref(s);
        return;
    }
    b->forked = true;
    session_watch_add(s, &b->watch);
    for (unsigned i = 0; i < f->count; i++) {
        b->copies[i] = (struct session_branch){ .watch.on_event = on_copy_event, .branches = b };
        session_watch_add(f->copies[i], &b->copies[i].watch);
    }
    b->on_forked(b, NULL);
}

int session_branches_begin(struct session *s, struct session_branches *b, struct err *e)
{
    b->fork.on_done = on_forked;
    b->fork.is_for_branches = true;
    b->original = s;
    b->watch.on_event = on_original_event;
    b->restarts = s->restarts;
    if (session_check_held(s, e) || check_line(s, e) || session_fork(s, &b->fork, e))
        return -1;
    s->held = true;
    s->branches = b;
    return 0;
}

static void on_answer(struct session_question *q, json_t *json, const struct err *e)
{
    struct session_branch *c = (struct session_branch *)((char *)q -
                                                         offsetof(struct session_branch, question));
    struct session_branches *b = c->branches;
    unsigned i = (unsigned)(c - b->copies);
    (void)json; /* any answer will do, also an error */
    (void)e;
    b->on_checked(b, i, b->fork.copies[i]->state != SESSION_ENDED);
}

bool session_branch_check(struct session_branches *b, unsigned i)
{
    static const struct buf nothing = { 0 };
    struct err ignored;
    b->copies[i].question = (struct session_question){ .on_answer = on_answer,
                                                       .is_of_branches = true };
    return session_ask(b->fork.copies[i], &b->copies[i].question, FRAME_INSPECT, &nothing,
                       &ignored) == 0;
}

void session_branch_end(struct session_branches *b, unsigned i, const char *reason)
{
    session_end(b->fork.copies[i], reason);
}

void session_branch_leave(struct session_branches *b, unsigned i)
{
    struct session *copy = b->fork.copies[i];
    if (!copy->is_branch || copy->state == SESSION_ENDED)
        return;
    copy->is_branch = false;
    if (copy->program && copy->program->ready)
        session_keep(copy);
}

void session_branches_done(struct session_branches *b)
{
    struct session *s = b->original;
    for (unsigned i = 0; i < b->fork.count; i++)
        session_watch_remove(b->fork.copies[i], &b->copies[i].watch);
    s->refs++;
    session_watch_remove(s, &b->watch);
    release(s);
    session_unref(s);
}

/* ---- adoption ---- */

static int check_adoption(const struct session_branches *b, const struct session *copy,
                          struct err *e)
{
    const struct session *s = b->original;
    const struct session_program *p = copy->program;
    if (s->state == SESSION_ENDED || s->restarts != b->restarts || !s->program)
        return err_set(e, ERR_CONFLICT, 0, "the session ended or was restarted meanwhile");
    if (copy->state == SESSION_ENDED)
        return err_set(e, ERR_CONFLICT, 0, "its copy ended: %s", copy->reason);
    if (copy->state != SESSION_IDLE || copy->question || !p || !p->ready ||
        p->jar.jar.channel_fd < 0)
        return err_set(e, ERR_CONFLICT, 0, "its copy is not idle any longer");
    return 0;
}

/* The warden hears of the new jar before it is asked to end the old one. So a keeper that is killed
 * in between leaves a session with one of the two. */
int session_branch_adopt(struct session_branches *b, unsigned i, struct err *e)
{
    struct session *s = b->original, *copy = b->fork.copies[i];
    char reason[ID_SIZE + 64];
    if (check_adoption(b, copy, e))
        return -1;
    struct session_program *old = s->program;
    s->program = copy->program;
    s->program->session = s;
    copy->program = NULL;
    s->cells = copy->cells;
    s->at_cell = copy->at_cell;
    (void)snprintf(s->program_from, sizeof s->program_from, "%s", copy->id);
    s->close_by_ms = 0;
    network_adopt(s, &copy->spec.network);
    session_keep(s);
    program_detach(old);
    (void)snprintf(copy->adopted_by, sizeof copy->adopted_by, "%s", s->id);
    (void)snprintf(reason, sizeof reason, "session '%s' goes on with its program", s->id);
    session_end(copy, reason);
    /* A request that waits for a measurement of the old jar would get none. */
    session_on_measured(s, copy->memory_bytes);
    return 0;
}
