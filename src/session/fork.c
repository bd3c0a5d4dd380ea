/* Forks: the program of a session writes an image of itself into a file of ours, and the programs of
 * new sessions become it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/strv.h"
#include "base/text.h"
#include "session/session_impl.h"

enum { REPORT_MAX = 256, NOT_CARRIED_MAX = 100 };

struct copy {
    struct session_watch watch;
    struct session_forking *forking;
    bool ready, over;
};

/* From the request to its answer. */
struct session_forking {
    struct session_question question; /* to the original */
    struct session_fork *fork;
    struct session *original;
    struct session_image *image;
    uint64_t room;
    int report_fd; /* of the writer */
    char report[REPORT_MAX];
    size_t report_bytes;
    uv_poll_t poll;
    uv_timer_t timer;
    unsigned open_handles;
    struct copy copies[FORKS_MAX];
    unsigned n_copies;
    bool acting; /* on the copies: their events are looked at afterwards */
    struct err err;
};

void session_image_unref(struct session_image *image)
{
    if (!image || --image->refs > 0)
        return;
    fd_close(&image->fd);
    free(image);
}

/* ---- the end of a fork ---- */

static void finish(struct session_forking *g)
{
    struct session_fork *f = g->fork;
    struct session *original = g->original;
    struct err e = g->err;
    fd_close(&g->report_fd);
    session_image_unref(g->image);
    f->private = NULL;
    for (unsigned i = 0; i < g->n_copies; i++)
        if (!g->copies[i].over)
            session_watch_remove(f->copies[i], &g->copies[i].watch);
    free(g);
    f->on_done(f, e.code == ERR_NONE ? NULL : &e); /* it is freed there */
    session_unref(original);
}

static void fail(struct session_forking *g, enum err_code code, const char *why)
{
    if (g->err.code == ERR_NONE)
        (void)!err_set(&g->err, code, 0, "%s", why);
}

/* ---- the copies ---- */

/* All are idle, or all are over because one failed. */
static void look_at_copies(struct session_forking *g)
{
    unsigned ready = 0, over = 0;
    if (g->acting)
        return;
    if (g->err.code != ERR_NONE) {
        g->acting = true;
        for (unsigned i = 0; i < g->n_copies; i++)
            if (!g->copies[i].over)
                session_end(g->fork->copies[i], "another copy of the same fork did not start");
        g->acting = false;
    }
    for (unsigned i = 0; i < g->n_copies; i++) {
        ready += g->copies[i].ready && !g->copies[i].over;
        over += g->copies[i].over;
    }
    if (g->err.code == ERR_NONE ? ready == g->n_copies : over == g->n_copies)
        finish(g);
}

static void on_copy_event(struct session_watch *w, struct session *s, enum session_event event)
{
    struct copy *c = (struct copy *)w;
    struct session_forking *g = c->forking;
    char why[ERR_TEXT_MAX];
    if (s->state == SESSION_STARTING || (s->state == SESSION_ENDED && event != SESSION_EVENT_ENDED))
        return;
    c->ready = true;
    if (event == SESSION_EVENT_ENDED) {
        c->over = true;
        (void)snprintf(why, sizeof why, "a copy of the session did not start: %s", s->reason);
        fail(g, ERR_UNAVAILABLE, why);
        session_watch_remove(s, w);
    }
    look_at_copies(g);
}

static int copy_spec(const struct session_forking *g, unsigned number, struct session_spec *ret,
                     struct err *e)
{
    const struct session_spec *from = &g->original->spec;
    const struct session_fork *f = g->fork;
    const char *name = number < strv_len(f->names) ? f->names[number] : NULL;
    *ret = (struct session_spec){ .language = from->language,
                                  .name = text_copy(name),
                                  .key = text_copy(from->key),
                                  .actor = text_copy(from->actor),
                                  .limits = from->limits,
                                  .cell_limits = from->cell_limits,
                                  .idle_ms = from->idle_ms,
                                  .env = from->env ? strv_copy(from->env) : NULL,
                                  .metadata = json_incref(from->metadata),
                                  .image = g->image };
    g->image->refs++;
    if ((from->env && !ret->env) || (from->key && !ret->key))
        return err_no_memory(e, "a copy of a session");
    return from->bundle.len > 0 ? buf_add(&ret->bundle, from->bundle.data, from->bundle.len, e) : 0;
}

static void make_copies(struct session_forking *g)
{
    g->acting = true;
    for (unsigned i = 0; i < g->fork->count && g->err.code == ERR_NONE; i++) {
        scoped(session_spec) spec = { 0 };
        struct copy *c = &g->copies[i];
        *c = (struct copy){ .watch.on_event = on_copy_event, .forking = g };
        if (copy_spec(g, i, &spec, &g->err) == 0 &&
            session_new(g->original->all, &spec, &c->watch, &g->fork->copies[i], &g->err) == 0)
            g->n_copies++;
    }
    g->acting = false;
    look_at_copies(g);
}

/* ---- the image ---- */

/* From here on nobody can change its bytes or its size. */
static int seal(struct session_forking *g, struct err *e)
{
    struct stat st;
    if (fcntl(g->image->fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) <
            0 ||
        fstat(g->image->fd, &st) < 0)
        return err_set(e, ERR_UNAVAILABLE, errno,
                       "the image of the session is still in use: try again");
    if ((uint64_t)st.st_size > g->room)
        return err_set(
            e, ERR_TOO_LARGE, 0,
            "the image of the session has %llu bytes, and there is room for %llu: create "
            "sessions with a higher limits.memory",
            (unsigned long long)st.st_size, (unsigned long long)g->room);
    g->fork->image_bytes = (uint64_t)st.st_size;
    return 0;
}

static void take_report(struct session_forking *g)
{
    char why[ERR_TEXT_MAX];
    g->report[strcspn(g->report, "\n")] = '\0';
    bool is_error = strncmp(g->report, "error ", 6) == 0;
    if (g->err.code == ERR_NONE && strncmp(g->report, "ok ", 3) != 0) {
        (void)snprintf(why, sizeof why, "the image of the session was not written: %s",
                       is_error ? g->report + 6 : "its writer ended early; memory may be short");
        text_end_whole(why);
        fail(g, ERR_CONFLICT, why);
    }
    if (g->err.code == ERR_NONE && seal(g, &g->err) == 0)
        make_copies(g);
    else
        finish(g);
}

static void on_closed(uv_handle_t *handle)
{
    struct session_forking *g = handle->data;
    if (--g->open_handles > 0)
        return;
    fd_close(&g->report_fd);
    take_report(g);
}

static void stop_waiting(struct session_forking *g)
{
    if (uv_is_closing((uv_handle_t *)&g->timer))
        return;
    uv_close((uv_handle_t *)&g->poll, on_closed);
    uv_close((uv_handle_t *)&g->timer, on_closed);
}

static void on_report(uv_poll_t *poll, int status, int events)
{
    struct session_forking *g = poll->data;
    (void)status;
    (void)events;
    ssize_t n = read(g->report_fd, g->report + g->report_bytes,
                     sizeof g->report - 1 - g->report_bytes);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    g->report_bytes += n > 0 ? (size_t)n : 0;
    if (n <= 0 || memchr(g->report, '\n', g->report_bytes) ||
        g->report_bytes == sizeof g->report - 1)
        stop_waiting(g);
}

static void on_time(uv_timer_t *timer)
{
    struct session_forking *g = timer->data;
    char why[ERR_TEXT_MAX];
    (void)snprintf(why, sizeof why, "the image of the session was not written in %d s: try again",
                   IMAGE_MS / 1000);
    fail(g, ERR_UNAVAILABLE, why);
    stop_waiting(g);
}

static void await_report(struct session_forking *g)
{
    uv_loop_t *loop = g->original->all->loop;
    int rc = uv_poll_init(loop, &g->poll, g->report_fd);
    if (rc < 0) {
        (void)!err_set(&g->err, ERR_KERNEL, -rc, "watch the writer of an image");
        finish(g);
        return;
    }
    g->poll.data = g->timer.data = g;
    g->open_handles = 2;
    (void)uv_timer_init(loop, &g->timer);
    (void)uv_timer_start(&g->timer, on_time, IMAGE_MS, 0);
    (void)uv_poll_start(&g->poll, UV_READABLE, on_report); /* on_time() if it does not work */
}

/* ---- the question ---- */

static json_t *take_names(const json_t *list)
{
    json_t *names = json_array();
    size_t n = json_array_size(list);
    for (size_t i = 0; i < n && i < NOT_CARRIED_MAX; i++)
        if (json_is_string(json_array_get(list, i)))
            (void)json_array_append(names, json_array_get(list, i));
    return names;
}

static void refuse(struct session_forking *g, const json_t *list)
{
    char why[ERR_TEXT_MAX] = "'strict' is true, and the fork would lose";
    for (size_t i = 0; i < json_array_size(list); i++) {
        size_t n = strlen(why);
        const char *name = json_string_value(json_array_get(list, i));
        (void)snprintf(why + n, sizeof why - n, "%s %.80s", i > 0 ? "," : "", name ? name : "?");
    }
    text_end_whole(why);
    fail(g, ERR_CONFLICT, why);
}

static void on_answer(struct session_question *q, json_t *json, const struct err *e)
{
    struct session_forking *g = (struct session_forking *)q;
    const json_t *refused = json_object_get(json, "refused");
    const char *failed = json_string_value(json_object_get(json, "failed"));
    char why[ERR_TEXT_MAX];
    if (e) {
        g->err = *e;
    } else if (refused) {
        refuse(g, refused);
    } else if (failed) {
        (void)snprintf(why, sizeof why, "the session wrote no image: %s", failed);
        text_end_whole(why);
        fail(g, ERR_CONFLICT, why);
    }
    if (g->err.code != ERR_NONE) {
        finish(g);
        return;
    }
    g->fork->not_carried = take_names(json_object_get(json, "not_carried"));
    g->fork->pause_us = (uint64_t)json_integer_value(json_object_get(json, "pause_us"));
    await_report(g);
}

/* The kernel counts the image as memory of the jar that writes it. */
static int measure_room(struct session_forking *g, struct err *e)
{
    const struct session *s = g->original;
    uint64_t limit = s->spec.limits.v[LIMIT_MEMORY];
    uint64_t used = (s->memory_bytes ? s->memory_bytes : limit / 2) + IMAGE_MARGIN;
    if (used >= limit)
        return err_set(
            e, ERR_CONFLICT, 0,
            "the session uses %llu of %llu bytes of memory, and its image needs room, too: "
            "create sessions with a higher limits.memory",
            (unsigned long long)s->memory_bytes, (unsigned long long)limit);
    g->room = limit - used;
    return 0;
}

static int ask_for_image(struct session_forking *g, struct err *e)
{
    scoped(buf) fields = { 0 };
    char room[32];
    const char *flags = g->fork->strict ? "files strict" : "files";
    int ends[2];
    g->image->fd = memfd_create("image", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (g->image->fd < 0)
        return err_set(e, ERR_KERNEL, errno, "make a file for the image");
    if (fd_pipe(ends, e))
        return -1;
    autoclose int theirs = ends[1];
    g->report_fd = ends[0];
    const int fds[] = { g->image->fd, theirs };
    g->question.fds = fds;
    g->question.n_fds = 2;
    g->question.on_answer = on_answer;
    (void)snprintf(room, sizeof room, "%llu", (unsigned long long)g->room);
    if (fd_set_nonblock(g->report_fd, e) ||
        frame_add_field(&fields, TAG_FLAGS, flags, strlen(flags), e) ||
        frame_add_field(&fields, TAG_ROOM, room, strlen(room), e) ||
        session_ask(g->original, &g->question, FRAME_IMAGE, &fields, e))
        return -1;
    g->question.fds = NULL;
    return 0;
}

int session_fork(struct session *s, struct session_fork *f, struct err *e)
{
    if (!s->spec.language->forks)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "sessions of '%s' cannot be forked: sessions of python can",
                       s->spec.language->name);
    if (sessions_check_room(s->all, &s->spec, f->count, e))
        return -1;
    struct session_forking *g = calloc(1, sizeof *g);
    struct session_image *image = calloc(1, sizeof *image);
    if (!g || !image) {
        free(g);
        free(image);
        return err_no_memory(e, "a fork");
    }
    *image = (struct session_image){ .fd = -1, .refs = 1 };
    *g = (struct session_forking){ .fork = f, .original = s, .image = image, .report_fd = -1 };
    if (measure_room(g, e) || ask_for_image(g, e)) {
        fd_close(&g->report_fd);
        session_image_unref(image);
        free(g);
        return -1;
    }
    s->refs++;
    f->private = g;
    session_touch(s);
    return 0;
}
