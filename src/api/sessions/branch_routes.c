/* POST /v1/sessions/{id}/branches: candidates that run side by side in copies of a session. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/storage.h"
#include "api/runs/batch.h"
#include "api/runs/result_fields.h"
#include "api/runs/run_spec.h"
#include "api/sessions/branch_fields.h"
#include "api/sessions/branch_fixes.h"
#include "api/sessions/cell_result.h"
#include "api/sessions/cell_submit.h"
#include "api/sessions/session_find.h"
#include "base/clock.h"
#include "base/strv.h"
#include "base/text.h"
#include "run/json.h"
#include "session/events.h"
#include "spec/bundle.h"
#include "spec/permission.h"

enum { ANSWER_MIB = 64, SCORE_TEXT_MAX = 64 };

enum keep_rule { KEEP_FIRST_OK, KEEP_BEST, KEEP_NONE, KEEP_ASK };
static const char *const keep_words[] = { "first_ok", "best", "none", "ask", NULL };

static const struct api_field branch_fields[] = {
    { "candidates", FIELD_STRINGS, .max = BRANCHES_MAX,
      .help = "the code of each candidate; each runs in a copy of the session" },
    { "fixes_of", FIELD_STRING, .min = 1, .max = ID_SIZE - 1,
      .help = "in place of candidates: the id of a failed cell; each candidate is its code with a "
              "line that its diagnosis suggests" },
    { "keep", FIELD_STRING, .required = true, .one_of = keep_words,
      .help = "the winner: first_ok: the first candidate that ends with status ok, and the others "
              "are stopped; best: the one with the highest score; none; ask: the one that POST "
              "branches/choose names after all results, with stream" },
    { "score", FIELD_STRING, .max = (double)BUNDLE_FILE_MAX_BYTES,
      .help =
          "with best: a cell that runs in the copy of each candidate that was ok; its result is "
          "a number" },
    { "adopt", FIELD_BOOL,
      .help =
          "true: the session goes on as the winner; the default for first_ok and best. false: the "
          "winner stays as a session of its own" },
    { "leave", FIELD_BOOL, .help = "true: the other copies stay as sessions, too" },
    { "timeout", FIELD_NUMBER, .min = 0.001, .max = 86400,
      .help =
          "seconds until a candidate or a score is interrupted; cell_limits.wall_ms by default" },
    { "strict", FIELD_BOOL,
      .help = "true: refuse if a thread, a child, a pipe or a socket would be lost" },
    { "stream", FIELD_BOOL,
      .help = "answer with events while the candidates run (NDJSON, or SSE by the header Accept)" },
    { "permission_mode", FIELD_STRING, .one_of = permission_modes,
      .help = "default, manual and acceptEdits ask a person about each candidate and each score" },
    { 0 },
};

struct branch_call;
struct candidate {
    struct run_watch watch; /* first; of its cell, then of its score */
    struct branch_call *owner;
    struct run *run; /* while it is in flight */
    bool is_ok, was_stopped, has_score;
    double score;
    json_t *cell;   /* while its copy is checked */
    json_t *result; /* as in the answer */
};

/* A comment in a stream that is silent for long. It outlives its request until it is closed. */
struct keep_alive {
    uv_timer_t timer;
    struct branch_call *owner;
};

/* From the request to its answer. */
struct branch_call {
    struct session_branches branches; /* first */
    struct api_call *call;
    struct group_answer answer;
    enum keep_rule keep;
    bool adopt, leave;
    uint64_t wall_ms, began_us, forked_us;
    struct candidate candidates[BRANCHES_MAX];
    unsigned n, in_flight;
    int winner; /* -1: none yet */
    bool is_scoring, is_adopting, adopted;
    bool asked, chosen;            /* with KEEP_ASK: all results are told; the client has chosen */
    bool stopped;                  /* the client or the session is gone */
    struct err lost;               /* the session is gone */
    struct err not_kept;           /* why the winner was not adopted */
    size_t values, bytes;          /* room in the answer */
    unsigned busy;                 /* inside calls that may call advance() */
    struct keep_alive *keep_alive; /* of a stream; NULL: none */
};

static unsigned index_of(const struct candidate *c)
{
    return (unsigned)(c - c->owner->candidates);
}

static struct session *copy_of(const struct candidate *c)
{
    return c->owner->branches.fork.copies[index_of(c)];
}

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void branch_call_free(struct branch_call *b)
{
    if (b->keep_alive)
        uv_close((uv_handle_t *)&b->keep_alive->timer, on_timer_closed);
    for (unsigned i = 0; i < b->n; i++) {
        json_decref(b->candidates[i].result);
        json_decref(b->candidates[i].cell);
    }
    strv_free(b->branches.fork.names);
    json_decref(b->branches.fork.not_carried);
    free(b);
}

/* ---- a cell of a candidate in the answer ---- */

/* An answer has up to ANSWER_MIB of cells: the rest is in the history only. */
static void cut_cell(json_t *cell)
{
    json_put(cell, "displays", json_array());
    json_put(cell, "result", json_null());
    json_put(cell, "stdout", json_string(""));
    json_put(cell, "stderr", json_string(""));
    (void)json_object_del(cell, "stdout_base64");
    (void)json_object_del(cell, "stderr_base64");
    json_put(cell, "stdout_cut", json_true());
    json_put(cell, "stderr_cut", json_true());
    json_array_append_new(json_object_get(cell, "notes"),
                          json_sprintf("the outputs of the cell are not here, because the answer "
                                       "has more than %d MiB: its run has them",
                                       ANSWER_MIB));
}

static json_t *cell_of_run(struct branch_call *b, const struct run *run)
{
    json_t *cell = cell_object(run->result_json, &run->journal, &b->values);
    size_t bytes = json_dumpb(cell, NULL, 0, JSON_COMPACT);
    if (bytes > b->bytes)
        cut_cell(cell);
    else
        b->bytes -= bytes;
    return cell;
}

static bool is_ok(const json_t *cell)
{
    const char *status = json_string_value(json_object_get(cell, "status"));
    return status && strcmp(status, "ok") == 0;
}

/* A number as programs print it. */
static bool parse_number(const char *text, double *ret)
{
    char *end;
    size_t n = strlen(text);
    if (n == 0 || n > SCORE_TEXT_MAX || strspn(text, "0123456789+-.eE") != n)
        return false;
    *ret = strtod(text, &end);
    return *end == '\0' && isfinite(*ret);
}

/* NULL, or the reason why there is no score. */
static json_t *take_score(struct candidate *c, const json_t *cell)
{
    const char *text = json_string_value(
        json_object_get(json_object_get(cell, "result"), "text/plain"));
    if (!is_ok(cell))
        return json_sprintf("the score has the status '%s': see its cell",
                            json_string_value(json_object_get(cell, "status")));
    if (!text)
        return json_string("the score has no result: its last line must be an expression that is a "
                           "number");
    if (!parse_number(text, &c->score))
        return json_sprintf("the result of the score is '%s': it must be a finite number, such as "
                            "3 or 0.5",
                            QUOTED(text));
    c->has_score = true;
    return NULL;
}

/* ---- events ---- */

static void tell(struct branch_call *b, const char *event, unsigned i, const char *key,
                 const json_t *value)
{
    if (!b->call->http)
        return;
    group_answer_event(&b->answer, event,
                       json_pack("{s:i, s:O}", "index", (int)i, key, (json_t *)value));
}

static void tell_forked(struct branch_call *b)
{
    const struct session_fork *f = &b->branches.fork;
    json_t *ids = json_array();
    for (unsigned i = 0; i < b->n; i++)
        (void)json_array_append_new(ids, json_string(f->copies[i]->id));
    group_answer_event(&b->answer, "forked",
                       json_pack("{s:o, s:O, s:f, s:I}", "sessions", ids, "not_carried",
                                 f->not_carried, "pause_ms", (double)f->pause_us / 1000,
                                 "image_bytes", (json_int_t)f->image_bytes));
}

/* ---- the winner ---- */

static void advance(struct branch_call *b);

static void adopt_winner(struct branch_call *b)
{
    if (!b->adopt)
        return;
    b->is_adopting = session_branch_adopt(&b->branches, (unsigned)b->winner, &b->not_kept) == 0;
    b->adopted = b->is_adopting;
}

static void on_adopted(struct session_branches *branches)
{
    struct branch_call *b = (struct branch_call *)branches;
    b->is_adopting = false;
    advance(b);
}

/* Its cell ends, and its run is told as the others are. */
static void stop_candidate(struct candidate *c, bool keep_session, const char *reason)
{
    c->was_stopped = c->run && !c->run->is_over; /* otherwise its outcome is being found out */
    if (keep_session && c->run)
        run_cancel(c->run);
    else if (!keep_session)
        session_branch_end(&c->owner->branches, index_of(c), reason);
}

static void stop_others(struct branch_call *b, int winner)
{
    for (int i = 0; i < (int)b->n; i++)
        if (i != winner)
            stop_candidate(&b->candidates[i], b->leave, "another candidate was the first");
}

/* The client or the session is gone: no copy stays. */
static void stop_all(struct branch_call *b)
{
    if (b->stopped || b->winner >= 0)
        return;
    b->busy++;
    b->stopped = true;
    for (unsigned i = 0; i < b->n; i++)
        stop_candidate(&b->candidates[i], false, "the request for its branch is over");
    b->busy--;
    advance(b);
}

static void on_keep_alive(uv_timer_t *timer)
{
    struct branch_call *b = ((struct keep_alive *)timer->data)->owner;
    b->busy++; /* the write may find that the client left */
    if (b->call->http)
        stream_keep_alive(b->call, b->answer.format);
    b->busy--;
    if (b->stopped)
        advance(b);
}

/* A stream without it goes on. */
static void start_keep_alive(struct branch_call *b)
{
    struct keep_alive *k = b->answer.streamed ? calloc(1, sizeof *k) : NULL;
    if (!k)
        return;
    (void)uv_timer_init(b->call->api->loop, &k->timer);
    k->timer.data = k;
    k->owner = b;
    (void)uv_timer_start(&k->timer, on_keep_alive, STREAM_KEEP_ALIVE_MS, STREAM_KEEP_ALIVE_MS);
    b->keep_alive = k;
}

static void on_client_left(struct api_call *c)
{
    struct branch_call *b = c->user;
    if (b->branches.forked)
        stop_all(b);
    else
        b->stopped = true;
}

static void on_lost(struct session_branches *branches, const struct err *e)
{
    struct branch_call *b = (struct branch_call *)branches;
    b->lost = *e;
    stop_all(b);
}

/* The highest score; the first of equal ones. */
static int best_of(const struct branch_call *b)
{
    int best = -1;
    for (int i = 0; i < (int)b->n; i++) {
        const struct candidate *c = &b->candidates[i];
        if (c->has_score && (best < 0 || c->score > b->candidates[best].score))
            best = i;
    }
    return best;
}

/* ---- the end ---- */

static json_t *settle_copies(struct branch_call *b)
{
    json_t *left = json_array();
    for (unsigned i = 0; i < b->n; i++) {
        struct session *copy = b->branches.fork.copies[i];
        bool wins = (int)i == b->winner;
        if (copy->state == SESSION_ENDED)
            continue;
        if ((b->leave && !b->stopped) || (wins && !b->adopt)) {
            session_branch_leave(&b->branches, i);
            (void)json_array_append_new(left, json_string(copy->id));
        } else {
            session_branch_end(&b->branches, i, "the request for its branch is over");
        }
    }
    return left;
}

static json_t *answer_object(const struct branch_call *b, json_t *left)
{
    const struct session_fork *f = &b->branches.fork;
    json_t *o = json_pack("{s:s, s:o, s:b, s:s?, s:o, s:O, s:f, s:I, s:f, s:f}", "session",
                          b->branches.original->id, "winner",
                          b->winner < 0 ? json_null() : json_integer(b->winner), "adopted",
                          b->adopted, "error",
                          b->lost.code != ERR_NONE       ? ERR_SHOWN(&b->lost)
                          : b->not_kept.code != ERR_NONE ? ERR_SHOWN(&b->not_kept)
                                                         : NULL,
                          "left", left, "not_carried", f->not_carried, "pause_ms",
                          (double)f->pause_us / 1000, "image_bytes", (json_int_t)f->image_bytes,
                          "fork_ms", (double)(b->forked_us - b->began_us) / 1000, "wall_ms",
                          (double)(clock_us() - b->began_us) / 1000);
    if (b->answer.streamed)
        return o;
    json_t *list = json_array();
    for (unsigned i = 0; i < b->n; i++)
        (void)json_array_append(list, b->candidates[i].result);
    json_put(o, "results", list);
    return o;
}

static void finish(struct branch_call *b)
{
    struct group_answer answer = b->answer;
    struct api_call *c = b->call;
    struct err lost = b->lost;
    b->busy++; /* the end of the copies comes back here */
    json_t *o = answer_object(b, settle_copies(b));
    c->on_gone = c->on_half_close = NULL;
    session_branches_done(&b->branches);
    branch_call_free(b);
    if (lost.code == ERR_NONE || answer.streamed) {
        group_answer_end(&answer, o);
        return;
    }
    json_decref(o);
    api_fail(c, &lost, NULL);
}

/* ---- running ---- */

static bool submit(struct candidate *c, json_t *code, const char *field, json_t **ret_error);

static void start_scores(struct branch_call *b)
{
    json_t *code = json_object_get(b->call->body, "score"), *error = NULL;
    b->is_scoring = true;
    for (unsigned i = 0; i < b->n; i++) {
        struct candidate *c = &b->candidates[i];
        if (!c->is_ok || submit(c, code, "score", &error))
            continue;
        json_t *score = json_pack("{s:n, s:o, s:n}", "value", "error", error, "cell");
        json_put(c->result, "score", score);
        tell(b, "score", i, "score", score);
    }
}

static bool awaits_choice(struct branch_call *b)
{
    bool any = false;
    for (unsigned i = 0; i < b->n; i++)
        any |= b->candidates[i].is_ok;
    if (b->keep != KEEP_ASK || b->stopped || b->chosen || !any)
        return false;
    b->busy++;
    if (!b->asked)
        group_answer_event(&b->answer, "choose", json_object());
    b->asked = true;
    b->busy--;
    return !b->stopped;
}

static void advance(struct branch_call *b)
{
    if (b->busy > 0 || b->in_flight > 0 || awaits_choice(b))
        return;
    if (b->keep == KEEP_BEST && !b->stopped && b->winner < 0) {
        b->busy++;
        if (!b->is_scoring)
            start_scores(b);
        if (b->in_flight == 0 && (b->winner = best_of(b)) >= 0)
            adopt_winner(b);
        b->busy--;
    }
    if (b->in_flight == 0 && !b->is_adopting)
        finish(b);
}

/* Takes over the references, which may be NULL. */
static void take_result(struct candidate *c, json_t *cell, json_t *error)
{
    struct branch_call *b = c->owner;
    c->is_ok = cell && !error && is_ok(cell) && !c->was_stopped;
    c->result = json_pack("{s:i, s:s, s:s, s:o, s:o, s:n}", "index", (int)index_of(c), "outcome",
                          branch_outcome_words[c->is_ok         ? 0
                                               : c->was_stopped ? 2
                                                                : 1],
                          "session", copy_of(c)->id, "error", error ? error : json_null(), "cell",
                          cell ? cell : json_null(), "score");
    json_t *diff = json_array_get(json_object_get(b->call->body, "diffs"), index_of(c));
    json_put(c->result, "diff", diff ? json_incref(diff) : json_null());
    tell(b, "result", index_of(c), "result", c->result);
    if (c->is_ok && b->keep == KEEP_FIRST_OK && b->winner < 0 && !b->stopped) {
        b->winner = (int)index_of(c);
        adopt_winner(b);
        stop_others(b, b->winner);
    } else if (!b->leave && (!c->is_ok || (b->keep != KEEP_BEST && b->keep != KEEP_ASK))) {
        /* its memory is free now */
        session_branch_end(&b->branches, index_of(c), "its candidate is over and was not kept");
    }
}

/* A candidate whose program ended with its cell cannot win. */
static void on_checked(struct session_branches *branches, unsigned i, bool lives)
{
    struct branch_call *b = (struct branch_call *)branches;
    struct candidate *c = &b->candidates[i];
    json_t *cell = c->cell;
    c->cell = NULL;
    b->busy++;
    b->in_flight--;
    take_result(c, cell,
                lives || b->winner >= 0 || b->stopped /* otherwise we have ended it */
                    ? NULL
                    : json_string("the program of the copy ended after the cell, as after exit()"));
    b->busy--;
    advance(b);
}

/* Its outcome is known, or will be. */
static void take_cell(struct candidate *c, json_t *cell, json_t *error)
{
    struct branch_call *b = c->owner;
    if (!cell || !is_ok(cell) || c->was_stopped) {
        take_result(c, cell, error);
        return;
    }
    c->cell = cell;
    b->in_flight++;
    if (!session_branch_check(&b->branches, index_of(c)))
        on_checked(&b->branches, index_of(c), false);
}

static void take_score_cell(struct candidate *c, json_t *cell, json_t *failed)
{
    json_t *error = failed ? failed : take_score(c, cell);
    json_t *score = json_pack("{s:o, s:o, s:o}", "value",
                              c->has_score ? json_real(c->score) : json_null(), "error",
                              error ? error : json_null(), "cell", cell ? cell : json_null());
    json_put(c->result, "score", score);
    tell(c->owner, "score", index_of(c), "score", score);
}

static void on_run_event(struct run_watch *w, struct run *run, enum run_event event)
{
    struct candidate *c = (struct candidate *)w;
    struct branch_call *b = c->owner;
    json_t *cell = NULL, *error = NULL;
    if (event != RUN_EVENT_DONE)
        return;
    b->busy++;
    b->in_flight--;
    c->run = NULL;
    if (run->record_err.code == ERR_NONE)
        cell = cell_of_run(b, run);
    else
        error = json_string(ERR_SHOWN(&run->record_err));
    if (b->is_scoring)
        take_score_cell(c, cell, error);
    else
        take_cell(c, cell, error);
    run_watch_remove(run, w);
    b->busy--;
    advance(b);
}

/* False: *ret_error is the reason, and there is no cell. */
static bool submit(struct candidate *c, json_t *code, const char *field, json_t **ret_error)
{
    struct branch_call *b = c->owner;
    struct err e = { 0 };
    char ignored[128] = "";
    json_auto_t *metadata = json_pack("{s:s, s:s, s:i}", "branch_of", b->branches.original->id,
                                      "part", field, "index", (int)index_of(c));
    const struct cell_request request = { .code = code,
                                          .metadata = metadata,
                                          .permission_mode = api_text(b->call, "permission_mode"),
                                          .wall_ms = b->wall_ms,
                                          .reads_stdin = true }; /* there is none */
    if (copy_of(c)->state == SESSION_ENDED) {
        *ret_error = json_sprintf("its copy ended: %s", copy_of(c)->reason);
        return false;
    }
    if (cell_submit(b->call, copy_of(c), &request, &c->run, ignored, sizeof ignored, &e)) {
        c->run = NULL;
        *ret_error = json_string(ERR_SHOWN(&e));
        return false;
    }
    c->watch.on_event = on_run_event;
    run_watch_add(c->run, &c->watch);
    b->in_flight++;
    if (b->call->http)
        group_answer_event(&b->answer, "candidate",
                           json_pack("{s:i, s:s, s:s, s:s, s:s}", "index", (int)index_of(c),
                                     "session", copy_of(c)->id, "run", c->run->id, "part", field,
                                     "state", run_state_word(c->run->state)));
    return true;
}

static void on_ready(struct session_branches *branches, unsigned i)
{
    (void)i;
    ((struct branch_call *)branches)->forked_us = clock_us();
}

/* A candidate begins as soon as its own copy is ready. */
static void on_forked(struct session_branches *branches, const struct err *e)
{
    struct branch_call *b = (struct branch_call *)branches;
    json_t *error = NULL;
    if (e) {
        b->call->on_gone = b->call->on_half_close = NULL;
        api_fail(b->call, e, NULL);
        branch_call_free(b);
        return;
    }
    b->forked_us = clock_us();
    if (b->stopped) {
        finish(b);
        return;
    }
    group_answer_begin(&b->answer, b->call);
    start_keep_alive(b);
    tell_forked(b);
    b->busy++;
    for (unsigned i = 0; i < b->n; i++) {
        json_t *code = json_array_get(json_object_get(b->call->body, "candidates"), i);
        if (!submit(&b->candidates[i], code, "candidate", &error))
            take_result(&b->candidates[i], NULL, error);
    }
    b->busy--;
    advance(b);
}

/* ---- the request ---- */

static int check_candidates(const json_t *list, char *field, size_t size, struct err *e)
{
    size_t n = json_array_size(list);
    (void)snprintf(field, size, "candidates");
    if (n == 0)
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "candidates: none are given; 1 to %d are accepted: give the code of each, or "
            "'fixes_of'",
            BRANCHES_MAX);
    for (size_t i = 0; i < n; i++) {
        size_t bytes = json_string_length(json_array_get(list, i));
        if (bytes <= BUNDLE_FILE_MAX_BYTES)
            continue;
        (void)snprintf(field, size, "candidates[%zu]", i);
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "candidates[%zu] has %zu bytes: up to %llu are accepted, as in a cell", i,
                       bytes, (unsigned long long)BUNDLE_FILE_MAX_BYTES);
    }
    return 0;
}

static int check_rule(const struct branch_call *b, const json_t *body, char *field, size_t size,
                      struct err *e)
{
    bool scored = json_object_get(body, "score") != NULL;
    const char *word = keep_words[b->keep];
    (void)snprintf(field, size, "score");
    if (b->keep == KEEP_BEST && !scored)
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "score is missing: with keep 'best' it is the code of a cell whose result is "
            "a number; without it use keep 'first_ok' or 'none'");
    if (b->keep != KEEP_BEST && scored)
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "score is given with keep '%s', which has no use for it: use keep 'best', or "
            "leave it out",
            word);
    (void)snprintf(field, size, "keep");
    enum stream_format ignored;
    if (b->keep == KEEP_ASK && !stream_asked(b->call, run_flag(body, "stream", false), &ignored))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "keep is 'ask' without stream: true, so nobody would see the results to "
                       "choose from");
    (void)snprintf(field, size, "adopt");
    if (b->keep == KEEP_NONE && b->adopt)
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "adopt is true with keep 'none', which has no winner: use keep 'first_ok' or "
            "'best', or leave it out");
    return 0;
}

static int name_copies(struct branch_call *b, const struct session *s, struct err *e)
{
    for (unsigned i = 0; i < b->n; i++) {
        char name[ID_SIZE + 32];
        (void)snprintf(name, sizeof name, "branch %u of %s", i, s->id);
        if (strv_add(&b->branches.fork.names, name, e))
            return -1;
    }
    return 0;
}

static int prepare(struct branch_call *b, const struct session *s, char *field, size_t size,
                   struct err *e)
{
    struct api_call *c = b->call;
    const json_t *list = json_object_get(c->body, "candidates");
    const char *keep = api_text(c, "keep"); /* one of the words, as the table of fields says */
    for (int i = 0; keep && keep_words[i]; i++)
        if (strcmp(keep_words[i], keep) == 0)
            b->keep = (enum keep_rule)i;
    b->adopt = run_flag(c->body, "adopt", b->keep != KEEP_NONE);
    b->leave = run_flag(c->body, "leave", false);
    if (check_candidates(list, field, size, e) || check_rule(b, c->body, field, size, e))
        return -1;
    (void)snprintf(field, size, "timeout");
    if (cell_timeout(c, s, &b->wall_ms, e))
        return -1;
    field[0] = '\0';
    b->n = (unsigned)json_array_size(list);
    for (unsigned i = 0; i < b->n; i++)
        b->candidates[i].owner = b;
    b->branches.fork.count = b->n;
    b->branches.fork.strict = run_flag(c->body, "strict", false);
    return name_copies(b, s, e);
}

static void post_branches(struct api_call *c)
{
    struct err e = { 0 };
    char field[128] = "";
    if (json_object_get(c->body, "fixes_of") && !json_object_get(c->body, "diffs")) {
        branch_fixes_find(c, post_branches);
        return;
    }
    struct session *s = session_to_use(c);
    if (!s)
        return;
    struct branch_call *b = calloc(1, sizeof *b);
    if (!b) {
        api_fail_no_memory(c);
        return;
    }
    b->branches.on_forked = on_forked;
    b->branches.on_ready = on_ready;
    b->branches.on_lost = on_lost;
    b->branches.on_checked = on_checked;
    b->branches.on_adopted = on_adopted;
    b->call = b->answer.call = c;
    b->winner = -1;
    b->values = GUEST_VALUES_MAX;
    b->bytes = (size_t)ANSWER_MIB << 20;
    b->began_us = clock_us();
    if (prepare(b, s, field, sizeof field, &e) || storage_check(c->api, &e) ||
        session_branches_begin(s, &b->branches, &e)) {
        branch_call_free(b);
        api_fail(c, &e, field[0] ? field : NULL);
        return;
    }
    c->user = b;
    c->on_gone = c->on_half_close = on_client_left;
}

/* ---- the choice ---- */

static int check_choice(const struct branch_call *b, const json_t *winner, struct err *e)
{
    if (!b || b->keep != KEEP_ASK || !b->asked || b->chosen || b->stopped)
        return err_set(e, ERR_CONFLICT, 0,
                       "no branches of this session wait for a choice: POST branches with keep "
                       "'ask', and wait for its event 'choose'");
    json_int_t i = json_integer_value(winner);
    if (winner && (i >= b->n || !b->candidates[i].is_ok))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "winner %lld is not accepted: it is the index of a candidate that was ok",
                       (long long)i);
    return 0;
}

static void post_choice(struct api_call *c)
{
    struct err e = { 0 };
    struct session *s = session_to_use(c);
    if (!s)
        return;
    struct branch_call *b = (struct branch_call *)s->branches;
    const json_t *winner = json_object_get(c->body, "winner");
    if (check_choice(b, winner, &e)) {
        api_fail(c, &e, e.code == ERR_BAD_REQUEST ? "winner" : NULL);
        return;
    }
    b->chosen = true;
    if (winner) {
        b->winner = (int)json_integer_value(winner);
        adopt_winner(b);
    }
    api_reply(c, 202,
              json_pack("{s:s, s:o}", "session", s->id, "winner",
                        winner ? json_integer(b->winner) : json_null()));
    advance(b);
}

static const struct api_field choice_fields[] = {
    { "winner", FIELD_INT, .min = 0, .max = BRANCHES_MAX - 1,
      .help = "position of a candidate that was ok; absent: none of them" },
    { 0 },
};
static const struct api_field choice_reply[] = {
    { "session", FIELD_STRING, ALWAYS, .help = "id of the session" },
    { "winner", FIELD_INT, OR_NULL, .help = "as in the request; the event done has the outcome" },
    { .schema = "BranchChoice" },
};

const struct api_route session_branch_routes[] = {
    { METHOD_POST, "/v1/sessions/{id}/branches", SCOPE_RUN, .body = branch_fields,
      .handle = post_branches,
      .summary = "Run candidates side by side in copies of a session, and go on as the winner",
      .replies = REPLIES({ 200, .fields = branches_reply }, EVENT_REPLIES(branch_event_reply)) },
    { METHOD_POST, "/v1/sessions/{id}/branches/choose", SCOPE_RUN, .body = choice_fields,
      .handle = post_choice, .summary = "Choose the winner of branches that ask",
      .replies = REPLIES({ 202, .fields = choice_reply }) },
    { 0 },
};
