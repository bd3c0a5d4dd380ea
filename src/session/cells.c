/* The line of cells of a session, and the frames of the cell that runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/log.h"
#include "run/json.h"
#include "session/events.h"
#include "session/session_impl.h"

static const char stuck[] = "its keeper ran out of memory";

/* ---- the line ---- */

/* The first cell that is not over. The ones before it wait for their records. */
static struct cell *head(const struct session *s)
{
    struct cell *c = s->first;
    while (c && c->run && c->run->is_over)
        c = c->next;
    return c;
}

struct cell *session_current(const struct session *s)
{
    struct cell *c = head(s);
    return c && c->begun ? c : NULL;
}

struct cell *session_cell(const struct session *s, unsigned number)
{
    for (struct cell *c = s->first; c; c = c->next)
        if (c->number == number)
            return c;
    return NULL;
}

static void unlink_cell(struct cell *c)
{
    struct session *s = c->session;
    struct cell *before = NULL;
    for (struct cell *at = s->first; at != c; at = at->next)
        before = at;
    *(before ? &before->next : &s->first) = c->next;
    if (s->last == c)
        s->last = before;
}

void cell_drop(struct cell *c)
{
    struct session *s = c->session;
    unlink_cell(c);
    json_decref(c->notes);
    free(c->options);
    free(c);
    session_unref(s);
}

static void on_run_event(struct run_watch *w, struct run *run, enum run_event event)
{
    struct cell *c = (struct cell *)w;
    struct session *s = c->session;
    if (event == RUN_EVENT_RECORDED)
        cells_advance(s);
    if (event != RUN_EVENT_DONE)
        return;
    run_watch_remove(run, w);
    s->refs++;
    cell_drop(c);
    cells_advance(s);
    session_on_line_empty(s);
    session_unref(s);
}

void session_end_of_run(struct run *run, const char *reason)
{
    for (struct run_watch *w = run->watches; w; w = w->next) {
        if (w->on_event == on_run_event) {
            session_end(((struct cell *)w)->session, reason);
            return;
        }
    }
}

int cell_new(struct session *s, bool silent, struct cell **ret, struct err *e)
{
    struct cell *c = calloc(1, sizeof *c);
    if (!c || !(c->notes = json_array())) {
        free(c);
        return err_no_memory(e, "a cell");
    }
    c->watch.on_event = on_run_event;
    c->session = s;
    c->silent = silent;
    c->number = ++s->cells;
    s->all->cells++;
    *(s->last ? &s->last->next : &s->first) = c;
    s->last = c;
    s->refs++;
    *ret = c;
    return 0;
}

void cell_set_run(struct cell *c, struct run *run)
{
    c->run = run;
}

static struct cell *cell_of_run(const struct session *s, const struct run *run)
{
    for (struct cell *c = s->first; c; c = c->next)
        if (c->run == run)
            return c;
    return NULL;
}

void cells_on_queued(struct run_host *h, struct run *run)
{
    struct session *s = (struct session *)((char *)h - offsetof(struct session, host));
    struct cell *c = cell_of_run(s, run);
    /* During its submission the cell does not know its run yet: it is the last one. */
    if (!c)
        c = s->last;
    c->run = run;
    c->queued = true;
    cells_advance(s);
}

void cells_on_cancel(struct run_host *h, struct run *run)
{
    struct session *s = (struct session *)((char *)h - offsetof(struct session, host));
    struct err e;
    const struct cell *c = session_current(s);
    if (c && c->run == run && program_interrupt(s->program, &e))
        log_error(LOG_WARN, "session.interrupt", &e);
}

/* ---- one cell ---- */

void cell_note(struct cell *c, const char *text)
{
    if (c->session->for_one_run) /* notes are about the session, which nobody sees */
        return;
    (void)json_array_append_new(c->notes, json_string(text));
}

int cell_send_code(struct cell *c, struct err *e)
{
    scoped(buf) fields = { 0 };
    const char *code = c->run->spec.code;
    return frame_add_field(&fields, TAG_CODE, code, strlen(code), e) ||
                   (c->silent && frame_add_field(&fields, TAG_FLAGS, "silent", 6, e)) ||
                   (c->options &&
                    frame_add_field(&fields, TAG_JSON, c->options, strlen(c->options), e)) ||
                   program_send(c->session->program, FRAME_EXEC, c->number, &fields, e)
               ? -1
               : 0;
}

static void fill_fields(struct cell *c, const char *status)
{
    struct run *run = c->run;
    json_decref(run->host_fields);
    if (c->session->for_one_run)
        run->host_fields = json_pack("{s:s, s:s?}", "template", c->session->spec.template,
                                     "template_key", run->spec.template_key);
    else
        run->host_fields = json_pack("{s:s, s:i, s:s, s:O}", "session", c->session->id, "cell",
                                     (int)c->number, "status", status, "notes", c->notes);
    for (int i = 0; i < RUN_STREAMS; i++)
        run->jar.streams[i].truncated = c->truncated[i];
}

/* The end of a cell. Its watch removes it from the line. */
static void end_cell(struct cell *c, const char *status, const struct wire_ended *end,
                     const char *error)
{
    struct session *s = c->session;
    fill_fields(c, status);
    c->begun = false;
    c->queued = false;
    s->used_ms = clock_unix_ms();
    if (s->state == SESSION_BUSY)
        session_set_state(s, SESSION_IDLE);
    run_end_in_host(c->run, end, error);
}

/* Before the program gets the cell: a next keeper finds every cell that the program has. */
static void begin_file(const struct cell *c)
{
    const struct run *run = c->run;
    struct cell_file_head head = { .number = c->number,
                                   .reads_stdin = c->reads_stdin,
                                   .started_ms = run->started_at_ms,
                                   .started_us = c->started_us };
    (void)snprintf(head.run, sizeof head.run, "%s", run->id);
    (void)snprintf(head.actor, sizeof head.actor, "%s", run->spec.actor ? run->spec.actor : "");
    (void)snprintf(head.requester, sizeof head.requester, "%s",
                   run->spec.requester ? run->spec.requester : "");
    cell_file_begin(&c->session->file, &head);
}

static void begin(struct cell *c)
{
    struct session *s = c->session;
    struct err e = { 0 };
    c->begun = true;
    c->started_us = clock_us();
    s->at_cell = c->number;
    session_set_state(s, SESSION_BUSY);
    run_begin_in_host(c->run);
    begin_file(c);
    network_begin_cell(c);
    if (program_arm(s->program, c->number, &s->spec.cell_limits, c->wall_ms, &e) == 0 &&
        run_inputs_send(c, &e) == 0)
        return;
    struct wire_ended end = { .evidence.reason = END_FAILURE, .err = e };
    struct err ignored;
    if (s->program && s->program->armed)
        (void)!program_disarm(s->program, &ignored); /* a lost wire ends the session */
    end_cell(c, "lost", &end, e.text);
}

void cells_advance(struct session *s)
{
    struct cell *c = head(s);
    if (c && s->state == SESSION_SLEEPING)
        session_wake_for_cells(s);
    if (s->state == SESSION_IDLE && !s->question && !s->held && c && c->queued && !c->begun &&
        c->run->is_recorded && !network_delays_cell(c) && !checkpoint_delays_cell(c) &&
        !run_inputs_delay_cell(c))
        begin(c);
}

/* The words of the program, and the facts of the warden. */
static const struct {
    const char *word;
    struct evidence evidence;
} ends[] = {
    { "ok", { .reason = END_EXIT } },
    { "error", { .reason = END_EXIT, .exit_code = 1 } },
    { "interrupted", { .reason = END_CANCEL } },
};

static struct evidence evidence_of(const struct cell *c, enum cell_interrupt interrupted)
{
    struct evidence ev = { .reason = END_EXIT, .exit_code = 1 };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(ends[i].word, c->status) == 0)
            ev = ends[i].evidence;
    if (c->exits)
        ev.exit_code = c->exit_code;
    if (c->truncated[RUN_STDOUT] || c->truncated[RUN_STDERR]) {
        ev = (struct evidence){ .reason = END_OUTPUT, .hits = LIMIT_BIT(LIMIT_OUTPUT) };
    } else if (interrupted == CELL_WALL || interrupted == CELL_CPU) {
        bool wall = interrupted == CELL_WALL;
        /* A program that caught the interruption and went on has ended well, though late. */
        ev.hits |= LIMIT_BIT(wall ? LIMIT_WALL_MS : LIMIT_CPU_MS);
        if (ev.reason == END_CANCEL)
            ev.reason = wall ? END_WALL : END_CPU;
    }
    return ev;
}

static struct usage usage_of(const struct cell *c, const struct cell_usage *u)
{
    return (struct usage){ .wall_us = clock_us() - c->started_us,
                           .cpu_us = u->cpu_us,
                           .memory_peak_bytes = u->memory_peak_bytes,
                           .pids_peak = u->pids };
}

void cells_on_measured(struct session *s, const struct cell_usage *usage)
{
    struct cell *c = session_current(s);
    if (!c || !c->disarmed || usage->number != c->number || network_delays_end(c, usage))
        return;
    struct wire_ended end = { .evidence = evidence_of(c, usage->interrupted),
                              .usage = usage_of(c, usage) };
    s->memory_bytes = usage->memory_bytes;
    session_images_measured(s);
    if (usage->oom_kills > 0) {
        end.evidence.hits |= LIMIT_BIT(LIMIT_MEMORY);
        cell_note(c,
                  "memory ran out, and the kernel ended a process of the session; the program of "
                  "the session and its variables are still there");
    }
    bool late = end.evidence.reason == END_WALL || end.evidence.reason == END_CPU;
    const char *status = late ? "timeout" : c->status;
    if (late)
        cell_note(c, "the cell reached its time limit and was interrupted; the session lives on, "
                     "with its variables");
    if (end.evidence.reason == END_OUTPUT)
        cell_note(c, "the cell printed more than its limit: the rest was dropped, and the cell was "
                     "interrupted; the session lives on");
    s->refs++;
    end_cell(c, status, &end, NULL);
    cells_advance(s);
    session_unref(s);
}

void cells_lose(struct session *s, const struct wire_ended *end, const char *why)
{
    struct cell *next;
    s->refs++;
    for (struct cell *c = s->first; c; c = next) {
        struct wire_ended lost = *end;
        bool begun = c->begun;
        next = c->next;
        if (!c->run || c->run->is_over)
            continue;
        if (!begun && !s->for_one_run) { /* it never ran: also if it waits for an approval */
            fill_fields(c, "lost");
            cell_note(c, why);
            run_cancel(c->run);
            continue;
        }
        cell_note(c, why);
        if (lost.evidence.reason == END_EXIT && !s->for_one_run)
            lost.evidence.exit_code = lost.evidence.exit_code ? lost.evidence.exit_code : 1;
        lost.usage.wall_us = begun ? clock_us() - c->started_us : 0;
        end_cell(c, "lost", &lost, end->evidence.reason == END_FAILURE ? why : NULL);
    }
    session_unref(s);
}

/* ---- output ---- */

static void drop_output(struct session *s, struct cell *c, enum run_stream stream)
{
    struct err e;
    if (!c->truncated[stream] && program_interrupt(s->program, &e))
        log_error(LOG_WARN, "session.interrupt", &e);
    c->truncated[stream] = true;
}

static enum journal_kind kind_of(enum run_stream stream)
{
    return stream == RUN_STDOUT ? JOURNAL_STDOUT : JOURNAL_STDERR;
}

/* Returns the number of bytes that are kept. */
static size_t take_output(struct session *s, struct cell *c, enum run_stream stream,
                          const char *bytes, size_t n)
{
    struct err e;
    uint64_t most = s->spec.cell_limits.v[LIMIT_OUTPUT];
    uint64_t room = most - (c->stream_bytes[stream] < most ? c->stream_bytes[stream] : most);
    size_t kept = n < room ? n : (size_t)room;
    if (kept > 0 &&
        run_add_output(c->run, kind_of(stream), clock_us() - c->started_us, bytes, kept, &e)) {
        log_error(LOG_ERROR, "session.output", &e);
        kept = 0;
    }
    c->stream_bytes[stream] += n;
    if (kept > 0)
        run_notify_output(c->run);
    if (kept < n)
        drop_output(s, c, stream);
    return kept;
}

void cells_on_output(struct session *s, enum run_stream stream, const char *bytes, size_t n)
{
    struct cell *c = session_current(s);
    if (c) /* otherwise a thread or a process of an earlier cell prints: nobody asked for it */
        (void)take_output(s, c, stream, bytes, n);
}

ssize_t cells_splice(struct session *s, enum run_stream stream, int pipe_fd,
                     char bytes[CELL_FILE_PIECE])
{
    struct cell *c = session_current(s);
    ssize_t n = cell_file_splice(&s->file, kind_of(stream), clock_us() - c->started_us, pipe_fd,
                                 bytes);
    if (n <= 0)
        return n;
    size_t kept = take_output(s, c, stream, bytes, (size_t)n);
    if (kept < (size_t)n)
        cell_file_cut(&s->file, (size_t)n, kept);
    return n;
}

/* ---- frames ---- */

static int journal_frame(struct cell *c, const void *packet, size_t n, struct err *e)
{
    struct session *s = c->session;
    uint64_t at = s->replaying ? c->replayed_us : clock_us() - c->started_us;
    if (run_add_output(c->run, JOURNAL_FRAME, at, packet, n, e))
        return -1;
    if (!s->replaying)
        cell_file_add(&s->file, JOURNAL_FRAME, at, packet, n);
    return 0;
}

/* Marks the place where the first display was dropped. */
static int mark_cut(struct cell *c, struct err *e)
{
    char text[160], head[FRAME_HEAD];
    scoped(buf) packet = { 0 }, fields = { 0 };
    struct session_frame f = { .request = c->number, .type = FRAME_CUT };
    if (c->displays_cut)
        return 0;
    c->displays_cut = true;
    (void)snprintf(
        text, sizeof text,
        "further displays of this cell were dropped: up to %d of together %d MiB are kept",
        CELL_DISPLAYS_MAX, CELL_DISPLAY_BYTES_MAX >> 20);
    frame_write_head(head, &f);
    cell_note(c, text);
    return buf_add(&packet, head, sizeof head, e) ||
                   frame_add_field(&packet, TAG_TEXT, text, strlen(text), e) ||
                   journal_frame(c, packet.data, packet.len, e)
               ? -1
               : 0;
}

enum { KEPT_DISPLAYS, KEPT_RESULTS, KEPT_REST };

static int kept_as(uint16_t type)
{
    bool display = type == FRAME_DISPLAY || type == FRAME_UPDATE || type == FRAME_CLEAR;
    bool result = type == FRAME_RESULT || type == FRAME_NOTE;
    return display ? KEPT_DISPLAYS : result ? KEPT_RESULTS : KEPT_REST;
}

/* 1: the frame is kept, 0: it is dropped, -1: the program sends too many errors and prompts, which
 * cannot be dropped. Every kind has a bound, because the answer of the cell has them all. */
static int take_room(struct cell *c, const struct session_frame *f, bool begins, struct err *e)
{
    int kind = kept_as(f->type);
    c->kept[kind].messages += begins;
    c->kept[kind].bytes += f->n;
    bool fits = c->kept[kind].bytes <= CELL_DISPLAY_BYTES_MAX;
    if (kind == KEPT_REST)
        return fits ? 1
                    : err_set(e, ERR_PROTOCOL, 0,
                              "one cell sent more than %d MiB of errors and prompts",
                              CELL_DISPLAY_BYTES_MAX >> 20);
    return fits && c->kept[kind].messages <= CELL_DISPLAYS_MAX;
}

/* A run from a template ends as a program does: SystemExit is its exit code, and every other error
 * is on stderr. */
static void take_error_of_run(struct cell *c, const struct frame_message *m)
{
    struct frame_field name, message, trace;
    char number[16], *end;
    bool exits = frame_find_field(&m->data, TAG_NAME, &name) &&
                 (frame_field_is(&name, "SystemExit") || frame_field_is(&name, "exit status")) &&
                 frame_find_field(&m->data, TAG_MESSAGE, &message);
    if (exits) {
        (void)snprintf(number, sizeof number, "%.*s", (int)message.n, message.bytes);
        long code = strtol(number, &end, 10);
        c->exits = *end == '\0';
        c->exit_code = (int)((unsigned long)code & 0xff);
        if (c->exits)
            return;
    }
    if (!exits && !frame_find_field(&m->data, TAG_TRACEBACK, &trace))
        return;
    const struct frame_field *text = exits ? &message : &trace;
    (void)take_output(c->session, c, RUN_STDERR, text->bytes, text->n);
    (void)take_output(c->session, c, RUN_STDERR, "\n", 1);
}

static void take_error(struct cell *c, const struct frame_message *m)
{
    if (c->session->for_one_run)
        take_error_of_run(c, m);
    /* The exit status of a shell explains nothing. Its messages are on stderr. */
    if (!c->session->spec.language->shell)
        frame_keep_field(&m->data, TAG_TRACEBACK, &c->run->failure_text);
    frame_keep_field(&m->data, TAG_VALUES, &c->run->told);
}

static void set_awaits_input(struct cell *c, bool awaits)
{
    c->awaits_input = awaits;
    if (!c->session->replaying)
        cell_file_set_awaits_input(&c->session->file, awaits);
}

static int take_done(struct session *s, struct cell *c, const struct frame_message *m,
                     struct err *e)
{
    struct frame_field f;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (frame_find_field(&m->data, TAG_STATUS, &f) && frame_field_is(&f, ends[i].word))
            (void)snprintf(c->status, sizeof c->status, "%s", ends[i].word);
    if (c->status[0] == '\0')
        return err_set(e, ERR_PROTOCOL, 0, "the status of a cell is unknown");
    if (!c->silent && !s->for_one_run) /* a silent cell shares its number with another one */
        c->run->cell = frame_number(&m->data, TAG_COUNT);
    c->awaits_input = false;
    c->disarmed = true;
    struct err failed = { 0 };
    if (program_disarm(s->program, &failed)) {
        struct cell_usage none = { .number = c->number };
        cells_on_measured(s, &none);
    }
    return 0;
}

/* The next line of the stdin of the run, without its newline. NULL: there is none. */
static const char *next_line(struct cell *c, size_t *ret_n)
{
    const struct buf *given = &c->run->spec.stdin_bytes;
    const char *line = buf_str(given) + c->stdin_from;
    size_t left = given->len - c->stdin_from;
    const char *end = memchr(line, '\n', left);
    *ret_n = end ? (size_t)(end - line) : left;
    c->stdin_from += *ret_n + (end ? 1 : 0);
    return left ? line : NULL;
}

static int answer_with_stdin(struct session *s, struct cell *c, struct err *e)
{
    size_t n;
    const char *line = next_line(c, &n);
    return session_input(s, line, n, !line, e);
}

static int take_input_request(struct session *s, struct cell *c, struct err *e)
{
    size_t n;
    if (s->replaying && c->awaits_input) /* the request before this one was answered */
        (void)next_line(c, &n);
    set_awaits_input(c, true);
    return c->reads_stdin && !s->replaying ? answer_with_stdin(s, c, e) : 0;
}

/* Every frame that a program may send in the time of its cell counts. */
static int count_frame(struct cell *c, size_t n, struct err *e)
{
    c->frames++;
    c->frame_bytes += n;
    return c->frames > CELL_FRAMES_MAX || c->frame_bytes > CELL_FRAME_BYTES_MAX
               ? err_set(e, ERR_PROTOCOL, 0, "one cell sent more than %d frames or %d MiB",
                         CELL_FRAMES_MAX, CELL_FRAME_BYTES_MAX >> 20)
               : 0;
}

/* A frame of the cell that runs. */
static int cell_frame(struct session *s, struct cell *c, const struct session_frame *f,
                      const void *packet, size_t n, struct err *e)
{
    struct frame_message *m = &s->program->message;
    bool whole = false, begins = !m->open;
    if (count_frame(c, n, e))
        return -1;
    if (f->type == FRAME_ANSWER)
        return err_set(e, ERR_PROTOCOL, 0, "an answer without a question");
    if (frame_message_add(m, f, &whole, e))
        return -1;
    int kept = take_room(c, f, begins, e);
    if (kept <= 0)
        return kept < 0 ? -1 : mark_cut(c, e);
    if (journal_frame(c, packet, n, e))
        return err_set(e, ERR_NO_MEMORY, 0, "%s", stuck);
    if (!whole)
        return 0;
    if (f->type == FRAME_ERROR)
        take_error(c, m);
    if (f->type == FRAME_DISPLAY || f->type == FRAME_RESULT)
        run_show_table(c, m);
    if (f->type == FRAME_INPUT_REQUEST && take_input_request(s, c, e))
        return -1;
    if (f->type == FRAME_DONE)
        return take_done(s, c, m, e);
    run_notify_output(c->run);
    return 0;
}

/* ---- questions ---- */

static void answer(struct session *s, json_t *json, const struct err *e)
{
    struct session_question *q = s->question;
    struct err ignored;
    s->question = NULL;
    s->question_by_ms = 0;
    (void)!program_disarm(s->program, &ignored); /* a lost wire ends the session */
    if (s->state == SESSION_BUSY && !s->held)
        session_set_state(s, SESSION_IDLE);
    if (q->on_answer)
        q->on_answer(q, json, e);
    else
        free(q);
    json_decref(json);
}

static int question_frame(struct session *s, const struct session_frame *f, struct err *e)
{
    struct frame_message *m = &s->program->message;
    struct frame_field field;
    struct err none = { 0 };
    bool whole = false;
    if (frame_message_add(m, f, &whole, e))
        return -1;
    if (!whole)
        return 0;
    if (f->type == FRAME_ANSWER && frame_find_field(&m->data, TAG_JSON, &field)) {
        json_decref(s->question->answer);
        size_t room = GUEST_VALUES_MAX;
        s->question->answer = guest_json(field.bytes, field.n, &room);
    }
    if (f->type != FRAME_DONE)
        return 0;
    json_t *json = s->question->answer;
    s->question->answer = NULL;
    if (!json)
        (void)!err_set(&none, ERR_UNAVAILABLE, 0,
                       "the program of the session gave no answer; after %d s, or by a client, a "
                       "question is interrupted, and the session lives on",
                       QUESTION_MS / 1000);
    s->refs++;
    answer(s, json, json ? NULL : &none);
    cells_advance(s);
    session_on_line_empty(s);
    session_unref(s);
    return 0;
}

int session_ask(struct session *s, struct session_question *q, uint16_t type,
                const struct buf *fields, struct err *e)
{
    uint64_t most_ms = s->all->limits.cell_max.v[LIMIT_WALL_MS];
    const struct cell *current = session_current(s);
    if (current)
        return err_set(e, ERR_CONFLICT, 0,
                       "cell %u runs, and the session answers questions between cells: ask again "
                       "when it is over, or interrupt it",
                       current->number);
    if (session_check_held(s, e) || (!q->is_of_branches && session_check_branch(s, e)))
        return -1;
    if (s->state != SESSION_IDLE || s->question)
        return err_set(e, ERR_CONFLICT, 0, "the session is %s: ask again in a moment",
                       s->question ? "busy with another question" : session_state_word(s->state));
    q->request = QUESTION_REQUESTS + s->program->out_seq + 1;
    if (program_arm(s->program, q->request, &s->spec.cell_limits,
                    most_ms < QUESTION_MS ? most_ms : QUESTION_MS, e))
        return -1;
    if (q->n_fds ? program_send_fds(s->program, type, q->request, fields, q->fds, q->n_fds, e)
                 : program_send(s->program, type, q->request, fields, e)) {
        struct err ignored;
        (void)!program_disarm(s->program, &ignored);
        return -1;
    }
    s->question = q;
    s->question_by_ms = uv_now(s->all->loop) + QUESTION_LATE_MS;
    session_set_state(s, SESSION_BUSY);
    return 0;
}

int cells_on_frame(struct session *s, const struct session_frame *f, const void *packet, size_t n,
                   struct err *e)
{
    struct session_program *p = s->program;
    struct cell *c = session_current(s);
    if (c && f->request == c->number && !c->disarmed) {
        p->strays = 0;
        return cell_frame(s, c, f, packet, n, e);
    }
    if (c && c->sets_inputs && f->request == INPUTS_REQUEST)
        return count_frame(c, n, e) ? -1 : run_inputs_on_frame(c, f, e);
    if (s->spec.sets_inputs && f->request == INPUTS_REQUEST)
        return session_inputs_on_frame(s, f, e);
    if (s->question && f->request == s->question->request)
        return question_frame(s, f, e);
    /* A thread of an earlier cell displays something. */
    if (++p->strays > STRAY_FRAMES_MAX)
        return err_set(e, ERR_PROTOCOL, 0, "%d frames in a row belong to no cell",
                       STRAY_FRAMES_MAX);
    return 0;
}

/* ---- a cell of an earlier keeper ---- */

static int replay_frame(struct cell *c, const struct journal_record *r, uint32_t *seq,
                        struct err *e)
{
    struct session_frame f;
    if (frame_read(r->bytes.data, r->bytes.len, &f, e))
        return -1;
    if (f.type == FRAME_CUT) {
        c->displays_cut = true;
        return journal_frame(c, r->bytes.data, r->bytes.len, e);
    }
    *seq = f.seq;
    return cell_frame(c->session, c, &f, r->bytes.data, r->bytes.len, e);
}

static int replay(struct cell *c, uint32_t *seq, struct err *e)
{
    struct journal_record r = { 0 };
    int rc = 0;
    while (rc == 0 && cell_file_next(&c->session->file, &r)) {
        c->replayed_us = r.time_us;
        if (r.kind == JOURNAL_FRAME) {
            rc = replay_frame(c, &r, seq, e);
            continue;
        }
        rc = run_add_output(c->run, r.kind, r.time_us, r.bytes.data, r.bytes.len, e);
        c->stream_bytes[r.kind == JOURNAL_STDOUT ? RUN_STDOUT : RUN_STDERR] += r.bytes.len;
    }
    buf_done(&r.bytes);
    return rc;
}

/* A cell that is done was disarmed by its last frame. */
static int resume_input(struct cell *c, bool awaits, struct err *e)
{
    size_t n;
    if (!c->awaits_input)
        return 0;
    c->awaits_input = awaits;
    if (!awaits)
        (void)next_line(c, &n);
    return awaits && c->reads_stdin ? answer_with_stdin(c->session, c, e) : 0;
}

int cells_resume(struct cell *c, const struct cell_file_head *head, int64_t queued_ms,
                 bool is_armed, struct err *e)
{
    struct session *s = c->session;
    c->begun = true;
    c->started_us = head->started_us;
    c->reads_stdin = head->reads_stdin;
    run_resume_in_host(c->run, queued_ms, head->started_ms, head->started_us);
    s->replaying = true;
    int rc = replay(c, &s->program->in_seq, e);
    s->replaying = false;
    if (rc)
        return -1;
    if (is_armed)
        return resume_input(c, head->awaits_input, e);
    if (c->disarmed) {
        struct cell_usage none = { .number = c->number };
        cells_on_measured(s, &none);
    } else { /* the keeper was killed before it sent the cell */
        c->begun = false;
        session_set_state(s, SESSION_IDLE);
    }
    return 0;
}

/* ---- stdin and interrupts ---- */

int session_input(struct session *s, const char *text, size_t n, bool eof, struct err *e)
{
    struct cell *c = session_current(s);
    scoped(buf) fields = { 0 };
    if (!c || !c->awaits_input)
        return err_set(e, ERR_CONFLICT, 0,
                       c ? "cell %u does not wait for input: send it after 'input_request'"
                         : "no cell runs: execute one first",
                       c ? c->number : 0);
    if (frame_add_field(&fields, eof ? TAG_EOF : TAG_TEXT, text, eof ? 0 : n, e) ||
        program_send(s->program, FRAME_INPUT, c->number, &fields, e))
        return -1;
    set_awaits_input(c, false);
    session_touch(s);
    return 0;
}

/* The cell has not begun, and will not. */
static int interrupt_waiting(struct cell *c)
{
    cell_note(c, "the cell was interrupted before it began");
    fill_fields(c, "interrupted");
    run_cancel(c->run);
    return 0;
}

int session_interrupt(struct session *s, unsigned number, struct err *e)
{
    struct cell *c = number ? session_cell(s, number) : head(s);
    if (number > s->cells)
        return err_set(e, ERR_NOT_FOUND, 0, "there is no cell %u: the last one is cell %u", number,
                       s->cells);
    if (c && c->run && !c->run->is_over)
        return c->begun ? program_interrupt(s->program, e) : interrupt_waiting(c);
    if (number)
        return err_set(e, ERR_CONFLICT, 0, "cell %u is over: there is nothing to interrupt",
                       number);
    if (s->question)
        return program_interrupt(s->program, e);
    if (session_check_held(s, e))
        return -1;
    return err_set(e, ERR_CONFLICT, 0, "no cell runs: there is nothing to interrupt");
}
