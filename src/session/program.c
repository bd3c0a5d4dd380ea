/* The jar of a session: its pipes, its channel, and the requests about it to the warden. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/strv.h"
#include "base/text.h"
#include "session/events.h"
#include "session/session_impl.h"
#include "spec/mount.h"

enum { CHANNEL = RUN_STREAMS, POLLS };
enum {
    PACE_MS = 1,         /* output collects in the pipe for this long, as that of a run does */
    DRAIN_READS = 64,    /* of 16 KiB: as much as a pipe can hold */
    FRAMES_AT_ONCE = 64, /* then others have their turn */
    OUT_MAX = 4 * MESSAGE_OUT_MAX,
    BECOME_REQUEST = 1 << 29, /* a number that no cell has */
};

static const char broken[] = "its program broke the protocol of sessions";

/* ---- birth and death ---- */

static void free_if_unused(struct session_program *p)
{
    if (p->open_handles > 0 || p->session || !p->over)
        return;
    frame_message_done(&p->message);
    buf_done(&p->out);
    if (p->image)
        p->image->leaving -= p->leaving;
    session_image_unref(p->image);
    free(p);
}

static void on_closed(uv_handle_t *handle)
{
    struct session_program *p = handle->data;
    p->open_handles--;
    free_if_unused(p);
}

static void stop_polling(struct session_program *p, int which)
{
    if (!p->polling[which])
        return;
    p->polling[which] = false;
    (void)uv_poll_stop(&p->polls[which]);
    uv_close((uv_handle_t *)&p->polls[which], on_closed);
    fd_close(&p->poll_fds[which]);
}

static int fd_of(const struct session_program *p, int which)
{
    return which == CHANNEL ? p->jar.jar.channel_fd : p->jar.jar.streams[which].fd;
}

/* At once after a descriptor was closed: another file may get its number soon. */
static void stop_polling_closed(struct session_program *p)
{
    for (int i = 0; i < POLLS; i++)
        if (fd_of(p, i) < 0)
            stop_polling(p, i);
}

void program_detach(struct session_program *p)
{
    p->session = NULL;
    if (!p->over)
        program_kill(p);
    free_if_unused(p);
}

void program_kill(struct session_program *p)
{
    struct err e;
    if (p->over)
        return;
    if (p->image)
        p->image->leaving += !p->leaving;
    p->leaving = true;
    (void)!jar_run_cancel(&p->jar.jar, END_CANCEL, &e); /* a lost wire ends it, too */
}

static void breach(struct session_program *p, const char *why)
{
    if (p->breach[0] == '\0')
        (void)snprintf(p->breach, sizeof p->breach, "%s", why);
    stop_polling(p, CHANNEL);
    fd_close(&p->jar.jar.channel_fd);
    program_kill(p);
}

/* ---- output ---- */

static ssize_t on_bytes(void *context, enum run_stream stream, const char *bytes, size_t n)
{
    struct session_program *p = context;
    if (p->session && !p->aside)
        cells_on_output(p->session, stream, bytes, n);
    return (ssize_t)n;
}

/* Through the file of the cell. False: there is nothing to read now. */
static bool read_through_file(struct session_program *p, enum run_stream stream)
{
    static char bytes[CELL_FILE_PIECE]; /* the loop has one thread */
    struct jar_run_pipe *pipe = &p->jar.jar.streams[stream];
    ssize_t n = cells_splice(p->session, stream, pipe->fd, bytes);
    if (n > 0)
        pipe->seen += (uint64_t)n;
    if (n == 0)
        fd_close(&pipe->fd);
    return n > 0;
}

static bool read_pipe(struct session_program *p, enum run_stream stream)
{
    struct err e;
    uint64_t seen = p->jar.jar.streams[stream].seen;
    return jar_run_read(&p->jar.jar, (enum jar_pipe)stream, &e) == 0 &&
           p->jar.jar.streams[stream].seen != seen;
}

static void drain_stream(struct session_program *p, enum run_stream stream)
{
    for (int i = 0; i < DRAIN_READS && p->jar.jar.streams[stream].fd >= 0; i++) {
        bool in_file = p->session && !p->aside && session_current(p->session) &&
                       p->session->file.fd >= 0;
        if (!(in_file ? read_through_file(p, stream) : read_pipe(p, stream)))
            break;
    }
}

void program_drain(struct session_program *p)
{
    for (int i = 0; i < RUN_STREAMS; i++)
        drain_stream(p, (enum run_stream)i);
    stop_polling_closed(p);
}

static void on_stream(uv_poll_t *handle, int status, int events);

static void on_pace(uv_timer_t *timer)
{
    struct session_program *p = timer->data;
    p->paused = false;
    program_drain(p);
    for (int i = 0; i < RUN_STREAMS; i++)
        if (p->polling[i])
            (void)uv_poll_start(&p->polls[i], UV_READABLE, on_stream);
}

static void on_stream(uv_poll_t *handle, int status, int events)
{
    struct session_program *p = handle->data;
    (void)status;
    (void)events;
    for (int i = 0; i < RUN_STREAMS; i++)
        if (p->polling[i])
            (void)uv_poll_stop(&p->polls[i]);
    if (!p->paused)
        (void)uv_timer_start(&p->pace, on_pace, PACE_MS, 0);
    p->paused = true;
}

/* ---- the channel ---- */

static int flush(struct session_program *p, struct err *e)
{
    while (p->out_from < p->out.len) {
        uint32_t n;
        memcpy(&n, p->out.data + p->out_from, sizeof n);
        struct iovec part = { p->out.data + p->out_from + sizeof n, n };
        if (fd_send(p->jar.jar.channel_fd, &part, 1, NULL, 0, MSG_DONTWAIT) < 0) {
            if (errno == EAGAIN || errno == ENOBUFS)
                return 0;
            return err_set(e, ERR_UNAVAILABLE, 0,
                           "the program of the session does not listen any longer: restart it");
        }
        p->out_from += sizeof n + n;
    }
    p->out.len = p->out_from = 0;
    return 0;
}

static void on_channel(uv_poll_t *handle, int status, int events);

static void watch_channel(struct session_program *p)
{
    int events = UV_READABLE | (p->out_from < p->out.len ? UV_WRITABLE : 0);
    if (p->polling[CHANNEL])
        (void)uv_poll_start(&p->polls[CHANNEL], events, on_channel);
}

static int queue_frame(struct session_program *p, const struct session_frame *f, struct err *e)
{
    char head[FRAME_HEAD];
    uint32_t n = (uint32_t)(FRAME_HEAD + f->n);
    frame_write_head(head, f);
    return buf_reserve(&p->out, sizeof n + n, e) || buf_add(&p->out, &n, sizeof n, e) ||
                   buf_add(&p->out, head, sizeof head, e) ||
                   (f->n > 0 && buf_add(&p->out, f->data, f->n, e))
               ? -1
               : 0;
}

static int refuse_closed(struct err *e)
{
    return err_set(e, ERR_UNAVAILABLE, 0,
                   "the program of the session has closed its channel: restart it");
}

static int refuse_full(struct err *e)
{
    return err_set(e, ERR_BUSY, 0,
                   "the program of the session has not read the earlier bytes: try again");
}

int program_send(struct session_program *p, uint16_t type, uint32_t request,
                 const struct buf *fields, struct err *e)
{
    size_t at = 0, len = fields ? fields->len : 0;
    if (p->jar.jar.channel_fd < 0)
        return refuse_closed(e);
    if (p->out.len + len > OUT_MAX)
        return refuse_full(e);
    do {
        size_t n = len - at < FRAME_DATA_MAX ? len - at : FRAME_DATA_MAX;
        struct session_frame f = { .seq = ++p->out_seq,
                                   .request = request,
                                   .type = type,
                                   .flags = at + n < len ? FRAME_MORE : 0,
                                   .data = fields ? fields->data + at : NULL,
                                   .n = n };
        if (queue_frame(p, &f, e))
            return -1;
        at += n;
    } while (at < len);
    int rc = flush(p, e);
    watch_channel(p);
    return rc;
}

int program_send_fds(struct session_program *p, uint16_t type, uint32_t request,
                     const struct buf *fields, const int *fds, size_t n_fds, struct err *e)
{
    char head[FRAME_HEAD];
    struct session_frame f = { .seq = p->out_seq + 1, .request = request, .type = type };
    struct iovec parts[] = { { head, sizeof head }, { fields->data, fields->len } };
    if (p->jar.jar.channel_fd < 0)
        return refuse_closed(e);
    frame_write_head(head, &f);
    if (fields->len > FRAME_DATA_MAX || p->out_from < p->out.len ||
        fd_send(p->jar.jar.channel_fd, parts, 2, fds, n_fds, MSG_DONTWAIT) < 0)
        return refuse_full(e);
    p->out_seq++;
    return 0;
}

/* The program that answers afterwards is the one in the image. */
static int send_image(struct session_program *p, struct err *e)
{
    scoped(buf) fields = { 0 };
    int fds[1 + IMAGE_BASES];
    size_t n_fds = session_image_fds(p->image, fds);
    if (frame_add_field(&fields, TAG_FLAGS, "files", 5, e) ||
        program_send_fds(p, FRAME_BECOME, BECOME_REQUEST, &fields, fds, n_fds, e))
        return -1;
    p->becoming = true;
    return 0;
}

static int take_ready(struct session_program *p, const struct session_frame *f, struct err *e)
{
    struct session_spec *spec = &p->session->spec;
    if (p->ready || f->request != 0)
        return err_set(e, ERR_PROTOCOL, 0, "a second 'ready'");
    if (p->image && !p->becoming)
        return send_image(p, e);
    p->ready = true;
    if (p->aside) {
        rollback_on_ready(p->session);
        return 0;
    }
    session_image_unref(spec->image); /* a restart begins without it */
    spec->image = NULL;
    session_on_ready(p->session);
    return 0;
}

/* It did not become the image, and says why. */
static int take_refusal(struct session_program *p, const struct session_frame *f, struct err *e)
{
    bool whole;
    struct frame_field json;
    size_t room = GUEST_VALUES_MAX;
    if (frame_message_add(&p->message, f, &whole, e))
        return -1;
    if (!whole || f->type != FRAME_ANSWER)
        return 0;
    json_t *answer = frame_find_field(&p->message.data, TAG_JSON, &json)
                         ? guest_json(json.bytes, json.n, &room)
                         : NULL;
    const char *why = json_string_value(json_object_get(answer, "failed"));
    (void)snprintf(p->note, sizeof p->note, "its program did not become the image: %.180s",
                   why ? why : "it gave no reason");
    text_end_whole(p->note);
    json_decref(answer);
    p->session->is_unfit = !p->aside;
    program_kill(p);
    return 0;
}

/* A sentence about a start that fails. */
static int take_note(struct session_program *p, const struct session_frame *f, struct err *e)
{
    bool whole;
    struct frame_field text;
    if (frame_message_add(&p->message, f, &whole, e))
        return -1;
    if (!whole || !frame_find_field(&p->message.data, TAG_TEXT, &text))
        return 0;
    scoped(buf) note = { 0 };
    if (text_add_utf8(&note, text.bytes, text.n < 200 ? text.n : 200, e))
        return -1;
    (void)snprintf(p->note, sizeof p->note, "%s", buf_str(&note));
    text_end_whole(p->note);
    return 0;
}

static int take_packet(struct session_program *p, const char *packet, size_t n, struct err *e)
{
    struct session_frame f;
    if (frame_read(packet, n, &f, e))
        return -1;
    if (p->catching_up && f.seq <= p->in_seq)
        return 0; /* the earlier keeper took it, and was killed before it removed it */
    if (f.seq != p->in_seq + 1 && !p->catching_up)
        return err_set(e, ERR_PROTOCOL, 0, "frame %u follows frame %u", f.seq, p->in_seq);
    p->in_seq = f.seq;
    p->catching_up = false;
    if (!frame_from_program(f.type))
        return err_set(e, ERR_PROTOCOL, 0, "a frame has the unknown type %u", f.type);
    if (!p->session ||
        (p->session->restarting && !p->aside)) /* the words of a program that is being ended */
        return 0;
    if (f.type == FRAME_NOTE && !p->ready)
        return take_note(p, &f, e);
    if (f.type == FRAME_READY)
        return take_ready(p, &f, e);
    if (p->becoming && !p->ready && f.request == BECOME_REQUEST)
        return take_refusal(p, &f, e);
    if (!p->ready)
        return err_set(e, ERR_PROTOCOL, 0, "a frame of type %u came before 'ready'", f.type);
    return cells_on_frame(p->session, &f, packet, n, e);
}

/* Most often because the program is ending, which the warden tells soon. */
static void on_end_of_channel(struct session_program *p)
{
    stop_polling(p, CHANNEL);
    fd_close(&p->jar.jar.channel_fd);
    if (p->aside)
        program_kill(p);
    else if (p->session)
        session_on_channel_closed(p->session);
}

/* One frame. False: there is none, or the channel is at its end. */
static bool receive(struct session_program *p)
{
    static char packet[FRAME_MAX + 1]; /* the loop has one thread */
    struct err e = { 0 };
    char why[160];
    if (p->jar.jar.channel_fd < 0)
        return false;
    ssize_t n = recv(p->jar.jar.channel_fd, packet, sizeof packet, MSG_DONTWAIT | MSG_PEEK);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    /* A frame is there: everything in the pipes now was written before it, because a program waits
     * until its frame is read before it prints again. */
    program_drain(p);
    if (n <= 0) {
        on_end_of_channel(p);
        return false;
    }
    if (take_packet(p, packet, (size_t)n, &e)) {
        (void)snprintf(why, sizeof why, "%s: %.100s", broken, e.text);
        breach(p, why);
        return false;
    }
    /* Removed only now: a keeper that is killed before it has stored the frame leaves it to the next
     * keeper, and one that is killed here leaves a frame whose number is known. */
    if (p->jar.jar.channel_fd >= 0)
        (void)!recv(p->jar.jar.channel_fd, packet, 1, MSG_DONTWAIT | MSG_TRUNC);
    return true;
}

static void on_channel(uv_poll_t *handle, int status, int events)
{
    struct session_program *p = handle->data;
    struct err e;
    if (status < 0 || ((events & UV_WRITABLE) && flush(p, &e))) {
        on_end_of_channel(p);
        return;
    }
    if (events & UV_WRITABLE)
        watch_channel(p);
    for (int i = 0; (events & UV_READABLE) && i < FRAMES_AT_ONCE && receive(p); i++) {
    }
}

/* ---- its end ---- */

/* Every process of the jar is dead: the pipes and the channel hold everything that will come. */
static void finish(struct session_program *p, const struct wire_ended *end)
{
    struct session *s = p->session;
    p->end = *end;
    program_drain(p);
    while (receive(p)) {
    }
    p->over = true;
    for (int i = 0; i < POLLS; i++)
        stop_polling(p, i);
    uv_close((uv_handle_t *)&p->pace, on_closed);
    engine_jar_done(&p->jar);
    p->session = NULL;
    const char *breach = p->breach[0] ? p->breach : p->note[0] ? p->note : NULL;
    if (s && p->aside)
        rollback_on_program_end(s, &p->end, breach);
    else if (s)
        session_on_program_end(s, &p->end, breach);
    free_if_unused(p);
}

static void on_lost(struct engine_jar *j)
{
    struct wire_ended end = { .evidence.reason = END_FAILURE };
    (void)!err_set(&end.err, ERR_UNAVAILABLE, 0, "the process that held its jar died");
    finish((struct session_program *)j, &end);
}

static void on_message(struct engine_jar *j)
{
    struct session_program *p = (struct session_program *)j;
    bool is_current = p->session && !p->aside;
    if (j->jar.measured && is_current)
        session_on_measured(p->session, j->jar.memory_bytes);
    j->jar.measured = false;
    if (j->jar.ended) {
        finish(p, &j->jar.end);
        return;
    }
    if (j->jar.cell.number > 0 && is_current)
        cells_on_measured(p->session, &j->jar.cell);
    network_on_event(p);
}

/* ---- its start ---- */

static int start_polling(struct session_program *p, struct err *e)
{
    for (int i = 0; i < POLLS; i++) {
        p->poll_fds[i] = fcntl(fd_of(p, i), F_DUPFD_CLOEXEC, 0);
        if (p->poll_fds[i] < 0)
            return err_set(e, ERR_KERNEL, errno, "copy a descriptor of a session");
        int rc = uv_poll_init(p->loop, &p->polls[i], p->poll_fds[i]);
        if (rc < 0) {
            fd_close(&p->poll_fds[i]);
            return err_set(e, ERR_KERNEL, -rc, "watch a pipe of a session");
        }
        p->polls[i].data = p;
        p->polling[i] = true;
        p->open_handles++;
        rc = uv_poll_start(&p->polls[i], UV_READABLE, i == CHANNEL ? on_channel : on_stream);
        if (rc < 0)
            return err_set(e, ERR_KERNEL, -rc, "watch a pipe of a session");
    }
    return 0;
}

/* The mounts of a session, with the numbers that the roots have now: its image may be older than the
 * settings of the service. */
static int find_roots(const struct session *s, char ***ret, struct err *e)
{
    const struct sessions_limits *l = &s->all->limits;
    for (size_t i = 0; i < mount_count(s->spec.mounts); i++) {
        struct mount_view m;
        if (mount_at(s->spec.mounts, i, &m, e))
            return -1;
        if (!mount_find_root(l->mount_roots, m.from, &m.root))
            return err_set(e, ERR_DENIED, 0,
                           "its mount '%s' is no longer beneath a directory of the setting "
                           "mounts.roots: the operator lists it again, or the session ends",
                           QUOTED(m.from));
        if (m.secrets && !l->mount_secrets)
            return err_set(e, ERR_DENIED, 0,
                           "its mount '%s' shows files that look like secrets, which the setting "
                           "mounts.secrets no longer allows",
                           QUOTED(m.from));
        if (mount_add(ret, &m, e))
            return -1;
    }
    return 0;
}

static int send_job(struct session *s, struct session_program *p, struct err *e)
{
    static char *const none[] = { NULL };
    const struct session_spec *spec = &s->spec;
    char **mounts = NULL;
    int rc = find_roots(s, &mounts, e);
    unsigned (*kind)(const struct language *, char *const *) = p->image ? warm_image_kind
                                                                        : warm_session_kind;
    struct jar_request request = {
        .language = spec->language,
        .command = spec->language->session,
        .main_name = spec->language->main_file,
        .args = none,
        .env = spec->env,
        .outputs = none,
        .limits = spec->limits,
        .session = true,
        .mounts = mounts,
        .kind = warm_within(kind(spec->language, spec->env), &spec->limits),
        /* an authority comes before the program; every other network comes while it runs */
        .network = spec->network.n_injects > 0 ? &spec->network : NULL,
    };
    request.limits.v[LIMIT_WALL_MS] = session_life_left_ms(s);
    static const struct buf nothing = { 0 };
    const struct buf *files = p->image ? &nothing : &spec->bundle; /* its files are in the image */
    if (rc == 0)
        rc = engine_jar_start(s->all->engine, &p->jar, &request, files, on_bytes, p, e);
    strv_free(mounts);
    return rc;
}

static struct session_program *program_new(const struct sessions *all, struct err *e)
{
    struct session_program *p = calloc(1, sizeof *p);
    if (!p) {
        (void)!err_no_memory(e, "a session");
        return NULL;
    }
    p->jar = (struct engine_jar){ .jar = JAR_RUN_NONE,
                                  .on_message = on_message,
                                  .on_network = network_on_record,
                                  .on_lost = on_lost };
    p->loop = all->loop;
    return p;
}

/* It has a jar. */
static void watch(struct session_program *p)
{
    struct err e = { 0 };
    (void)uv_timer_init(p->loop, &p->pace);
    p->pace.data = p;
    p->open_handles++;
    if (start_polling(p, &e))
        breach(p, e.text); /* its end tells the session */
}

static int start(struct session *s, struct session_image *image, bool aside,
                 struct session_program **ret, struct err *e)
{
    struct session_program *p = program_new(s->all, e);
    if (!p)
        return -1;
    p->image = session_image_ref(image);
    p->aside = aside;
    if (send_job(s, p, e)) {
        session_image_unref(p->image);
        free(p);
        return -1;
    }
    engine_expect_sessions(s->all->engine, s->spec.language); /* also of those in images */
    p->session = s;
    *ret = p;
    watch(p);
    return 0;
}

int program_start(struct session *s, struct err *e)
{
    return start(s, s->spec.image, false, &s->program, e);
}

int program_start_aside(struct session *s, struct session_image *image,
                        struct session_program **ret, struct err *e)
{
    return start(s, image, true, ret, e);
}

int program_adopt(struct sessions *all, struct wire_message *m, struct session_program **ret,
                  struct err *e)
{
    struct session_program *p = program_new(all, e);
    if (!p)
        return -1;
    if (engine_jar_adopt(all->engine, &p->jar, m, on_bytes, p, e)) {
        free(p);
        return -1;
    }
    p->ready = true;
    watch(p);
    *ret = p;
    return 0;
}

void program_attach(struct session_program *p, struct session *s, uint32_t in_seq, bool armed)
{
    /* Numbers of an earlier keeper do not come again: late answers to its questions meet none. */
    p->out_seq = (uint32_t)(clock_unix_ms() / 1000) & 0x3fffffff;
    p->in_seq = in_seq;
    p->armed = armed;
    p->catching_up = true;
    p->session = s;
    s->program = p;
}

/* ---- the warden's part in a cell ---- */

int program_arm(struct session_program *p, unsigned number, const struct limits *limits,
                uint64_t wall_ms, struct err *e)
{
    struct cell_limits cell = { .number = number,
                                .wall_ms = wall_ms,
                                .cpu_ms = limits->v[LIMIT_CPU_MS],
                                .grace_ms = CELL_GRACE_MS };
    if (p->jar.jar.channel_fd < 0 || p->armed)
        return refuse_closed(e);
    if (jar_run_begin_cell(&p->jar.jar, &cell, e))
        return -1;
    p->armed = true;
    return 0;
}

int program_disarm(struct session_program *p, struct err *e)
{
    p->armed = false;
    return jar_run_end_cell(&p->jar.jar, e);
}

int program_interrupt(struct session_program *p, struct err *e)
{
    return jar_run_interrupt(&p->jar.jar, e);
}

int program_files(struct session_program *p, enum live_file_operation operation, const char *path,
                  const struct buf *bytes, int *ret_fd, struct err *e)
{
    return jar_run_files(&p->jar.jar, operation, path, bytes, ret_fd, e);
}
