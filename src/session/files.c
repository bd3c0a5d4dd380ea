/* Visits to the files of a session. The answer of a clerk arrives on a pipe, which is read here to
 * its end. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "session/session_impl.h"

enum { READ_BYTES = 1 << 16, READS_AT_ONCE = 16 };

/* The files of a run, or of a session that starts, are written one after another. */
static bool is_counted(const struct session *s)
{
    return !s->for_one_run && !s->spec.sets_inputs;
}

static void on_closed(uv_handle_t *handle)
{
    struct session_visit *v = handle->data;
    if (--v->open_handles > 0)
        return;
    struct session *s = v->session;
    fd_close(&v->fd); /* after its handle: another file may get its number at once */
    s->visits--;
    s->all->visits -= is_counted(s);
    v->on_done(v, v->err.code == ERR_NONE ? NULL : &v->err);
    session_unref(s);
}

static void finish(struct session_visit *v)
{
    if (uv_is_closing((uv_handle_t *)&v->timer))
        return;
    if (v->err.code == ERR_NONE)
        (void)!live_answer_read(&v->answer, v->path, &v->last, &v->err);
    uv_close((uv_handle_t *)&v->poll, on_closed);
    uv_close((uv_handle_t *)&v->timer, on_closed);
}

/* False: there is no more to read now. */
static bool read_some(struct session_visit *v)
{
    if (v->answer.len > LIVE_ANSWER_MAX) {
        (void)!err_set(
            &v->err, ERR_TOO_LARGE, 0,
            "the answer about files has more than %d bytes: list one directory by 'path'",
            LIVE_ANSWER_MAX);
        finish(v);
        return false;
    }
    if (buf_reserve(&v->answer, READ_BYTES, &v->err)) {
        finish(v);
        return false;
    }
    ssize_t n = read(v->fd, v->answer.data + v->answer.len, READ_BYTES);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n <= 0) {
        finish(v);
        return false;
    }
    v->answer.len += (size_t)n;
    return true;
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    for (int i = 0; i < READS_AT_ONCE && read_some(poll->data); i++) {
    }
}

/* The warden or the clerk is stopped. */
static void on_time(uv_timer_t *timer)
{
    struct session_visit *v = timer->data;
    (void)!err_set(&v->err, ERR_UNAVAILABLE, 0,
                   "the files of the session could not be reached in %d s: try again",
                   VISIT_MS / 1000);
    finish(v);
}

static int check_room(const struct session *s, bool changes, struct err *e)
{
    if (changes && session_check_held(s, e))
        return -1;
    bool sets_inputs = s->spec.sets_inputs && s->program && s->program->ready;
    if (!s->program || (s->state == SESSION_STARTING && !sets_inputs))
        return err_set(e, ERR_CONFLICT, 0,
                       "session '%s' is starting and has no files yet: try again", s->id);
    if (!is_counted(s))
        return 0;
    if (s->visits >= VISITS_MAX || s->all->visits >= ALL_VISITS_MAX)
        return err_set(e, ERR_BUSY, 0,
                       "%d requests about files of one session, and %d of all, are answered at a "
                       "time: try again",
                       VISITS_MAX, ALL_VISITS_MAX);
    return 0;
}

int session_visit(struct session *s, struct session_visit *v, enum live_file_operation operation,
                  const char *path, const struct buf *bytes, struct err *e)
{
    int fd;
    bool changes = operation == LIVE_WRITE || operation == LIVE_REMOVE;
    if (check_room(s, changes, e) || program_files(s->program, operation, path, bytes, &fd, e))
        return -1;
    (void)snprintf(v->path, sizeof v->path, "%s", path);
    int rc = uv_poll_init(s->all->loop, &v->poll, fd);
    if (rc < 0) {
        fd_close(&fd);
        return err_set(e, ERR_KERNEL, -rc, "watch a pipe about files");
    }
    v->fd = fd;
    v->session = s;
    v->open_handles = 2;
    v->poll.data = v->timer.data = v;
    (void)uv_timer_init(s->all->loop, &v->timer);
    (void)uv_timer_start(&v->timer, on_time, VISIT_MS, 0);
    s->refs++;
    s->visits++;
    s->used = true;
    s->all->visits += is_counted(s);
    session_touch(s);
    session_schedule(s);
    rc = uv_poll_start(&v->poll, UV_READABLE, on_readable);
    if (rc < 0) {
        (void)!err_set(&v->err, ERR_KERNEL, -rc, "watch a pipe about files");
        finish(v);
    }
    return 0;
}
