#include "run/jar_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "allowlist/allowlist.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "run/command_line.h"
#include "run/home_seed.h"
#include "spec/bundle.h"
#include "spec/mount.h"

/* A compiler that prints this many times its limit is stopped. */
enum { COMPILER_EXCESS = 8 };

/* The pipes of a jar: we keep one end of each and send the other end to the warden. */
struct pipes {
    int ours[5]; /* stdin, stdout, stderr, outputs, channel */
    int theirs[SESSION_FDS];
};
#define PIPES_NONE                 \
    (struct pipes)                 \
    {                              \
        { -1, -1, -1, -1, -1 },    \
        {                          \
            -1, -1, -1, -1, -1, -1 \
        }                          \
    }

static void pipes_done(struct pipes *p)
{
    for (int i = 0; i < 5; i++)
        fd_close(&p->ours[i]);
    for (int i = 0; i < SESSION_FDS; i++)
        if (i != JOB_FD_BUNDLE) /* belongs to the caller */
            fd_close(&p->theirs[i]);
}

static int pipes_open(struct pipes *p, int bundle_fd, struct err *e)
{
    static const struct {
        int our_index, their_index, our_end;
    } rows[] = {
        { 0, JOB_FD_STDIN, 1 },
        { 1, JOB_FD_STDOUT, 0 },
        { 2, JOB_FD_STDERR, 0 },
        { 3, JOB_FD_OUTPUTS, 0 },
    };
    p->theirs[JOB_FD_BUNDLE] = bundle_fd;
    /* Programs open /dev/stdout by name, with another uid than ours. A pipe has no name elsewhere: its
     * mode opens it to processes that may look at the descriptors of the program. */
    for (int i = 0; i < 4; i++) {
        int ends[2];
        if (fd_pipe(ends, e))
            return -1;
        p->ours[rows[i].our_index] = ends[rows[i].our_end];
        p->theirs[rows[i].their_index] = ends[!rows[i].our_end];
        if (i < 3 && fchmod(ends[0], 0666) < 0)
            return err_set(e, ERR_KERNEL, errno, "open a pipe to the program");
        if (fd_set_nonblock(p->ours[rows[i].our_index], e))
            return -1;
    }
    return 0;
}

static int channel_open(struct pipes *p, struct err *e)
{
    int ends[2];
    if (wire_pair(ends, e))
        return -1;
    p->ours[4] = ends[0];
    p->theirs[JOB_FD_CHANNEL] = ends[1];
    fd_close(&p->ours[0]); /* its stdin is at its end */
    return fd_set_nonblock(p->ours[4], e);
}

static int resolve_allowlist(const struct jar_request *q, const struct isolation *isolation,
                             struct allowlist *ret, struct err *e)
{
    char *const *names = q->options ? q->options->allow_commands : NULL;
    if (!names)
        return 0;
    return allowlist_possible(q->language, isolation, q->writable_root, e) ||
                   allowlist_resolve(q->language->command[0], names, ret, e)
               ? -1
               : 0;
}

/* A list of commands is for shells, which may make sockets. */
static bool needs_no_sockets(const struct jar_request *q)
{
    enum no_sockets in = q->compiles ? NO_SOCKETS_IN_COMPILER : NO_SOCKETS_IN_PROGRAM;
    return q->language->no_sockets & in;
}

static bool has_network(const struct jar_request *q)
{
    return q->network && q->network->mode != NETWORK_NONE;
}

/* Node reads NODE_EXTRA_CA_CERTS when it starts, and never again. */
static bool needs_own_start(const struct jar_request *q)
{
    return has_network(q) && q->network->n_injects > 0 && strstr(q->language->name, "script");
}

static uint32_t job_flags(const struct jar_request *q, const struct allowlist *listed)
{
    bool runs = !q->compiles && !q->session, answers = runs && q->language->whereabouts;
    enum values values = q->options ? q->options->values : VALUES_AUTO;
    bool able = q->language->values || (values == VALUES_ALL && q->language->values_command);
    bool tells = runs && able && values != VALUES_NONE && !q->no_values;
    return (q->writable_root ? JOB_WRITABLE_ROOT : 0) | (listed->executes ? JOB_LISTED : 0) |
           (listed->own_code ? JOB_OWN_CODE : 0) | (q->sampled ? JOB_SAMPLED : 0) |
           (q->session ? JOB_SESSION : 0) | (needs_no_sockets(q) ? JOB_NO_SOCKETS : 0) |
           (has_network(q) ? JOB_NETWORK : 0) | (q->stays ? JOB_STAYS : 0) |
           (answers ? JOB_WHEREABOUTS : 0) | (tells ? JOB_VALUES : 0);
}

/* Tells the porter the policy, and the warden which sockets to make. *ret_fd keeps it open. */
static int open_network(int wire_fd, const struct isolation *isolation, const struct jar_request *q,
                        int *ret_fd, struct err *e)
{
    struct plumbing plumbing;
    struct porter_client none = PORTER_CLIENT_INIT;
    autoclose int fd = -1;
    if (isolation->level == LEVEL_PROCESS)
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "a network list needs isolation level jar or rootless, and this is '%s': the "
            "program would have the network of the machine",
            level_name(isolation->level));
    if (porter_client_open(q->porter ? q->porter : &none, q->id, q->network, &plumbing, &fd, e) ||
        wire_send_network(wire_fd, q->id, &plumbing, fd, e))
        return -1;
    *ret_fd = fd_take(&fd);
    return 0;
}

/* At level process a program has no mounts of its own. */
static int check_level(const struct jar_request *request, enum level level, struct err *e)
{
    if (level != LEVEL_PROCESS)
        return 0;
    if (request->writable_root)
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "a writable root needs isolation level jar or rootless, and this is '%s': leave "
            "--writable-root out",
            level_name(level));
    if (mount_count(request->mounts) > 0)
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "a mount needs isolation level jar or rootless, and this is '%s': the program "
            "has no mounts of its own there",
            level_name(level));
    return 0;
}

int jar_run_start(struct jar_run *r, int wire_fd, const struct isolation *isolation,
                  const struct jar_request *request, jar_run_sink *sink, void *context,
                  struct err *e)
{
    scoped(command_line) job = { 0 };
    scoped(pipes) pipes = PIPES_NONE;
    bool network = has_network(request);
    if (check_level(request, isolation->level, e))
        return -1;
    scoped(allowlist) listed = { 0 };
    autoclose int seeded_fd = -1;
    if (resolve_allowlist(request, isolation, &listed, e) || limits_check(&request->limits, e) ||
        home_seed_add(request, &seeded_fd, e) ||
        pipes_open(&pipes, seeded_fd >= 0 ? seeded_fd : request->bundle_fd, e) ||
        (request->session && channel_open(&pipes, e)))
        return -1;
    if (command_line_build(&job, request, isolation->level, e))
        return -1;
    struct wire_spawn spawn = {
        .id = request->id,
        .is_next = request->is_next,
        .job = { .flags = job_flags(request, &listed),
                 .kind = listed.executes || needs_own_start(request) ? 0 : request->kind,
                 .limits = request->limits,
                 .argv = job.argv,
                 .envp = job.envp,
                 .outputs = (char **)request->outputs,
                 .executes = listed.executes,
                 .reads = listed.reads,
                 .mounts = (char **)request->mounts },
    };
    autoclose int network_fd = -1;
    if ((network && open_network(wire_fd, isolation, request, &network_fd, e)) ||
        wire_send_spawn(wire_fd, &spawn, pipes.theirs, e))
        return -1;
    struct jar_run last = request->is_next ? *r : JAR_RUN_NONE;
    *r = (struct jar_run){ .id = spawn.id,
                           .wire_fd = wire_fd,
                           .isolation = *isolation,
                           .limits = request->limits,
                           .session = request->session,
                           .compiles = request->compiles,
                           .sink = sink,
                           .sink_context = context,
                           .network_fd = network ? fd_take(&network_fd) : last.network_fd,
                           .network_open = network || last.network_open,
                           .network = last.network };
    r->stdin_fd = fd_take(&pipes.ours[0]);
    r->streams[RUN_STDOUT].fd = fd_take(&pipes.ours[1]);
    r->streams[RUN_STDERR].fd = fd_take(&pipes.ours[2]);
    r->outputs_fd = fd_take(&pipes.ours[3]);
    r->channel_fd = fd_take(&pipes.ours[4]);
    return 0;
}

void jar_run_done(struct jar_run *r)
{
    fd_close(&r->stdin_fd);
    fd_close(&r->streams[RUN_STDOUT].fd);
    fd_close(&r->streams[RUN_STDERR].fd);
    fd_close(&r->outputs_fd);
    fd_close(&r->channel_fd);
    buf_done(&r->outputs);
    free(r->samples);
    r->samples = NULL;
    fd_close(&r->network_fd);
    r->network_open = false;
    network_log_done(&r->network);
}

void jar_run_polls(const struct jar_run *r, struct pollfd polls[JAR_RUN_POLLS])
{
    polls[0] = (struct pollfd){ .fd = r->ended ? -1 : r->wire_fd, .events = POLLIN };
    for (int i = 0; i < RUN_STREAMS; i++) {
        const struct jar_run_pipe *p = &r->streams[i];
        polls[1 + i] = (struct pollfd){ .fd = p->pending ? -1 : p->fd, .events = POLLIN };
    }
    polls[3] = (struct pollfd){ .fd = r->outputs_fd, .events = POLLIN };
}

int jar_run_cancel(struct jar_run *r, enum end_reason reason, struct err *e)
{
    r->cancelled = r->cancelled || reason == END_CANCEL;
    if (r->ended || r->requested_end != END_EXIT)
        return 0;
    r->requested_end = reason;
    return wire_send_kill(r->wire_fd, &(struct wire_kill){ r->id, reason }, e);
}

static void drop_pending(struct jar_run *r, struct jar_run_pipe *p)
{
    p->pending = 0;
    r->output_dropped = true;
}

static int offer_to_sink(struct jar_run *r, enum run_stream stream, struct err *e)
{
    struct jar_run_pipe *p = &r->streams[stream];
    while (p->pending > 0) {
        ssize_t took = r->sink(r->sink_context, stream, p->bytes + p->from, p->pending);
        if (took < 0) {
            drop_pending(r, p);
            r->sink_closed = true;
            return jar_run_cancel(r, END_CANCEL, e);
        }
        if (took == 0) {
            if (r->cancelled)
                drop_pending(r, p);
            return 0;
        }
        p->from += (size_t)took;
        p->pending -= (size_t)took;
    }
    return 0;
}

static int read_stream(struct jar_run *r, enum run_stream stream, struct err *e)
{
    struct jar_run_pipe *p = &r->streams[stream];
    ssize_t n = read(p->fd, p->bytes, sizeof p->bytes);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0
                                                 : err_set(e, ERR_KERNEL, errno, "read the output");
    if (n == 0) {
        fd_close(&p->fd);
        return 0;
    }
    uint64_t cap = r->session ? UINT64_MAX : r->limits.v[LIMIT_OUTPUT];
    uint64_t room = p->seen < cap ? cap - p->seen : 0;
    p->seen += (uint64_t)n;
    p->from = 0;
    p->pending = (uint64_t)n < room ? (size_t)n : (size_t)room;
    p->truncated = p->seen > cap;
    /* Errors beyond the limit are of no use to anybody. Warnings are dropped, and the compiler goes on. */
    r->found_errors = r->found_errors || (r->compiles && memmem(p->bytes, (size_t)n, "error", 5));
    bool warns = r->compiles && !r->found_errors && cap < UINT64_MAX / COMPILER_EXCESS;
    if (p->seen > (warns ? cap * COMPILER_EXCESS : cap) && jar_run_cancel(r, END_OUTPUT, e))
        return -1;
    return offer_to_sink(r, stream, e);
}

static int read_outputs(struct jar_run *r, struct err *e)
{
    if (buf_reserve(&r->outputs, 1 << 16, e))
        return -1;
    ssize_t n = read(r->outputs_fd, r->outputs.data + r->outputs.len, 1 << 16);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0
                                                 : err_set(e, ERR_KERNEL, errno, "read the files");
    r->outputs.len += (size_t)n;
    if (n == 0 || r->outputs.len > BUNDLE_STREAM_MAX)
        fd_close(&r->outputs_fd);
    return 0;
}

static int on_samples(struct jar_run *r, const struct wire_message *m, struct err *e)
{
    autofree struct wire_samples *x = malloc(sizeof *x);
    if (!x)
        return err_no_memory(e, "a profile");
    if (wire_read_samples(m, x, e))
        return -1;
    if (!r->samples && !(r->samples = malloc(sizeof *r->samples)))
        return err_no_memory(e, "a profile");
    *r->samples = x->samples;
    return 0;
}

static int on_started(struct jar_run *r, const struct wire_message *m, struct err *e)
{
    struct wire_started started;
    if (wire_read_started(m, &started, e))
        return -1;
    r->started = true;
    r->start = started.start;
    r->started_at_ms = (uint64_t)clock_unix_ms();
    return 0;
}

static int on_cell_end(struct jar_run *r, const struct wire_message *m, struct err *e)
{
    struct wire_cell_end x;
    if (wire_read_cell_end(m, &x, e))
        return -1;
    r->cell = x.usage;
    return 0;
}

static int on_measured(struct jar_run *r, const struct wire_message *m, struct err *e)
{
    struct wire_measured x;
    if (wire_read_measured(m, &x, e))
        return -1;
    r->memory_bytes = x.memory_bytes;
    r->pids = x.pids;
    r->usage = x.usage;
    r->measured = true;
    return 0;
}

int jar_run_begin_cell(struct jar_run *r, const struct cell_limits *limits, struct err *e)
{
    return r->ended ? 0 : wire_send_cell(r->wire_fd, r->id, limits, e);
}

int jar_run_end_cell(struct jar_run *r, struct err *e)
{
    return r->ended ? 0 : wire_send_cell(r->wire_fd, r->id, &(struct cell_limits){ 0 }, e);
}

int jar_run_interrupt(struct jar_run *r, struct err *e)
{
    return r->ended ? 0 : wire_send_interrupt(r->wire_fd, r->id, e);
}

int jar_run_measure(struct jar_run *r, struct err *e)
{
    return r->ended ? 0 : wire_send_measure(r->wire_fd, r->id, e);
}

int jar_run_files(struct jar_run *r, enum live_file_operation operation, const char *path,
                  const struct buf *bytes, int *ret_fd, struct err *e)
{
    int ends[2];
    if (r->ended)
        return err_set(e, ERR_UNAVAILABLE, 0, "the session has ended");
    if (fd_pipe(ends, e))
        return -1;
    autoclose int ours = ends[0], theirs = ends[1], body = -1;
    if (fd_set_nonblock(ours, e) ||
        (operation == LIVE_WRITE && fd_sealed_memory("file", bytes, &body, e)))
        return -1;
    const int fds[2] = { theirs, operation == LIVE_WRITE ? body : theirs };
    if (wire_send_files(r->wire_fd, &(struct wire_files){ r->id, operation, path }, fds, e))
        return -1;
    *ret_fd = fd_take(&ours);
    return 0;
}

int jar_run_keep(struct jar_run *r, const char *note, size_t n, struct err *e)
{
    const int fds[KEEP_FDS] = { r->streams[RUN_STDOUT].fd, r->streams[RUN_STDERR].fd,
                                r->channel_fd };
    for (int i = 0; i < KEEP_FDS; i++)
        if (fds[i] < 0)
            return err_set(e, ERR_CONFLICT, 0, "the session has closed its output or its channel");
    return wire_send_keep(r->wire_fd, &(struct wire_keep){ r->id, note, n }, fds, e);
}

int jar_run_adopt(struct jar_run *r, int wire_fd, const struct isolation *isolation,
                  struct wire_message *m, jar_run_sink *sink, void *context, struct err *e)
{
    struct wire_kept kept;
    if (wire_read_kept(m, &kept, e))
        return -1;
    for (int i = 0; i < KEEP_FDS; i++)
        if (fd_set_nonblock(m->fds[i], e))
            return -1;
    *r = JAR_RUN_NONE;
    r->id = kept.id;
    r->wire_fd = wire_fd;
    r->isolation = *isolation;
    r->session = true;
    r->sink = sink;
    r->sink_context = context;
    r->started = kept.started;
    r->start = kept.start;
    r->streams[RUN_STDOUT].fd = fd_take(&m->fds[0]);
    r->streams[RUN_STDERR].fd = fd_take(&m->fds[1]);
    r->channel_fd = fd_take(&m->fds[2]);
    return 0;
}

static int on_ended(struct jar_run *r, const struct wire_message *m, struct err *e)
{
    if (wire_read_ended(m, &r->end, e))
        return -1;
    r->ended = true;
    fd_close(&r->stdin_fd);
    if (r->end.rests)
        return 0;
    fd_close(&r->network_fd);
    if (r->network_open)
        r->ended_ms = clock_ms();
    return 0;
}

uint64_t jar_run_porter_due_ms(const struct jar_run *r)
{
    if (r->changes > 0)
        return r->changed_ms + PORTER_PATIENCE_MS;
    return r->ended && r->network_open && !r->end.rests ? r->ended_ms + PORTER_PATIENCE_MS
                                                        : UINT64_MAX;
}

/* The number of an opening is in the high bits of the id, which no jar reaches. */
enum { NUMBER_SHIFT = 56 };

static uint64_t network_id(const struct jar_run *r)
{
    return r->id | (uint64_t)(r->network_number & 0xff) << NUMBER_SHIFT;
}

uint64_t jar_run_of_event(const struct porter_event *event)
{
    return event->id & ((UINT64_C(1) << NUMBER_SHIFT) - 1);
}

/* Connections of two openings have the same numbers. */
static void add_record(const struct porter_event *event, struct network_log *log)
{
    struct network_record record = event->record;
    if (record.id)
        record.id |= (uint32_t)(event->id >> NUMBER_SHIFT) << 24;
    network_log_add(log, &record);
}

void jar_run_on_network(struct jar_run *r, const struct porter_event *event,
                        struct network_log *log)
{
    bool is_current = event->id == network_id(r);
    if (!event->closed && !event->changed) {
        if (r->network_open)
            add_record(event, log);
        return;
    }
    log->omitted += event->omitted;
    log->unrouted += event->unrouted;
    log->refused += event->refused;
    if (event->changed && r->changes > 0)
        r->changes--;
    if (!event->closed || !is_current)
        return;
    r->network_refused = r->session && r->network_fd >= 0;
    fd_close(&r->network_fd);
    r->network_open = false;
}

int jar_run_open_network(struct jar_run *r, struct porter_client *porter,
                         const struct network_policy *policy, struct err *e)
{
    struct plumbing plumbing;
    autoclose int fd = -1;
    r->network_number++;
    if (porter_client_open(porter, network_id(r), policy, &plumbing, &fd, e) ||
        wire_send_plumb(r->wire_fd, r->id, &plumbing, fd, e))
        return -1;
    r->network_fd = fd_take(&fd);
    r->network_open = true;
    r->plumbs++;
    return 0;
}

int jar_run_change_network(struct jar_run *r, struct porter_client *porter,
                           const struct network_policy *policy, struct err *e)
{
    if (porter_client_change(porter, network_id(r), policy, e))
        return -1;
    r->changed_ms = r->changes > 0 ? r->changed_ms : clock_ms();
    r->changes++;
    return 0;
}

void jar_run_close_network(struct jar_run *r)
{
    fd_close(&r->network_fd);
}

static int on_plumbed(struct jar_run *r, const struct wire_message *m, struct err *e)
{
    struct wire_plumbed x;
    if (wire_read_plumbed(m, &x, e))
        return -1;
    if (r->plumbs == 0)
        return err_set(e, ERR_PROTOCOL, 0, "the warden answers a request that was not made");
    r->plumbs--;
    r->plumb_err = x.err;
    return 0;
}

void jar_run_on_porter_lost(struct jar_run *r)
{
    fd_close(&r->network_fd);
    r->network.lost = r->network.lost || r->network_open;
    r->changes = 0;
    r->network_open = false;
}

int jar_run_on_message(struct jar_run *r, const struct wire_message *m, struct err *e)
{
    uint64_t id;
    if (wire_message_id(m, &id, e))
        return -1;
    if (id != r->id)
        return err_set(e, ERR_PROTOCOL, 0, "the message of the warden has the id of another run");
    return m->type == WIRE_STARTED    ? on_started(r, m, e)
           : m->type == WIRE_SAMPLES  ? on_samples(r, m, e)
           : m->type == WIRE_CELL_END ? on_cell_end(r, m, e)
           : m->type == WIRE_MEASURED ? on_measured(r, m, e)
           : m->type == WIRE_PLUMBED  ? on_plumbed(r, m, e)
                                      : on_ended(r, m, e);
}

static int read_wire(struct jar_run *r, struct err *e)
{
    struct wire_message m;
    int got = wire_receive(r->wire_fd, &m, e);
    if (got < 0)
        return -1;
    if (got == 0)
        return err_set(e, ERR_UNAVAILABLE, 0, "the warden is gone: run the program again");
    return jar_run_on_message(r, &m, e);
}

int jar_run_flush(struct jar_run *r, struct err *e)
{
    for (int i = 0; i < RUN_STREAMS; i++)
        if (offer_to_sink(r, (enum run_stream)i, e))
            return -1;
    return 0;
}

int jar_run_read(struct jar_run *r, enum jar_pipe pipe, struct err *e)
{
    if (pipe == PIPE_OUTPUTS)
        return r->outputs_fd >= 0 ? read_outputs(r, e) : 0;
    return r->streams[pipe].fd >= 0 ? read_stream(r, (enum run_stream)pipe, e) : 0;
}

int jar_run_ready(struct jar_run *r, const struct pollfd polls[JAR_RUN_POLLS], struct err *e)
{
    if (polls[0].revents && read_wire(r, e))
        return -1;
    for (int pipe = PIPE_STDOUT; pipe <= PIPE_OUTPUTS; pipe++)
        if (polls[1 + pipe].revents && jar_run_read(r, (enum jar_pipe)pipe, e))
            return -1;
    return 0;
}

enum verdict jar_run_verdict(struct jar_run *r)
{
    struct evidence *ev = &r->end.evidence;
    bool truncated = r->streams[RUN_STDOUT].truncated || r->streams[RUN_STDERR].truncated;
    if (truncated && (!r->compiles || ev->reason == END_OUTPUT))
        ev->hits |= LIMIT_BIT(LIMIT_OUTPUT);
    if (r->output_dropped && ev->reason != END_FAILURE) /* JAR_RUN-4 */
        ev->reason = END_CANCEL;
    return verdict_decide(ev);
}

bool jar_run_is_over(const struct jar_run *r)
{
    for (int i = 0; i < RUN_STREAMS; i++)
        if (r->streams[i].fd >= 0 || r->streams[i].pending > 0)
            return false;
    return r->ended && r->outputs_fd < 0 && (!r->network_open || r->end.rests);
}
