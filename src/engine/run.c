#include "engine/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/strv.h"
#include "base/text.h"
#include "engine/engine_impl.h"
#include "run/reports.h"

/* The files of a run are kept until its end, for its diagnosis, if they are no larger than this. */
enum { SOURCES_KEPT_MAX = 1 << 20 };
enum { STDIN_WAITING_MAX = 1 << 20 }; /* bytes that the program has not read; more are refused */
/* Output is read this much later, unless the last read brought PACED_BYTES. After PACED_RECORDS
 * records the delay is longer. */
enum { PACED_BYTES = 4096, PACE_MS = 1, PACED_RECORDS = 4096, SLOW_PACE_MS = 10 };

static void finish_early(struct run *run, enum verdict verdict, const char *error);
static void on_accepted(struct run *run, const struct err *e);

/* ---- birth, watches and death ---- */

static void run_free_if_unused(struct run *run)
{
    struct engine *engine = run->engine;
    if (!run->is_done || run->watches || run->notifying || run->store_jobs || run->open_handles)
        return;
    if (run->prev_alive)
        run->prev_alive->next_alive = run->next_alive;
    else
        engine->alive = run->next_alive;
    if (run->next_alive)
        run->next_alive->prev_alive = run->prev_alive;
    run_spec_done(&run->spec);
    journal_done(&run->journal);
    free(run->samples);
    network_log_done(&run->network);
    free(run->network_advice);
    free(run->network_list);
    buf_done(&run->files);
    buf_done(&run->stdin_bytes);
    buf_done(&run->stdin_tail);
    buf_done(&run->compiled_files);
    buf_done(&run->run_only_files);
    for (int i = 0; i < RUN_STREAMS; i++)
        buf_done(&run->stage_output[i]);
    program_unref(run->program);
    json_decref(run->result_json);
    json_decref(run->host_fields);
    buf_done(&run->failure_text);
    buf_done(&run->told);
    json_decref(run->caller_results);
    free(run);
    engine_check_idle(engine);
}

static int add_tail(struct run *run, const void *bytes, size_t n, struct err *e)
{
    struct buf *tail = &run->stdin_tail;
    size_t skip = n > STDIN_TEXT_MAX ? n - STDIN_TEXT_MAX : 0;
    if (n == 0)
        return 0;
    if (buf_add(tail, (const char *)bytes + skip, n - skip, e))
        return -1;
    if (tail->len > STDIN_TEXT_MAX) {
        memmove(tail->data, tail->data + tail->len - STDIN_TEXT_MAX, STDIN_TEXT_MAX);
        tail->len = STDIN_TEXT_MAX;
    }
    return 0;
}

int run_new(struct engine *engine, struct run_spec *spec, unsigned flags, const char *id,
            struct run **ret, struct err *e)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run) {
        run_spec_done(spec);
        return err_no_memory(e, "a run");
    }
    run->engine = engine;
    run->spec_bytes = run_spec_bytes(spec);
    run->spec = *spec;
    *spec = (struct run_spec){ 0 };
    run->queued_at_ms = clock_unix_ms();
    run->unbounded = flags & SUBMIT_UNBOUNDED;
    run->awaits_decision = flags & SUBMIT_AWAITS_DECISION;
    run->is_recorded = flags & SUBMIT_STORED;
    run->state = run->awaits_decision ? RUN_WAITING : RUN_QUEUED;
    run->jar = JAR_RUN_NONE;
    journal_init(&run->journal, engine->dir_fd);
    if (id)
        (void)snprintf(run->id, sizeof run->id, "%s", id);
    else
        id_make("run_", run->id);
    run->next_alive = engine->alive;
    if (engine->alive)
        engine->alive->prev_alive = run;
    engine->alive = run;
    const struct buf *given = &run->spec.stdin_bytes;
    if ((run->spec.stdin_open && add_tail(run, given->data, given->len, e)) ||
        (!run->is_recorded && run_record_accepted(run, on_accepted, e))) {
        run->is_done = true;
        run_free_if_unused(run);
        return -1;
    }
    *ret = run;
    return 0;
}

void run_notify(struct run *run, enum run_event event)
{
    struct run_watch *next;
    run->notifying++;
    for (struct run_watch *w = run->watches; w; w = next) {
        next = w->next;
        w->on_event(w, run, event);
    }
    run->notifying--;
}

void run_watch_add(struct run *run, struct run_watch *w)
{
    w->next = run->watches;
    run->watches = w;
}

void run_watch_remove(struct run *run, struct run_watch *w)
{
    for (struct run_watch **at = &run->watches; *at; at = &(*at)->next) {
        if (*at == w) {
            *at = w->next;
            break;
        }
    }
    run_free_if_unused(run);
}

/* ---- until its turn ---- */

/* Embryos are not made with a writable root, an allow-list, a profiler or a debugger. */
static unsigned kind_that_fits(const struct run_spec *s)
{
    const struct run_options *o = &s->options;
    if (s->writable_root || o->allow_commands || o->profile || stage_is_debugged(s->language, o))
        return 0;
    if (s->options.display || s->host)
        return warm_within(warm_session_kind(s->language, s->env), &s->limits);
    return warm_within(pools_kind_of(s->language, s->main_name, s->code, &s->bundle, s->env),
                       &s->limits);
}

void run_enqueue(struct run *run)
{
    struct engine *engine = run->engine;
    struct err e;
    if (run->spec.host && !run->spec.host->takes_turns) {
        run->queued_us = clock_us();
        run->spec.host->on_queued(run->spec.host, run);
        return;
    }
    run->kind = kind_that_fits(&run->spec);
    pools_link_count_demand(engine, run->kind);
    if (queue_push(engine, run, &e))
        finish_early(run, VERDICT_INTERNAL_ERROR, e.text);
    engine_start_runs(engine);
}

/* The row of the run is in the history, or could not be written. */
static void on_accepted(struct run *run, const struct err *e)
{
    struct engine *engine = run->engine;
    run->is_recorded = e->code == ERR_NONE;
    if (run->is_over) { /* it was cancelled meanwhile */
        run->record_err = *e;
        run_free_if_unused(run);
        return;
    }
    if (!run->is_recorded) {
        run_abandon(run, e);
        return;
    }
    run_notify(run, RUN_EVENT_RECORDED);
    engine_start_runs(engine);
}

static void clear_decision(struct run *run)
{
    run->engine->counts.undecided -= run->awaits_decision;
    run->awaits_decision = false;
}

void run_release(struct run *run, struct run_spec *edited)
{
    if (!run->awaits_decision || run->is_over) {
        if (edited)
            run_spec_done(edited);
        return;
    }
    clear_decision(run);
    if (edited) {
        free(edited->template);
        free(edited->template_image);
        free(edited->template_key);
        edited->host = run->spec.host;
        edited->template = run->spec.template;
        edited->template_image = run->spec.template_image;
        edited->template_key = run->spec.template_key;
        run->spec.host = NULL;
        run->spec.template = run->spec.template_image = run->spec.template_key = NULL;
        run_spec_done(&run->spec);
        run->spec = *edited;
        *edited = (struct run_spec){ 0 };
    }
    run->state = RUN_QUEUED;
    run_enqueue(run);
}

void run_reject(struct run *run, const char *reason)
{
    if (!run->awaits_decision || run->is_over)
        return;
    clear_decision(run);
    finish_early(run, VERDICT_REJECTED, reason);
}

/* ---- the pipes of its jar ---- */

static int pipe_fd(const struct run *run, enum jar_pipe pipe)
{
    return pipe == PIPE_STDIN     ? run->jar.stdin_fd
           : pipe == PIPE_OUTPUTS ? run->jar.outputs_fd
                                  : run->jar.streams[pipe].fd;
}

/* The handles of a jar are used again for the jar of the next stage. */
static bool resume_if_closed(struct run *run)
{
    if (!run->awaits_close || run->open_handles > 0)
        return false;
    run->awaits_close = false;
    run_stages_set_resumable(run);
    engine_start_runs(run->engine);
    return true;
}

static void on_poll_closed(uv_handle_t *handle)
{
    struct run *run = handle->data;
    run->open_handles--;
    if (!resume_if_closed(run))
        run_free_if_unused(run);
}

static void stop_polling(struct run *run, enum jar_pipe pipe)
{
    if (!run->polling[pipe])
        return;
    run->polling[pipe] = false;
    (void)uv_poll_stop(&run->polls[pipe]);
    uv_close((uv_handle_t *)&run->polls[pipe], on_poll_closed);
}

/* At once after a descriptor was closed: another file may get its number soon. */
static void stop_polling_closed(struct run *run)
{
    for (int pipe = 0; pipe < JAR_PIPES; pipe++)
        if (pipe_fd(run, (enum jar_pipe)pipe) < 0)
            stop_polling(run, (enum jar_pipe)pipe);
}

static int start_polling(struct run *run, enum jar_pipe pipe, int events, uv_poll_cb callback,
                         struct err *e)
{
    uv_poll_t *p = &run->polls[pipe];
    int rc = uv_poll_init(run->engine->loop, p, pipe_fd(run, pipe));
    if (rc < 0)
        return err_set(e, ERR_KERNEL, -rc, "watch a pipe of the jar");
    p->data = run;
    run->polling[pipe] = true;
    run->open_handles++;
    rc = uv_poll_start(p, events, callback);
    return rc < 0 ? err_set(e, ERR_KERNEL, -rc, "watch a pipe of the jar") : 0;
}

/* We failed while the run has a jar: it ends as internal_error. */
void run_fail(struct run *run, const struct err *e)
{
    struct err ignored;
    if (run->error_text[0] == '\0')
        (void)snprintf(run->error_text, sizeof run->error_text, "%s", e->text);
    (void)!jar_run_cancel(&run->jar, END_CANCEL, &ignored);
}

static ssize_t add_to_journal(void *context, enum run_stream stream, const char *bytes, size_t n)
{
    struct run *run = context;
    struct err e;
    uint64_t now = clock_us();
    uint64_t since = run->started_us && now > run->started_us ? now - run->started_us : 0;
    if (journal_add(&run->journal, stream == RUN_STDOUT ? JOURNAL_STDOUT : JOURNAL_STDERR, since,
                    bytes, n, &e) ||
        (run->spec.n_stages > 0 && run_sequence_show(run, stream, bytes, n, &e)))
        run_fail(run, &e);
    return (ssize_t)n;
}

/* The output of a compiler is the output of the run only if the compiler fails. */
static ssize_t add_to_stage_output(void *context, enum run_stream stream, const char *bytes,
                                   size_t n)
{
    struct run *run = context;
    struct err e;
    if (buf_add(&run->stage_output[stream], bytes, n, &e))
        run_fail(run, &e);
    return (ssize_t)n;
}

static void on_readable(uv_poll_t *handle, int status, int events);

static void resume_reading(struct run *run)
{
    for (int i = 0; i < RUN_STREAMS; i++) {
        run->read_at_once[i] = run->read_at_once[i] || run->paused[i];
        if (run->paused[i] && run->polling[i])
            (void)uv_poll_start(&run->polls[i], UV_READABLE, on_readable);
        run->paused[i] = false;
    }
}

static void on_pace(uv_timer_t *timer)
{
    struct engine *engine = timer->data;
    engine->pacing = false;
    for (unsigned i = 0; i < SLOTS; i++)
        if (engine->slots[i].run)
            resume_reading(engine->slots[i].run);
}

/* A program that prints piece by piece, such as unbuffered Python, is read in larger steps: its
 * output collects in the pipe for a moment. So an event is a line and not a word, and the heads of
 * records do not fill the journal. */
static void pause_reading(struct run *run, enum jar_pipe pipe)
{
    struct engine *engine = run->engine;
    (void)uv_poll_stop(&run->polls[pipe]);
    run->paused[pipe] = true;
    unsigned ms = run->journal.records < PACED_RECORDS ? PACE_MS : SLOW_PACE_MS;
    if (!engine->pacing)
        (void)uv_timer_start(&engine->pace, on_pace, ms, 0);
    engine->pacing = true;
}

static void check_over(struct run *run);

static void on_readable(uv_poll_t *handle, int status, int events)
{
    struct run *run = handle->data;
    enum jar_pipe pipe = (enum jar_pipe)(handle - run->polls);
    bool is_stream = pipe != PIPE_OUTPUTS;
    struct err e;
    (void)events;
    if (is_stream && !run->read_at_once[pipe] && !run->jar.ended && status == 0) {
        pause_reading(run, pipe);
        return;
    }
    uint64_t journal_bytes = run->journal.bytes;
    uint64_t seen = is_stream ? run->jar.streams[pipe].seen : 0;
    if (status < 0 ? err_set(&e, ERR_KERNEL, -status, "read from the jar")
                   : jar_run_read(&run->jar, pipe, &e)) {
        run_fail(run, &e);
        stop_polling(run, pipe);
    }
    if (run->journal.bytes != journal_bytes)
        run_notify(run, RUN_EVENT_OUTPUT);
    stop_polling_closed(run);
    if (is_stream && run->jar.streams[pipe].seen - seen < PACED_BYTES)
        run->read_at_once[pipe] = false;
    check_over(run);
}

static void on_stdin_writable(uv_poll_t *handle, int status, int events)
{
    struct run *run = handle->data;
    (void)events;
    size_t left = run->stdin_bytes.len - run->stdin_from;
    ssize_t n = left ? write(run->jar.stdin_fd, run->stdin_bytes.data + run->stdin_from, left) : 0;
    bool refused = status < 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    if (n > 0)
        run->stdin_from += (size_t)n;
    if (run->stdin_from < run->stdin_bytes.len && !refused)
        return;
    buf_done(&run->stdin_bytes);
    run->stdin_from = 0;
    if (run->stdin_eof || refused) { /* all is written, or the program has closed its stdin */
        stop_polling(run, PIPE_STDIN);
        fd_close(&run->jar.stdin_fd);
    } else {
        (void)uv_poll_stop(&run->polls[PIPE_STDIN]); /* until there is more */
    }
}

static void start_stdin(struct run *run)
{
    struct err e;
    if (run_stage(run) != STAGE_RUN) { /* a compiler has no stdin */
        fd_close(&run->jar.stdin_fd);
        return;
    }
    scoped(buf) early = run->stdin_bytes;
    bool failed = false;
    run->stdin_bytes = (struct buf){ 0 };
    run->stdin_from = 0;
    if (run_sequence_is_last(run)) {
        run->stdin_bytes = run->spec.stdin_bytes;
        run->spec.stdin_bytes = (struct buf){ 0 };
    } else { /* each stage of a caller reads it from its begin */
        failed = buf_add(&run->stdin_bytes, run->spec.stdin_bytes.data, run->spec.stdin_bytes.len,
                         &e);
    }
    run->stdin_eof = run->stdin_eof || !run->spec.stdin_open;
    if (run->spec.n_stages == 0)
        failed = failed || (early.len > 0 && buf_add(&run->stdin_bytes, early.data, early.len, &e));
    if (!failed && run->stdin_eof && run->stdin_bytes.len == 0)
        fd_close(&run->jar.stdin_fd);
    else if (failed || start_polling(run, PIPE_STDIN, UV_WRITABLE, on_stdin_writable, &e))
        run_fail(run, &e);
}

int run_write_stdin(struct run *run, const void *bytes, size_t n, bool eof, struct err *e)
{
    /* The spec does not change: the thread that writes the row may be reading it. */
    bool runs = run->has_jar && run_stage(run) == STAGE_RUN;
    if (run->is_over || run->stdin_eof || (runs && run->jar.stdin_fd < 0) || !run->spec.stdin_open)
        return err_set(e, ERR_CONFLICT, 0,
                       run->is_over ? "the run is over: it takes no more stdin"
                       : run->spec.stdin_open
                           ? "stdin is closed: 'eof' was true, or the program closed it"
                           : "the run takes no more stdin: 'stdin_open' was not true");
    if (run->awaits_decision) /* the person who decides would not see it */
        return err_set(e, ERR_CONFLICT, 0,
                       "the run waits for a decision: send its stdin when it is approved");
    struct buf *waiting = &run->stdin_bytes;
    if (runs && run->stdin_from > 0) {
        waiting->len -= run->stdin_from;
        memmove(waiting->data, waiting->data + run->stdin_from, waiting->len);
        run->stdin_from = 0;
    }
    if (waiting->len > STDIN_WAITING_MAX)
        return err_set(
            e, ERR_BUSY, 0,
            "the program has not read the earlier bytes of its stdin: send these again later");
    if (add_tail(run, bytes, n, e) || buf_add(waiting, bytes, n, e))
        return -1;
    run->stdin_eof = eof;
    if (runs && run->polling[PIPE_STDIN])
        (void)uv_poll_start(&run->polls[PIPE_STDIN], UV_WRITABLE, on_stdin_writable);
    return 0;
}

/* ---- its jar ---- */

/* The place of its jar. The stages of a caller share one. */
static int take_slot(struct run *run, struct jar_request *q, struct err *e)
{
    struct slot *slot;
    if (q->is_next)
        return 0;
    if (engine_free_slot(run->engine, &slot, &q->id, e))
        return -1;
    run->slot = (unsigned)(slot - run->engine->slots);
    return 0;
}

static int send_job(struct run *run, struct err *e)
{
    struct engine *engine = run->engine;
    struct run_spec *s = &run->spec;
    autoclose int own_fd = -1;
    autofree char **sources = NULL;
    bool is_program = run_stage(run) == STAGE_RUN;
    autofree char **outputs = report_outputs(s->language, &s->options, s->outputs);
    if (!outputs)
        return err_no_memory(e, "a run");
    if (run_stages_bundle(run, &own_fd, e) ||
        (!is_program &&
         stage_sources(s->language, s->main_name, run_stages_files(run), &sources, e)))
        return -1;
    struct jar_request whole = run_jar_request(run);
    if (s->n_stages > 0)
        run_sequence_request(run, &whole);
    if (take_slot(run, &whole, e))
        return -1;
    whole.sources = sources;
    whole.outputs = outputs;
    whole.bundle_fd = own_fd >= 0 ? own_fd : run->program->bundle_fd;
    struct jar_request request = stage_request(run_stage(run), &whole);
    if (jar_run_start(&run->jar, engine->wire_fd, &engine->isolation, &request,
                      is_program ? add_to_journal : add_to_stage_output, run, e))
        return -1;
    engine->slots[run->slot].run = run;
    run->has_jar = true;
    run->jar_rests = false;
    run->jar_id = request.id;
    if (run->jar.network_open)
        porter_link_await(engine);
    run->is_starting = true;
    engine->starting++;
    return 0;
}

/* Sends the job of the current stage to the warden. If that fails, the run is over. */
static void enter_jar(struct run *run)
{
    struct err e = { 0 };
    if (send_job(run, &e)) {
        finish_early(run, VERDICT_INTERNAL_ERROR, e.text);
        return;
    }
    for (int pipe = PIPE_STDOUT; pipe <= PIPE_OUTPUTS; pipe++)
        if (start_polling(run, (enum jar_pipe)pipe, UV_READABLE, on_readable, &e)) {
            run_fail(run, &e);
            break;
        }
    start_stdin(run);
    if (run_stage(run) == STAGE_RUN && run->spec.bundle.len > SOURCES_KEPT_MAX &&
        run_sequence_is_last(run))
        buf_done(&run->spec.bundle); /* the jar has a copy */
}

static void stop_starting(struct run *run)
{
    run->engine->starting -= run->is_starting;
    run->is_starting = false;
}

/* The jar is gone, and so are our ends of its pipes. */
static void leave_jar(struct run *run)
{
    if (run->jar_rests)
        run_sequence_end_jar(run);
    if (!run->has_jar)
        return;
    jar_run_done(&run->jar);
    stop_polling_closed(run);
    stop_starting(run);
    run->engine->slots[run->slot].run = NULL;
    run->has_jar = false;
}

/* ---- its turn ---- */

static void follow(struct run *run, enum stages_step step, const struct err *e)
{
    switch (step) {
    case STAGES_WAIT:
        (void)resume_if_closed(run);
        break;
    case STAGES_ENTER_JAR:
        enter_jar(run);
        break;
    case STAGES_REFUSED:
        run_notify(run, RUN_EVENT_OUTPUT);
        run_finish(run, VERDICT_COMPILE_ERROR);
        break;
    case STAGES_ERROR:
        finish_early(run, VERDICT_INTERNAL_ERROR, e->text);
        break;
    }
}

void run_resume(struct run *run)
{
    struct err e = { 0 };
    follow(run, run_stages_advance(run, &e), &e);
}

void run_begin(struct run *run)
{
    run->begun_us = clock_us();
    if (run->spec.host) {
        run->spec.host->on_queued(run->spec.host, run);
        return;
    }
    run->stages = run->spec.n_stages > 0 ? (struct stages){ { STAGE_RUN }, 1 }
                                         : stages_of(run->spec.language, &run->spec.options);
    if (run_stage(run) == STAGE_RUN)
        enter_jar(run);
    else
        run_resume(run);
}

/* The jar of a stage before the program is gone. */
static void on_stage_jar_gone(struct run *run)
{
    struct err e = { 0 };
    scoped(stage_result) result = { 0 };
    scoped(buf) products = run->jar.outputs;
    stage_result_take(&result, run_stage(run), run->spec.language, &run->jar, run->stage_output);
    run->jar.outputs = (struct buf){ 0 };
    if (run->error_text[0] || (result.verdict != VERDICT_OK && !stage_result_is_failure(&result))) {
        run_finish(run, result.verdict); /* cancelled, or a failure of ours */
        return;
    }
    leave_jar(run);
    run->jar = JAR_RUN_NONE; /* the result of the run is not to show this stage */
    follow(run, run_stages_take_result(run, &result, &products, &e), &e);
}

static void explain_product_that_did_not_fit(struct run *run)
{
    char message[sizeof run->jar.end.err.text + 16];
    struct err e;
    if (run->program && stage_product_did_not_fit(&run->jar, message, sizeof message))
        (void)!journal_add(&run->journal, JOURNAL_STDERR, 0, message, strlen(message), &e);
}

static void check_over(struct run *run)
{
    stop_polling_closed(run);
    if (!run->has_jar || !jar_run_is_over(&run->jar))
        return;
    if (run_stage(run) != STAGE_RUN) {
        on_stage_jar_gone(run);
        return;
    }
    explain_product_that_did_not_fit(run);
    enum verdict verdict = jar_run_verdict(&run->jar);
    if (run->spec.n_stages > 0 && run_sequence_goes_on(run, &verdict)) {
        stop_starting(run);
        (void)resume_if_closed(run);
        return;
    }
    run_finish(run, verdict);
}

void run_count_start(struct run *run)
{
    run->engine->counts.started++;
    run->engine->counts.start_us += run->started_us - run->queued_us;
}

void run_on_wire_message(struct run *run)
{
    if (run->jar.started)
        stop_starting(run);
    if (run->jar.started && run_stage(run) == STAGE_RUN && run->started_at_ms == 0) {
        run->started_at_ms = (int64_t)run->jar.started_at_ms;
        run->started_us = clock_us();
        run->engine->pools.starts[run->kind][run->jar.start]++;
        run_count_start(run);
        run_notify(run, RUN_EVENT_STARTED);
    }
    if (run->jar.measured)
        run_take_measure(run);
    if (run->jar.ended)
        resume_reading(run); /* no more output will come */
    check_over(run);
}

void run_on_warden_lost(struct run *run)
{
    run->jar.ended = true;
    run->jar.end.evidence.reason = END_FAILURE;
    (void)snprintf(run->error_text, sizeof run->error_text,
                   "the run was lost: the process that held its jar died; send it again");
    run_finish(run, VERDICT_INTERNAL_ERROR);
}

void run_cancel(struct run *run)
{
    struct err e;
    if (run->aftermath)
        run->spec.aftermath->hurry(run->spec.aftermath, run);
    if (run->is_over)
        return;
    clear_decision(run);
    if (run->spec.host && run->state == RUN_RUNNING)
        run->spec.host->on_cancel(run->spec.host, run);
    else if (!run->has_jar)
        finish_early(run, VERDICT_CANCELLED, NULL);
    else if (jar_run_cancel(&run->jar, END_CANCEL, &e))
        run_fail(run, &e); /* the wire is lost, and its loss will end the run */
}

/* ---- its end ---- */

/* The record of the end is written, or cannot be. */
static void on_finished_recorded(struct run *run, const struct err *e)
{
    if (run->record_err.code == ERR_NONE) /* otherwise it has no row, for the earlier reason */
        run->record_err = *e;
    run->state = RUN_FINISHED;
    run->engine->counts.finished[run->result.verdict]++;
    log_event(LOG_INFO, "run.finished",
              "id=%s language=%s verdict=%s start=%s wall_ms=%.1f surface=%s", run->id,
              run->result.language, verdict_word(run->result.verdict),
              run->result.start ? run->result.start : "none",
              (double)run->result.usage.wall_us / 1000, run->spec.surface);
    run->is_done = true;
    run_notify(run, RUN_EVENT_DONE);
    run_free_if_unused(run);
}

/* The result is complete. Afterwards the run may be freed. A run that had a
 * turn gives it up only now: so the runs whose output is being read are bounded like all others. */
static void record(struct run *run)
{
    struct engine *engine = run->engine;
    struct err e = { 0 };
    queue_remove(engine, run);
    if (journal_keep(&run->journal, run->id, &e))
        on_finished_recorded(run, &e);
    else
        run_record_finished(run, on_finished_recorded);
    engine_start_runs(engine);
}

/* The end of every run, with or without a jar. Afterwards the run may be freed. */
void run_finish(struct run *run, enum verdict verdict)
{
    struct engine *engine = run->engine;
    if (run->is_over)
        return;
    run->is_over = true;
    if (run->error_text[0] && verdict != VERDICT_REJECTED) /* our own failure outweighs the rest */
        verdict = VERDICT_INTERNAL_ERROR;
    if (run->has_jar && run_stage(run) == STAGE_RUN) {
        run->files = run->jar.outputs;
        run->jar.outputs = (struct buf){ 0 };
        run->samples = run->jar.samples;
        run->jar.samples = NULL;
        run->network = run->jar.network;
        run->jar.network = (struct network_log){ 0 };
    }
    leave_jar(run);
    if (run->stages.n > 1 || run->spec.n_stages > 0)
        run_stages_cancel(run);
    if (run->state == RUN_QUEUED)
        queue_remove(engine, run);
    run->finished_at_ms = clock_unix_ms();
    if (!run->spec.host && (run->started_at_ms > 0 || verdict == VERDICT_COMPILE_ERROR))
        queue_note_duration(engine, (double)(clock_us() - run->begun_us) / 1000);
    run_make_result(run, verdict);
    run_find(run, record);
}

/* The end of a run without a jar. */
static void finish_early(struct run *run, enum verdict verdict, const char *error)
{
    run->jar.end.evidence.reason = verdict == VERDICT_INTERNAL_ERROR ? END_FAILURE : END_CANCEL;
    if (error)
        (void)snprintf(run->error_text, sizeof run->error_text, "%s", error);
    run_finish(run, verdict);
}

void run_fail_waiting(struct run *run, const char *why)
{
    finish_early(run, VERDICT_INTERNAL_ERROR, why);
}

void run_abandon(struct run *run, const struct err *why)
{
    clear_decision(run);
    run->is_over = true;
    queue_remove(run->engine, run);
    run->record_err = *why;
    run->result.verdict = VERDICT_INTERNAL_ERROR; /* so that it does not look like a success */
    run->result.error = text_hide_paths(why->text, run->error_text, sizeof run->error_text);
    run->is_done = true;
    run_notify(run, RUN_EVENT_DONE);
    run_free_if_unused(run);
}
