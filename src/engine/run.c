/* One run of the service, from its jar to its record. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "engine/engine_impl.h"
#include "run/findings.h"
#include "run/json.h"
#include "run/reports.h"

void run_tell(struct live *l, enum run_event what)
{
    struct run_watch *next;
    l->notifying++;
    for (struct run_watch *w = l->watches; w; w = next) {
        next = w->next;
        w->news(w, &l->x, what);
    }
    l->notifying--;
}

/* ---- pipes ---- */

static int pipe_fd(const struct live *l, int which)
{
    const struct jar_run *r = &l->run;
    const int fds[PIPES] = { [PIPE_STDOUT] = r->streams[RUN_STDOUT].fd,
                             [PIPE_STDERR] = r->streams[RUN_STDERR].fd,
                             [PIPE_OUTPUTS] = r->outputs_fd,
                             [PIPE_STDIN] = r->stdin_fd };
    return fds[which];
}

static void on_poll_closed(uv_handle_t *handle)
{
    struct live *l = handle->data;
    l->open_polls--;
    if (l->closing && l->open_polls == 0)
        run_stages_closed(l);
    run_free_if_unused(l);
}

/* At once after the descriptor was closed: the number may be another's soon. */
static void stop_polling(struct live *l, int which)
{
    if (!l->polling[which])
        return;
    l->polling[which] = false;
    (void)uv_poll_stop(&l->polls[which]);
    uv_close((uv_handle_t *)&l->polls[which], on_poll_closed);
}

static void stop_polling_closed(struct live *l)
{
    for (int i = 0; i < PIPES; i++)
        if (pipe_fd(l, i) < 0)
            stop_polling(l, i);
}

static void blame_product(struct live *l)
{
    char said[sizeof l->run.end.err.text + 16];
    struct err e;
    if (l->program && preparation_did_not_fit(&l->run, said, sizeof said))
        (void)!journal_add(&l->x.journal, JOURNAL_STDERR, 0, said, strlen(said), &e);
}

static void check_over(struct live *l)
{
    stop_polling_closed(l);
    if (!l->in_jar || !jar_run_over(&l->run))
        return;
    if (stage_now(l) == STAGE_RUN) {
        blame_product(l);
        run_finish(l, jar_run_verdict(&l->run));
    } else {
        run_stages_over(l);
    }
}

/* Something of ours failed while it ran: its end is told as such. */
static void fail(struct live *l, const struct err *e)
{
    struct err ignored;
    if (l->error_text[0] == '\0')
        (void)snprintf(l->error_text, sizeof l->error_text, "%s", e->text);
    (void)!jar_run_cancel(&l->run, END_CANCEL, &ignored);
}

static ssize_t to_journal(void *context, enum run_stream stream, const char *bytes, size_t n)
{
    struct live *l = context;
    struct err e;
    uint64_t now = clock_us();
    uint64_t since = l->started_us && now > l->started_us ? now - l->started_us : 0;
    if (journal_add(&l->x.journal, stream == RUN_STDOUT ? JOURNAL_STDOUT : JOURNAL_STDERR, since,
                    bytes, n, &e))
        fail(l, &e);
    return (ssize_t)n;
}

/* What a compiler says is the run's to say only if it fails. */
static ssize_t to_said(void *context, enum run_stream stream, const char *bytes, size_t n)
{
    struct live *l = context;
    struct err e;
    if (buf_add(&l->said[stream], bytes, n, &e))
        fail(l, &e);
    return (ssize_t)n;
}

static void on_readable(uv_poll_t *handle, int status, int events);

static void read_on(struct live *l)
{
    for (int k = PIPE_STDOUT; k <= PIPE_STDERR; k++) {
        l->ripe[k] = l->ripe[k] || l->gathers[k];
        if (l->gathers[k] && l->polling[k])
            (void)uv_poll_start(&l->polls[k], UV_READABLE, on_readable);
        l->gathers[k] = false;
    }
}

static void on_pace(uv_timer_t *timer)
{
    struct engine *r = timer->data;
    r->pacing = false;
    for (unsigned i = 0; i < SLOTS; i++)
        if (r->slots[i])
            read_on(r->slots[i]);
}

/* A program that prints piece by piece, as Python does unbuffered, is read in larger steps: what it prints gathers in
 * the pipe for a moment. So an event is a line, not a word, and heads of records do not fill the journal. */
static void gather(struct live *l, int which)
{
    struct engine *r = l->x.runner;
    (void)uv_poll_stop(&l->polls[which]);
    l->gathers[which] = true;
    unsigned ms = l->x.journal.records < PACED_RECORDS ? PACE_MS : SLOW_PACE_MS;
    if (!r->pacing)
        (void)uv_timer_start(&r->pace, on_pace, ms, 0);
    r->pacing = true;
}

static void on_readable(uv_poll_t *handle, int status, int events)
{
    struct live *l = handle->data;
    int which = (int)(handle - l->polls);
    struct pollfd polls[JAR_RUN_POLLS] = { 0 };
    struct err e;
    (void)events;
    if (which != PIPE_OUTPUTS && !l->ripe[which] && !l->run.ended && status == 0) {
        gather(l, which);
        return;
    }
    uint64_t before = l->x.journal.bytes,
             seen = which != PIPE_OUTPUTS ? l->run.streams[which].seen : 0;
    /* the order of jar_run_polls(): the wire, stdout, stderr, outputs */
    polls[1 + which].revents = POLLIN;
    if (status < 0 || jar_run_ready(&l->run, polls, &e)) {
        if (status < 0)
            (void)!err_set(&e, ERR_KERNEL, -status, "read from the jar");
        fail(l, &e);
        stop_polling(l, which);
    }
    if (l->x.journal.bytes != before)
        run_tell(l, RUN_EVENT_OUTPUT);
    stop_polling_closed(l);
    if (which != PIPE_OUTPUTS && l->run.streams[which].seen - seen < PACED_BYTES)
        l->ripe[which] = false; /* it prints little at a time */
    check_over(l);
}

static void on_stdin_writable(uv_poll_t *handle, int status, int events)
{
    struct live *l = handle->data;
    (void)events;
    size_t left = l->stdin_bytes.len - l->stdin_from;
    ssize_t n = left ? write(l->run.stdin_fd, l->stdin_bytes.data + l->stdin_from, left) : 0;
    bool refused = status < 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    if (n > 0)
        l->stdin_from += (size_t)n;
    if (l->stdin_from < l->stdin_bytes.len && !refused)
        return;
    buf_done(&l->stdin_bytes);
    l->stdin_from = 0;
    if (l->stdin_eof || refused) { /* said all, or the program does not read any more */
        stop_polling(l, PIPE_STDIN);
        fd_close(&l->run.stdin_fd);
    } else {
        (void)uv_poll_stop(&l->polls[PIPE_STDIN]); /* until there is more */
    }
}

static int start_polling(struct live *l, int which, int events, uv_poll_cb callback, struct err *e)
{
    uv_poll_t *p = &l->polls[which];
    int rc = uv_poll_init(l->x.runner->loop, p, pipe_fd(l, which));
    if (rc < 0)
        return err_set(e, ERR_KERNEL, -rc, "watch a pipe of the jar");
    p->data = l;
    l->polling[which] = true;
    l->open_polls++;
    rc = uv_poll_start(p, events, callback);
    return rc < 0 ? err_set(e, ERR_KERNEL, -rc, "watch a pipe of the jar") : 0;
}

/* ---- start ---- */

static struct live **free_slot(struct engine *r)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        struct live **slot = &r->slots[(r->next_serial + i) % SLOTS];
        if (!*slot)
            return slot;
    }
    return NULL;
}

/* A root of its own, a list of commands or a profiler is not what embryos are made with. */
void run_choose_kind(struct live *l)
{
    const struct run_spec *s = &l->x.spec;
    l->kind = s->writable_root || s->options.allow_commands || s->options.profile
                  ? 0
                  : pools_kind_of(s->language, s->main_name, s->code, &s->bundle, s->env);
    l->kind = warm_within(l->kind, &s->limits);
    pools_link_asked_for(l->x.runner, l->kind);
}

/* Without pools every start is a cold one, also while what there was of them ends. */
static unsigned kind_to_ask_for(const struct live *l)
{
    const struct engine *r = l->x.runner;
    return r->isolation.level == LEVEL_PROCESS || r->pools.settings.max == 0 ? 0 : l->kind;
}

struct jar_request run_request(const struct live *l)
{
    const struct run_spec *s = &l->x.spec;
    return (struct jar_request){ .language = s->language,
                                 .main_name = s->main_name,
                                 .args = s->args,
                                 .env = s->env,
                                 .outputs = s->outputs,
                                 .limits = s->limits,
                                 .writable_root = s->writable_root,
                                 .options = &s->options,
                                 .kind = kind_to_ask_for(l) };
}

static int send_job(struct live *l, struct err *e)
{
    struct engine *r = l->x.runner;
    struct run_spec *s = &l->x.spec;
    struct live **slot = free_slot(r);
    autoclose int own_fd = -1;
    autofree char **sources = NULL;
    bool last = stage_now(l) == STAGE_RUN, made = last && l->program;
    if (!slot)
        return err_set(e, ERR_UNAVAILABLE, 0, "%d runs have a jar: wait for one to end", SLOTS);
    autofree char **outputs = report_outputs(s->language, &s->options, s->outputs);
    if (!outputs)
        return err_no_memory(e, "a run");
    if (!made && fd_sealed_memory("belljar-files", &s->bundle, &own_fd, e))
        return -1;
    struct jar_request whole = run_request(l);
    if (!last && stage_sources(s->language, s->main_name, &s->bundle, &sources, e))
        return -1;
    whole.sources = sources;
    whole.bundle_fd = made ? l->program->bundle_fd : own_fd;
    l->slot = (unsigned)(slot - r->slots);
    whole.id = ++r->next_serial * SLOTS + l->slot;
    whole.outputs = outputs;
    struct jar_request request = stage_request(stage_now(l), &whole);
    if (jar_run_start(&l->run, r->wire_fd, &r->isolation, &request, last ? to_journal : to_said, l,
                      e))
        return -1;
    *slot = l;
    l->in_jar = true;
    l->starting = true;
    r->starting++;
    return 0;
}

/* The program's stdin is the caller's; a compiler has none. */
static void start_stdin(struct live *l)
{
    struct err e;
    if (stage_now(l) != STAGE_RUN) {
        fd_close(&l->run.stdin_fd);
        return;
    }
    l->stdin_bytes = l->x.spec.stdin_bytes;
    l->x.spec.stdin_bytes = (struct buf){ 0 };
    l->stdin_eof = !l->x.spec.stdin_open;
    if (l->stdin_eof && l->stdin_bytes.len == 0)
        fd_close(&l->run.stdin_fd);
    else if (start_polling(l, PIPE_STDIN, UV_WRITABLE, on_stdin_writable, &e))
        fail(l, &e);
}

void run_start(struct live *l)
{
    struct err e = { 0 };
    if (send_job(l, &e)) {
        run_finish_early(l, VERDICT_INTERNAL_ERROR, e.text);
        return;
    }
    if (start_polling(l, PIPE_STDOUT, UV_READABLE, on_readable, &e) ||
        start_polling(l, PIPE_STDERR, UV_READABLE, on_readable, &e) ||
        start_polling(l, PIPE_OUTPUTS, UV_READABLE, on_readable, &e))
        fail(l, &e);
    start_stdin(l);
    if (stage_now(l) == STAGE_RUN && l->x.spec.bundle.len > SOURCES_KEPT_MAX)
        buf_done(&l->x.spec.bundle); /* the jar has it */
}

static void no_longer_starting(struct live *l)
{
    if (!l->starting)
        return;
    l->starting = false;
    l->x.runner->starting--;
}

void run_after_message(struct live *l)
{
    if (l->run.started)
        no_longer_starting(l);
    if (l->run.started && stage_now(l) == STAGE_RUN && l->x.started_at_ms == 0) {
        l->x.started_at_ms = (int64_t)l->run.started_at_ms;
        l->started_us = clock_us();
        l->x.runner->pools.starts[l->kind][l->run.start]++;
        run_tell(l, RUN_EVENT_STARTED);
    }
    if (l->run.ended)
        read_on(l); /* nothing gathers any more */
    check_over(l);
}

void run_lost(struct live *l)
{
    struct jar_run *r = &l->run;
    r->ended = true;
    r->end.evidence.reason = END_FAILURE;
    (void)snprintf(l->error_text, sizeof l->error_text,
                   "the run was lost: the process that held its jar died; send it again");
    run_finish(l, VERDICT_INTERNAL_ERROR);
}

/* ---- end ---- */

/* What the service knows beyond the result itself. */
static void add_service_fields(const struct live *l)
{
    const struct run *x = &l->x;
    json_t *o = x->result_json;
    json_put(o, "state", json_string(run_state_word(RUN_FINISHED)));
    json_put(o, "stdout_bytes", json_integer((json_int_t)x->journal.stream_bytes[JOURNAL_STDOUT]));
    json_put(o, "stderr_bytes", json_integer((json_int_t)x->journal.stream_bytes[JOURNAL_STDERR]));
    json_put(o, "timings",
             json_pack("{s:o, s:o, s:o, s:I}", "queued_at", result_time((uint64_t)x->queued_at_ms),
                       "started_at", result_time((uint64_t)x->started_at_ms), "finished_at",
                       result_time((uint64_t)x->finished_at_ms), "queued_ms",
                       (json_int_t)(l->waited_us / 1000)));
    json_put(o, "thread_id", json_text_or_null(x->spec.thread));
    json_put(o, "artifact_id", json_text_or_null(x->spec.artifact));
    json_put(o, "batch_id", json_text_or_null(x->spec.batch));
    (void)json_object_set(o, "metadata", x->spec.metadata ? x->spec.metadata : json_null());
    if (x->spec.taken)
        (void)json_object_set(o, "taken", x->spec.taken);
}

/* What a failed program printed, for explaining it; nothing of one that ended well. */
static void read_printed(const struct run *x, struct buf *out, struct buf *err)
{
    enum { STDOUT_SEEN = 64 << 10 };
    struct err e;
    if (x->result.verdict == VERDICT_OK)
        return;
    if (journal_both_ends(&x->journal, JOURNAL_STDERR, DIAGNOSE_TEXT_MAX, err, &e) ||
        journal_both_ends(&x->journal, JOURNAL_STDOUT, STDOUT_SEEN, out, &e))
        log_error(LOG_WARN, "diagnosis", &e);
}

static struct findings find_out(struct live *l)
{
    struct run *x = &l->x;
    scoped(buf) out = { 0 }, err = { 0 };
    read_printed(x, &out, &err);
    const struct findings_input in = {
        .diagnoser = x->runner->diagnoser,
        .language = x->spec.language,
        .main_name = x->spec.main_name,
        .sources = &x->spec.bundle,
        .code = x->spec.code,
        .out = &out,
        .err = &err,
        .compiling = x->result.verdict == VERDICT_COMPILE_ERROR,
        .result = &x->result,
        .options = &x->spec.options,
        .outputs = &x->files,
        .samples = l->samples,
    };
    return findings_make(&in);
}

/* What the program itself came to; a run that did not come to its program has neither usage nor start. */
static void add_run(struct live *l, struct result *result)
{
    const struct jar_run *run = &l->run;
    if (stage_now(l) != STAGE_RUN)
        return;
    result->usage = run->end.usage;
    result->start = run->started ? start_word(run->start) : NULL;
    for (int i = 0; i < RUN_STREAMS; i++)
        result->truncated[i] = run->streams[i].truncated;
}

/* How its compiler ended, if it came to that. */
static void add_compile(struct live *l, struct result *result)
{
    const struct program *p = l->program;
    if (!p)
        return;
    result->compile = preparation_json(&p->how, l->program_cached, p->key[0] ? p->key : NULL);
    if (result->verdict != VERDICT_COMPILE_ERROR)
        return;
    result->evidence = preparation_evidence(&p->how);
    for (int i = 0; i < RUN_STREAMS; i++)
        result->truncated[i] = p->how.truncated[i];
}

static void make_result(struct live *l, enum verdict verdict)
{
    struct run *x = &l->x;
    struct engine *r = x->runner;
    const struct jar_run *run = &l->run;
    if (l->error_text[0] == '\0' && verdict == VERDICT_INTERNAL_ERROR)
        (void)snprintf(l->error_text, sizeof l->error_text, "%s", run->end.err.text);
    x->result = (struct result){
        .id = x->id,
        .language = x->spec.language->name,
        .version = engine_version(r, x->spec.language),
        .verdict = verdict,
        .evidence = run->end.evidence,
        .limits = x->spec.limits,
        .isolation = run->isolation.level != LEVEL_AUTO ? run->isolation : r->isolation,
        .files = &x->files,
        .error = l->error_text[0] ? l->error_text : NULL,
        .started_at_ms = (uint64_t)x->started_at_ms,
    };
    add_run(l, &x->result);
    add_compile(l, &x->result);
    struct findings found = find_out(l);
    x->result.diagnosis = found.diagnosis;
    x->result.tables = found.tables;
    x->result.profile = found.profile;
    x->result_json = result_json(&x->result);
    json_decref(x->result.compile); /* they are in there */
    x->result.compile = x->result.diagnosis = x->result.tables = x->result.profile = NULL;
    findings_done(&found);
    add_service_fields(l);
    if (verdict == VERDICT_INTERNAL_ERROR && run->end.err.code != ERR_NONE)
        json_put(x->result_json, "error_code", json_string(err_name(run->end.err.code)));
}

/* The jar is gone; so are our ends of its pipes. */
void run_leave_jar(struct live *l)
{
    if (!l->in_jar)
        return;
    jar_run_done(&l->run);
    stop_polling_closed(l);
    no_longer_starting(l);
    l->x.runner->slots[l->slot] = NULL;
    l->in_jar = false;
}

/* The end, before a jar or after it: decides, records, tells. */
void run_finish(struct live *l, enum verdict verdict)
{
    struct run *x = &l->x;
    struct engine *r = x->runner;
    struct err e = { 0 };
    if (l->over)
        return;
    l->over = true;
    if (l->error_text[0]) /* our own failure, whatever the program did meanwhile */
        verdict = verdict == VERDICT_REJECTED ? verdict : VERDICT_INTERNAL_ERROR;
    if (l->in_jar && stage_now(l) == STAGE_RUN) {
        x->files = l->run.outputs;
        l->run.outputs = (struct buf){ 0 };
        l->samples = l->run.samples;
        l->run.samples = NULL;
    }
    run_leave_jar(l);
    run_stages_drop(l);
    queue_leave(r, l);
    x->finished_at_ms = clock_unix_ms();
    if (x->started_at_ms > 0 || verdict == VERDICT_COMPILE_ERROR)
        queue_note_time(r, (double)(clock_us() - l->begun_us) / 1000);
    make_result(l, verdict);
    if (journal_keep(&x->journal, x->id, &e)) {
        run_recorded(l, &e);
        engine_pump(r);
        return;
    }
    run_record_finish(l);
    engine_pump(r);
}

void run_finish_early(struct live *l, enum verdict verdict, const char *why)
{
    static const enum end_reason reasons[VERDICT_COUNT_] = {
        [VERDICT_CANCELLED] = END_CANCEL,
        [VERDICT_REJECTED] = END_CANCEL,
        [VERDICT_INTERNAL_ERROR] = END_FAILURE,
    };
    l->run.end.evidence.reason = reasons[verdict];
    if (why)
        (void)snprintf(l->error_text, sizeof l->error_text, "%s", why);
    run_finish(l, verdict);
}

/* For whoever watches it is over; in the history it stays as it is there. */
void run_abandon(struct live *l, const struct err *why)
{
    struct run *x = &l->x;
    if (l->held)
        x->runner->counts.held--;
    l->held = false;
    l->over = true;
    queue_leave(x->runner, l);
    x->record_err = *why;
    x->result.verdict = VERDICT_INTERNAL_ERROR; /* nobody is to take it for one that ended well */
    x->result.error = x->record_err.text;
    l->told_done = true;
    run_tell(l, RUN_EVENT_DONE);
    run_free_if_unused(l);
}

/* Nothing runs that the audit log does not have. */
void run_accepted(struct live *l, const struct err *e)
{
    struct engine *r = l->x.runner;
    l->recorded = e->code == ERR_NONE;
    if (l->over) { /* cancelled meanwhile: its end is on its way, or told */
        l->x.record_err = *e;
        run_free_if_unused(l);
        return;
    }
    if (!l->recorded) {
        run_abandon(l, e);
        return;
    }
    run_tell(l, RUN_EVENT_RECORDED);
    engine_pump(r);
}

void run_recorded(struct live *l, const struct err *e)
{
    struct run *x = &l->x;
    if (x->record_err.code == ERR_NONE) /* else there is no row to end, and that is why */
        x->record_err = *e;
    x->state = RUN_FINISHED;
    x->runner->counts.finished[x->result.verdict]++;
    log_event(LOG_INFO, "run.finished",
              "id=%s language=%s verdict=%s start=%s wall_ms=%.1f surface=%s", x->id,
              x->result.language, verdict_word(x->result.verdict),
              x->result.start ? x->result.start : "none", (double)x->result.usage.wall_us / 1000,
              x->spec.surface);
    l->told_done = true;
    run_tell(l, RUN_EVENT_DONE);
    run_free_if_unused(l);
}

void run_free_if_unused(struct live *l)
{
    struct engine *r = l->x.runner;
    if (!l->told_done || l->watches || l->notifying || l->jobs || l->open_polls)
        return;
    if (l->prev_alive)
        l->prev_alive->next_alive = l->next_alive;
    else
        r->alive = l->next_alive;
    if (l->next_alive)
        l->next_alive->prev_alive = l->prev_alive;
    run_spec_done(&l->x.spec);
    journal_done(&l->x.journal);
    free(l->samples);
    buf_done(&l->x.files);
    buf_done(&l->stdin_bytes);
    for (int i = 0; i < RUN_STREAMS; i++)
        buf_done(&l->said[i]);
    program_release(l->program);
    json_decref(l->x.result_json);
    free(l);
    engine_check_idle(r);
}

/* ---- what others ask of it ---- */

void run_watch_add(struct run *x, struct run_watch *w)
{
    struct live *l = (struct live *)x;
    w->next = l->watches;
    l->watches = w;
}

void run_watch_remove(struct run *x, struct run_watch *w)
{
    struct live *l = (struct live *)x;
    for (struct run_watch **at = &l->watches; *at; at = &(*at)->next) {
        if (*at == w) {
            *at = w->next;
            break;
        }
    }
    run_free_if_unused(l);
}

void run_release(struct run *x, struct run_spec *edited)
{
    struct live *l = (struct live *)x;
    struct engine *r = x->runner; /* which outlives it */
    struct err e;
    if (!l->held || l->over) {
        if (edited)
            run_spec_done(edited);
        return;
    }
    l->held = false;
    r->counts.held--;
    if (edited) {
        run_spec_done(&x->spec);
        x->spec = *edited;
        *edited = (struct run_spec){ 0 };
    }
    x->state = RUN_QUEUED;
    run_choose_kind(l);
    if (queue_push(r, l, &e))
        run_finish_early(l, VERDICT_INTERNAL_ERROR, e.text);
    engine_pump(r);
}

void run_reject(struct run *x, const char *reason)
{
    struct live *l = (struct live *)x;
    if (!l->held || l->over)
        return;
    l->held = false;
    x->runner->counts.held--;
    run_finish_early(l, VERDICT_REJECTED, reason);
}

void run_cancel(struct run *x)
{
    struct live *l = (struct live *)x;
    struct err e;
    if (l->over)
        return;
    if (l->held) {
        l->held = false;
        x->runner->counts.held--;
    }
    if (!l->in_jar) {
        run_finish_early(l, VERDICT_CANCELLED, NULL);
        return;
    }
    if (jar_run_cancel(&l->run, END_CANCEL, &e))
        fail(l, &e); /* the wire is lost, and its loss will end the run */
}

int run_stdin(struct run *x, const void *bytes, size_t n, bool eof, struct err *e)
{
    struct live *l = (struct live *)x;
    bool runs = l->in_jar && stage_now(l) == STAGE_RUN; /* else it waits for the program */
    if (l->over || l->stdin_eof || (runs && l->run.stdin_fd < 0) || !x->spec.stdin_open)
        return err_set(e, ERR_CONFLICT, 0,
                       l->over ? "the run is over"
                       : x->spec.stdin_open
                           ? "stdin is closed"
                           : "the run takes no more stdin: 'stdin_open' was not true");
    struct buf *waiting = runs ? &l->stdin_bytes : &x->spec.stdin_bytes;
    if (runs && l->stdin_from > 0) { /* what it has read is not kept */
        waiting->len -= l->stdin_from;
        memmove(waiting->data, waiting->data + l->stdin_from, waiting->len);
        l->stdin_from = 0;
    }
    if (waiting->len > STDIN_WAITING_MAX)
        return err_set(e, ERR_BUSY, 0, "the program has not read what was sent before");
    if (buf_add(waiting, bytes, n, e))
        return -1;
    if (eof && runs)
        l->stdin_eof = true;
    else if (eof)
        x->spec.stdin_open = false;
    if (runs && l->polling[PIPE_STDIN])
        (void)uv_poll_start(&l->polls[PIPE_STDIN], UV_WRITABLE, on_stdin_writable);
    return 0;
}
