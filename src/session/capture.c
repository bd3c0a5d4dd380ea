/* A capture: the program of a session writes an image of itself into a file of ours. */
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
#include "base/text.h"
#include "session/session_impl.h"

enum { REPORT_MAX = 256, NOT_CARRIED_MAX = 100 };

/* From the request to its answer. */
struct session_capturing {
    struct session_question question;
    struct session_capture *capture;
    struct session *session;
    struct session_image *image;
    uint64_t room;
    int report_fd; /* of the writer */
    char report[REPORT_MAX];
    size_t report_bytes;
    uv_poll_t poll;
    uv_timer_t timer;
    unsigned open_handles;
    struct err err;
};

/* ---- images that count as memory of their writer ---- */

static uint64_t jar_of(const struct session *s)
{
    return s->program ? s->program->jar.jar.id : 0;
}

static void link_written(struct session_image *image, struct session *s)
{
    image->writer = jar_of(s);
    image->next_written = s->all->written;
    image->written_link = &s->all->written;
    if (image->next_written)
        image->next_written->written_link = &image->next_written;
    s->all->written = image;
}

static void unlink_written(struct session_image *image)
{
    *image->written_link = image->next_written;
    if (image->next_written)
        image->next_written->written_link = image->written_link;
}

void session_images_measured(struct session *s)
{
    s->image_memory_bytes = 0;
    s->measured_jar = jar_of(s);
    for (struct session_image *i = s->all->written; i; i = i->next_written) {
        if (i->writer != jar_of(s))
            continue;
        i->is_measured = true;
        s->image_memory_bytes += i->bytes;
    }
}

/* Bytes that a copy has in memory anyway need not be written again. */
static struct session_image *newest_written(const struct session *s)
{
    struct session_image *i = s->all->written;
    while (i && (i->writer != jar_of(s) || i->n_bases == IMAGE_BASES))
        i = i->next_written;
    return i;
}

/* Of earlier images that somebody has. Some of them are in memory_bytes of the session. */
struct written {
    unsigned n;
    uint64_t bytes, measured_bytes;
};

static struct written written_by(const struct session_capturing *g)
{
    struct written w = { 0 };
    for (const struct session_image *i = g->session->all->written; i; i = i->next_written) {
        if (i->writer != jar_of(g->session))
            continue;
        w.n++;
        w.bytes += i->bytes;
        w.measured_bytes += i->is_measured ? i->bytes : 0;
    }
    return w;
}

enum { NOTE_MAX = 160 };

static const char *note_written(const struct written *w, char note[NOTE_MAX])
{
    note[0] = '\0';
    if (w->n > 0)
        (void)snprintf(note, NOTE_MAX,
                       "; images of the session that its copies have count as its memory, too "
                       "(%u, %llu bytes): fewer copies leave more room",
                       w->n, (unsigned long long)w->bytes);
    return note;
}

static void drop_base(struct session_image *image, size_t i)
{
    if (image->pins)
        images_unpin(image->pins, image->bases[i]->id);
    session_image_unref(image->bases[i]);
}

void session_image_unref(struct session_image *image)
{
    if (!image || --image->refs > 0)
        return;
    if (image->saved)
        image->saved->open = NULL;
    for (size_t i = 0; i < image->n_bases; i++)
        drop_base(image, i);
    if (image->pins)
        images_unuse(image->pins);
    fd_close(&image->fd);
    if (image->written_link)
        unlink_written(image);
    if (image->room)
        images_give_room(image->room);
    free(image);
}

struct session_image *session_image_ref(struct session_image *image)
{
    if (image)
        image->refs++;
    return image;
}

size_t session_image_fds(const struct session_image *image, int fds[1 + IMAGE_BASES])
{
    fds[0] = image->fd;
    for (size_t i = 0; i < image->n_bases; i++)
        fds[1 + i] = image->bases[i]->fd;
    return 1 + image->n_bases;
}

/* ---- its bases ---- */

static bool is_on_disk(struct images *all, const struct session_image *image)
{
    bool is = images_find(all, image->id);
    for (size_t i = 0; i < image->n_bases; i++)
        is = is && images_find(all, image->bases[i]->id);
    return is;
}

/* The newest image and its own bases. If they are too many, the new image stands alone, and later
 * ones build on it. */
static void take_bases(struct session_image *image, struct session_image *newest,
                       struct images *pins)
{
    if (!newest || newest->n_bases == IMAGE_BASES || (pins && !is_on_disk(pins, newest)))
        return;
    image->bases[image->n_bases++] = session_image_ref(newest);
    for (size_t i = 0; i < newest->n_bases; i++)
        image->bases[image->n_bases++] = session_image_ref(newest->bases[i]);
    image->pins = pins;
    if (pins)
        images_use(pins);
    for (size_t i = 0; pins && i < image->n_bases; i++)
        images_pin(pins, image->bases[i]->id);
}

/* The last numbers of a report say how long the writer took, and which bases the image needs. They are
 * a guest's word: a wrong list makes an image that no program can become. A report without it means all
 * of them. */
static void drop_unused(struct session_image *image, const char *report, uint64_t *ret_write_us)
{
    unsigned long long write_us, used;
    size_t kept = 0;
    if (sscanf(report, "ok %*u %*u %*u %llu %llu", &write_us, &used) != 2)
        return;
    *ret_write_us = write_us;
    for (size_t i = 0; i < image->n_bases; i++)
        if (used >> i & 1)
            image->bases[kept++] = image->bases[i];
        else
            drop_base(image, i);
    image->n_bases = kept;
}

/* ---- its end ---- */

static void finish(struct session_capturing *g)
{
    struct session_capture *c = g->capture;
    struct session *s = g->session;
    struct err e = g->err;
    fd_close(&g->report_fd);
    c->private = NULL;
    if (e.code == ERR_NONE)
        c->image = g->image;
    else
        session_image_unref(g->image);
    free(g);
    c->on_done(c, e.code == ERR_NONE ? NULL : &e); /* it is freed there */
    session_unref(s);
}

static void fail(struct session_capturing *g, enum err_code code, const char *why)
{
    if (g->err.code == ERR_NONE)
        (void)!err_set(&g->err, code, 0, "%s", why);
}

/* ---- the file ---- */

/* From here on nobody can change its bytes or its size. */
static int seal(struct session_capturing *g, struct err *e)
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
    g->image->bytes = (uint64_t)st.st_size;
    link_written(g->image, g->session);
    return 0;
}

static void take_report(struct session_capturing *g)
{
    char why[ERR_TEXT_MAX];
    g->report[strcspn(g->report, "\n")] = '\0';
    bool is_error = strncmp(g->report, "error ", 6) == 0;
    if (g->err.code == ERR_NONE && strncmp(g->report, "ok ", 3) != 0) {
        const struct written earlier = written_by(g);
        char note[NOTE_MAX];
        (void)snprintf(why, sizeof why, "the image of the session was not written: %s%s",
                       is_error ? g->report + 6 : "its writer ended early; memory may be short",
                       note_written(&earlier, note));
        text_end_whole(why);
        fail(g, ERR_CONFLICT, why);
    }
    if (g->err.code == ERR_NONE && seal(g, &g->err) == 0)
        drop_unused(g->image, g->report, &g->capture->write_us);
    finish(g);
}

static void on_closed(uv_handle_t *handle)
{
    struct session_capturing *g = handle->data;
    if (--g->open_handles > 0)
        return;
    fd_close(&g->report_fd);
    take_report(g);
}

static void stop_waiting(struct session_capturing *g)
{
    if (uv_is_closing((uv_handle_t *)&g->timer))
        return;
    uv_close((uv_handle_t *)&g->poll, on_closed);
    uv_close((uv_handle_t *)&g->timer, on_closed);
}

static void on_report(uv_poll_t *poll, int status, int events)
{
    struct session_capturing *g = poll->data;
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
    struct session_capturing *g = timer->data;
    char why[ERR_TEXT_MAX];
    (void)snprintf(why, sizeof why, "the image of the session was not written in %d s: try again",
                   IMAGE_MS / 1000);
    fail(g, ERR_UNAVAILABLE, why);
    stop_waiting(g);
}

static void await_report(struct session_capturing *g)
{
    uv_loop_t *loop = g->session->all->loop;
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

static void refuse(struct session_capturing *g, const json_t *list)
{
    char why[ERR_TEXT_MAX] = "'strict' is true, and the image would lose";
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
    struct session_capturing *g = (struct session_capturing *)q;
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
    g->capture->not_carried = take_names(json_object_get(json, "not_carried"));
    g->capture->pause_us = (uint64_t)json_integer_value(json_object_get(json, "pause_us"));
    await_report(g);
}

/* The kernel counts the image as memory of the jar that writes it. */
static int measure_room(struct session_capturing *g, struct err *e)
{
    const struct session *s = g->session;
    const struct written earlier = written_by(g);
    uint64_t limit = s->spec.limits.v[LIMIT_MEMORY];
    uint64_t used = s->memory_bytes ? s->memory_bytes : limit / 2;
    uint64_t gone = s->measured_jar == jar_of(s) /* since memory_bytes was read */
                        ? s->image_memory_bytes - earlier.measured_bytes
                        : 0;
    used = (used > gone ? used - gone : 0) + (earlier.bytes - earlier.measured_bytes);
    if (used + IMAGE_MARGIN >= limit) {
        char note[NOTE_MAX];
        return err_set(
            e, ERR_CONFLICT, 0,
            "the session uses %llu of %llu bytes of memory, and its image needs room, too: "
            "create sessions with a higher limits.memory%s",
            (unsigned long long)used, (unsigned long long)limit, note_written(&earlier, note));
    }
    g->room = limit - used - IMAGE_MARGIN;
    return 0;
}

static int ask_for_image(struct session_capturing *g, struct err *e)
{
    scoped(buf) fields = { 0 };
    char room[32];
    const char *flags = g->capture->strict ? "files strict" : "files";
    int ends[2];
    g->image->fd = memfd_create("image", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (g->image->fd < 0)
        return err_set(e, ERR_KERNEL, errno, "make a file for the image");
    if (fd_pipe(ends, e))
        return -1;
    autoclose int theirs = ends[1];
    g->report_fd = ends[0];
    int fds[2 + IMAGE_BASES];
    g->question.n_fds = 1 + session_image_fds(g->image, fds + 1);
    fds[0] = g->image->fd;
    fds[1] = theirs;
    g->question.fds = fds;
    g->question.on_answer = on_answer;
    (void)snprintf(room, sizeof room, "%llu", (unsigned long long)g->room);
    if (fd_set_nonblock(g->report_fd, e) ||
        frame_add_field(&fields, TAG_FLAGS, flags, strlen(flags), e) ||
        frame_add_field(&fields, TAG_ROOM, room, strlen(room), e) ||
        session_ask(g->session, &g->question, FRAME_IMAGE, &fields, e))
        return -1;
    g->question.fds = NULL;
    return 0;
}

static int refuse_language(const struct language *language, struct err *e)
{
    char others[ERR_TEXT_MAX] = "";
    for (const struct language *const *l = languages; *l; l++) {
        size_t n = strlen(others);
        if ((*l)->forks)
            (void)snprintf(others + n, sizeof others - n, "%s%s", n > 0 ? ", " : "", (*l)->name);
    }
    return err_set(e, ERR_BAD_REQUEST, 0, "sessions of '%s' cannot be forked: sessions of %s can",
                   language->name, others);
}

int session_capture(struct session *s, struct session_capture *c, struct err *e)
{
    if (!s->spec.language->forks)
        return refuse_language(s->spec.language, e);
    struct session_capturing *g = calloc(1, sizeof *g);
    struct session_image *image = calloc(1, sizeof *image);
    if (!g || !image) {
        free(g);
        free(image);
        return err_no_memory(e, "an image");
    }
    *image = (struct session_image){ .fd = -1, .refs = 1 };
    take_bases(image, c->base || !c->in_memory ? c->base : newest_written(s),
               c->in_memory ? NULL : s->all->images);
    *g = (struct session_capturing){ .capture = c, .session = s, .image = image, .report_fd = -1 };
    if (measure_room(g, e) || ask_for_image(g, e)) {
        fd_close(&g->report_fd);
        session_image_unref(image);
        free(g);
        return -1;
    }
    s->refs++;
    c->private = g;
    session_touch(s);
    return 0;
}
