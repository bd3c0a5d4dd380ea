/* The keeper of a run without a service: one poll() loop for each stage, then the result. */
#include "cli/run/run_keeper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/process.h"
#include "cli/cli.h"
#include "cli/run/diagnosis_view.h"
#include "cli/run/profile_view.h"
#include "cli/run/run_report.h"
#include "examiner/examiner.h"
#include "run/home_seed.h"
#include "run/jar_run.h"
#include "run/privileges.h"
#include "run/reports.h"
#include "run/stages.h"

/* A pipe that poll() calls writable accepts this much without blocking. */
enum { SAFE_WRITE = 4096 };

struct session {
    const struct run_keeper_job *job;
    struct jar_run run;               /* of the current stage */
    struct buf captured[RUN_STREAMS]; /* with --json, and of stages before the program */
    struct stage_result prepared;     /* of the last stage before the program */
    bool was_prepared, cached;        /* `prepared` is set; it came from the cache */
    bool explains; /* a failure will be explained: beginning and end of the output are captured */
    bool failed;   /* a stage before the program failed: the program is not run */
    bool running;  /* the stage is the program itself, which gets our stdin */
    struct porter_client porter;
    int signal_fd;
    int reader_fd;   /* reads the output of a program that failed, or a report; -1: none */
    int write_errno; /* of a failed write to our stdout or stderr */
    /* stdin on its way to the program */
    int source_fd; /* -1: at its end */
    size_t held, from;
    char bytes[16384];
};

static ssize_t pass_through(void *context, enum run_stream stream, const char *bytes, size_t n)
{
    struct session *s = context;
    struct pollfd p = { .fd = stream == RUN_STDOUT ? 1 : 2, .events = POLLOUT };
    if (poll(&p, 1, 0) == 0)
        return 0;
    ssize_t w = write(p.fd, bytes, n < SAFE_WRITE ? n : SAFE_WRITE);
    if (w < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (w < 0)
        s->write_errno = errno;
    else if (s->explains)
        diagnosis_view_keep(&s->captured[stream], bytes, (size_t)w);
    return w;
}

static ssize_t capture(void *context, enum run_stream stream, const char *bytes, size_t n)
{
    struct session *s = context;
    struct err e;
    return buf_add(&s->captured[stream], bytes, n, &e) ? -1 : (ssize_t)n;
}

static void pump_stdin(struct session *s, const struct pollfd *source, const struct pollfd *sink)
{
    if (source->revents && s->held == 0) {
        ssize_t n = read(s->source_fd, s->bytes, sizeof s->bytes);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            s->source_fd = -1;
        s->from = 0;
        s->held = n > 0 ? (size_t)n : 0;
    }
    if (sink->revents && s->held > 0) {
        ssize_t n = write(s->run.stdin_fd, s->bytes + s->from, s->held);
        if (n < 0 && errno != EAGAIN && errno != EINTR) { /* the program reads no more */
            s->held = 0;
            s->source_fd = -1;
        } else if (n > 0) {
            s->from += (size_t)n;
            s->held -= (size_t)n;
        }
    }
    if (s->source_fd < 0 && s->held == 0)
        fd_close(&s->run.stdin_fd);
}

/* The loop polls these and the descriptors of the run. */
enum {
    POLL_SIGNAL = JAR_RUN_POLLS,
    POLL_SOURCE,
    POLL_STDIN,
    POLL_STDOUT,
    POLL_STDERR,
    POLL_PORTER,
    POLLS
};

static void fill_polls(const struct session *s, struct pollfd p[POLLS])
{
    const struct jar_run *r = &s->run;
    jar_run_polls(r, p);
    bool reading = s->running && r->stdin_fd >= 0 && s->held == 0;
    p[POLL_SIGNAL] = (struct pollfd){ .fd = s->signal_fd, .events = POLLIN };
    p[POLL_SOURCE] = (struct pollfd){ .fd = reading ? s->source_fd : -1, .events = POLLIN };
    p[POLL_STDIN] = (struct pollfd){ .fd = s->running && s->held ? r->stdin_fd : -1,
                                     .events = POLLOUT };
    for (int i = 0; i < RUN_STREAMS; i++)
        p[POLL_STDOUT + i] = (struct pollfd){ .fd = r->streams[i].pending ? 1 + i : -1,
                                              .events = POLLOUT };
    p[POLL_PORTER] = (struct pollfd){ .fd = r->network_open ? s->porter.fd : -1,
                                      .events = s->porter.first ? POLLIN | POLLOUT : POLLIN };
}

/* Without the porter the program goes on, and has no network. */
static void lose_porter(struct session *s)
{
    porter_client_done(&s->porter);
    jar_run_on_porter_lost(&s->run);
}

/* For the last words of the porter, in milliseconds; -1: there is nothing to wait for. */
static int wait_ms(const struct jar_run *r)
{
    uint64_t due = jar_run_porter_due_ms(r), now = clock_ms();
    return due == UINT64_MAX ? -1 : due > now ? (int)(due - now) : 0;
}

static void read_porter(struct session *s)
{
    struct porter_event event;
    struct err e = { 0 };
    int got = porter_client_flush(&s->porter, &e) ? -1 : porter_client_read(&s->porter, &event, &e);
    if (got > 0 && event.id == s->run.id)
        jar_run_on_network(&s->run, &event, &s->run.network);
    if (got < 0)
        lose_porter(s);
}

static int loop(struct session *s, struct err *e)
{
    while (!jar_run_is_over(&s->run)) {
        struct pollfd p[POLLS];
        fill_polls(s, p);
        if (poll(p, POLLS, wait_ms(&s->run)) < 0 && errno != EINTR)
            return err_set(e, ERR_KERNEL, errno, "wait for events");
        if (wait_ms(&s->run) == 0)
            lose_porter(s);
        if (p[POLL_SIGNAL].revents) {
            struct signalfd_siginfo info;
            (void)!read(s->signal_fd, &info, sizeof info);
            if (jar_run_cancel(&s->run, END_CANCEL, e))
                return -1;
        }
        if (jar_run_ready(&s->run, p, e) || jar_run_flush(&s->run, e))
            return -1;
        if (p[POLL_PORTER].revents)
            read_porter(s);
        if (s->running && s->run.stdin_fd >= 0)
            pump_stdin(s, &p[POLL_SOURCE], &p[POLL_STDIN]);
    }
    return 0;
}

static int watch_signals(struct session *s, struct err *e)
{
    sigset_t set;
    cli_signals(&set);
    return process_watch_signals(&set, &s->signal_fd, e);
}

static char **output_names(const struct run_keeper_job *job)
{
    const struct run_arguments *o = job->options;
    autofree char **names = calloc(o->n_outs + 1, sizeof *names);
    for (size_t i = 0; names && i < o->n_outs; i++)
        names[i] = o->outs[i].name;
    return names ? report_outputs(job->inputs->language, &o->run_options, names) : NULL;
}

static struct jar_request whole_request(const struct run_keeper_job *job, char **outputs,
                                        char **sources)
{
    const struct run_arguments *o = job->options;
    return (struct jar_request){ .language = job->inputs->language,
                                 .main_name = job->inputs->main_name,
                                 .sources = sources,
                                 .args = o->args,
                                 .env = o->env,
                                 .outputs = outputs,
                                 .limits = o->limits,
                                 .writable_root = o->writable_root,
                                 .mounts = o->mounts,
                                 .options = &o->run_options,
                                 .network = &o->network,
                                 .bundle_fd = job->inputs->bundle_fd };
}

static int run_stage(struct session *s, enum stage kind, const struct jar_request *whole,
                     struct err *e)
{
    const struct warden *w = s->job->warden;
    struct jar_request q = stage_request(kind, whole);
    s->running = kind == STAGE_RUN;
    q.id = (uint64_t)kind + 1;
    q.porter = &s->porter;
    jar_run_sink *sink = s->running && !s->job->options->json ? pass_through : capture;
    if (jar_run_start(&s->run, w->fd, &w->isolation, &q, sink, s, e))
        return -1;
    if (!s->running)
        fd_close(&s->run.stdin_fd);
    if (loop(s, e)) {
        jar_run_done(&s->run);
        return -1;
    }
    return 0;
}

/* Until all is written, the reader is gone, or a signal asks us to stop. */
static void write_output(struct session *s, int fd, const struct buf *output)
{
    for (size_t at = 0; at < output->len && s->write_errno == 0;) {
        struct pollfd p[] = { { .fd = s->signal_fd, .events = POLLIN },
                              { .fd = fd, .events = POLLOUT } };
        size_t left = output->len - at;
        if (poll(p, 2, -1) < 0 && errno != EINTR)
            s->write_errno = errno;
        if (p[0].revents)
            return;
        ssize_t n = p[1].revents
                        ? write(fd, output->data + at, left < SAFE_WRITE ? left : SAFE_WRITE)
                        : 0;
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            s->write_errno = errno;
        at += n > 0 ? (size_t)n : 0;
    }
}

/* The output of a compiler that failed is the output of the run. */
static int take_compiler_output(struct session *s, struct err *e)
{
    s->failed = true;
    for (int i = 0; i < RUN_STREAMS; i++) {
        const struct buf *output = &s->prepared.output[i];
        if (!s->job->options->json)
            write_output(s, 1 + i, output);
        else if (buf_add(&s->captured[i], output->data, output->len, e))
            return -1;
    }
    return 0;
}

static int report_unfit_product(struct session *s, struct err *e)
{
    char text[sizeof s->run.end.err.text + 16];
    if (!s->was_prepared || !stage_product_did_not_fit(&s->run, text, sizeof text))
        return 0;
    scoped(buf) line = { 0 };
    if (buf_addf(&line, e, "%s", text))
        return -1;
    if (!s->job->options->json)
        write_output(s, STDERR_FILENO, &line);
    return s->job->options->json || s->explains
               ? buf_add(&s->captured[RUN_STDERR], line.data, line.len, e)
               : 0;
}

/* As the warden reports a program that does not exist. */
static void fail_not_installed(struct session *s, const struct err *why)
{
    s->failed = true;
    s->run.end.evidence.reason = END_FAILURE;
    s->run.end.err = *why;
}

/* Takes the products of a stage from the cache, or runs its jar. *products is unchanged if the run
 * ends here. */
static int prepare_stage(struct session *s, enum stage kind, const struct jar_request *whole,
                         struct buf *products, struct err *e)
{
    struct program_file kept = { 0 };
    stage_result_done(&s->prepared);
    s->was_prepared = true;
    s->cached = program_cache_take(s->job->cache, kind, &kept);
    if (s->cached) {
        s->prepared = kept.result;
        *products = kept.products;
        return 0;
    }
    if (run_stage(s, kind, whole, e))
        return -1;
    stage_result_take(&s->prepared, kind, whole->language, &s->run, s->captured);
    if (stage_result_is_failure(&s->prepared))
        return take_compiler_output(s, e);
    s->failed = s->prepared.verdict != VERDICT_OK; /* cancelled, or a failure of ours */
    if (s->failed)
        return 0;
    *products = s->run.outputs;
    s->run.outputs = (struct buf){ 0 };
    jar_run_done(&s->run);
    program_cache_keep(s->job->cache, kind, &s->prepared, products);
    return 0;
}

/* Runs the stages before the program. *whole gets a bundle with their products, in *bundle_fd. */
static int prepare(struct session *s, const struct stages *stages, const struct buf *files,
                   struct jar_request *whole, int *bundle_fd, struct err *e)
{
    for (size_t i = 0; i + 1 < stages->n; i++) {
        scoped(buf) products = { 0 }, merged = { 0 };
        struct err why = { 0 };
        if (stage_installed(whole->language, &why)) {
            fail_not_installed(s, &why);
            return 0;
        }
        if (prepare_stage(s, stages->at[i], whole, &products, e))
            return -1;
        if (s->failed)
            return 0;
        if (stages->at[i] != STAGE_COMPILE)
            continue;
        if (stage_merge(files, &products, &merged, e) ||
            fd_sealed_memory("belljar-files", &merged, bundle_fd, e))
            return -1;
        whole->bundle_fd = *bundle_fd;
    }
    return 0;
}

static int run_stages(struct session *s, char **outputs, struct err *e)
{
    const struct inputs *in = s->job->inputs;
    struct stages stages = stages_of(in->language, &s->job->options->run_options);
    autofree char **sources = NULL;
    scoped(buf) files = { 0 };
    autoclose int bundle_fd = -1;
    if (stages.n > 1 && (inputs_files(in, &files, e) ||
                         stage_sources(in->language, in->main_name, &files, &sources, e)))
        return -1;
    struct jar_request whole = whole_request(s->job, outputs, sources);
    if (prepare(s, &stages, &files, &whole, &bundle_fd, e))
        return -1;
    if (s->failed)
        return 0;
    return run_stage(s, STAGE_RUN, &whole, e) || report_unfit_product(s, e) ? -1 : 0;
}

/* Before the first byte of a guest. A run that nobody would explain needs no reader. */
static int start_reader(struct session *s, struct err *e)
{
    const struct run_arguments *o = s->job->options;
    bool needed = s->explains || o->json ||
                  report_expected(s->job->inputs->language, &o->run_options);
    return needed ? examiner_one_reader(&s->reader_fd, e) : 0;
}

static int serve(struct session *s, struct err *e)
{
    const struct run_keeper_job *job = s->job;
    autofree char **outputs = output_names(job);
    if (!outputs)
        return err_no_memory(e, "a run");
    int keep[6 + CACHE_FDS] = { job->warden->fd, job->inputs->bundle_fd, job->inputs->stdin_fd,
                                job->version_fd, job->handover_fd,       job->porter_fd };
    program_cache_fds(job->cache, keep + 6);
    home_seed_load(job->inputs->language);
    if (fd_keep_only(keep, ARRAY_LEN(keep), e) || privileges_drop(job->parent, job->uid, e) ||
        start_reader(s, e) || privileges_confine(ROLE_COMMAND_KEEPER, NULL, e) ||
        watch_signals(s, e))
        return -1;
    return run_stages(s, outputs, e);
}

/* Prints the result, and hands the output files over to main. */
static int print_result(struct session *s, const struct run_report *r, struct err *e)
{
    const struct run_keeper_job *job = s->job;
    if (job->options->json) {
        if (run_report_json(r, e))
            return -1;
    } else {
        if (r->found.profile)
            profile_view(r->found.profile);
        run_report_note(r);
        run_report_diagnosis(r);
    }
    if (!s->failed && fd_write_all(job->handover_fd, s->run.outputs.data, s->run.outputs.len))
        return err_set(e, ERR_KERNEL, errno, "hand over the output files");
    return 0;
}

/* The exit status, once the run is over and its result has been printed. */
static int conclude(struct session *s)
{
    struct err e = { 0 };
    struct run_report report = { .job = s->job,
                                 .run = &s->run,
                                 .verdict = jar_run_verdict(&s->run),
                                 .captured = s->captured,
                                 .prepared = s->was_prepared ? &s->prepared : NULL,
                                 .cached = s->cached,
                                 .failed = s->failed };
    /* A reader that has gone is not an error; a full disk is. */
    if (s->write_errno != 0 && s->write_errno != EPIPE) {
        (void)!err_set(&e, ERR_KERNEL, s->write_errno, "write the program's output");
        return cli_fail(&e);
    }
    if (s->failed && stage_result_is_failure(&s->prepared))
        report.verdict = VERDICT_COMPILE_ERROR;
    run_report_find(&report, fd_take(&s->reader_fd), s->failed ? NULL : &s->run.outputs);
    struct evidence ev = run_report_evidence(&report);
    int failed = print_result(s, &report, &e);
    run_report_done(&report);
    return failed ? cli_fail(&e) : verdict_exit_code(report.verdict, &ev);
}

int run_keeper_run(const struct run_keeper_job *job)
{
    autofree struct session *s = calloc(1, sizeof *s);
    struct err e = { 0 };
    if (!s)
        return err_exit_status(ERR_NO_MEMORY);
    s->job = job;
    s->source_fd = job->inputs->stdin_fd;
    s->reader_fd = -1;
    s->porter.fd = job->porter_fd;
    s->explains = diagnosis_view_wanted(job->options);
    s->run.stdin_fd = s->run.outputs_fd = -1;
    s->run.streams[RUN_STDOUT].fd = s->run.streams[RUN_STDERR].fd = -1;
    s->run.isolation = job->warden->isolation;
    s->run.limits = job->options->limits;
    if (serve(s, &e))
        return cli_fail(&e);
    int status = conclude(s);
    for (int i = 0; i < RUN_STREAMS; i++)
        buf_done(&s->captured[i]);
    stage_result_done(&s->prepared);
    jar_run_done(&s->run);
    fd_close(&s->signal_fd);
    fd_close(&s->reader_fd);
    porter_client_done(&s->porter);
    return status;
}
