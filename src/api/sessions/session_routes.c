/* /v1/sessions: creating, listing, changing and ending sessions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/approvals/approvals.h"
#include "api/kernel/fields.h"
#include "api/kernel/job.h"
#include "api/kernel/storage.h"
#include "api/runs/history_routes.h"
#include "api/runs/mount_request.h"
#include "api/runs/network_request.h"
#include "api/runs/run_spec.h"
#include "api/runs/stream.h"
#include "api/sessions/image_routes.h"
#include "api/sessions/network_change.h"
#include "api/sessions/session_find.h"
#include "api/templates/template_use.h"
#include "base/auto.h"
#include "base/strv.h"
#include "base/text.h"
#include "run/json.h"
#include "run/result.h"
#include "spec/bundle.h"
#include "store/session_rows.h"

enum { TTL_S = 3600, TTL_MAX_S = 24 * 3600, IDLE_S = 1800, NAME_MAX_BYTES = 200 };
enum { ENDED_LISTED = 200 };

/* ---- POST /v1/sessions ---- */

static const struct api_field create_fields[] = {
    { "language", FIELD_STRING, .required = true, .min = 1, .max = 64,
      .help = "a language with sessions (GET /v1/languages)",
      .also = "lang,language_id,runtime,kernel" },
    { "name", FIELD_STRING, .min = 1, .max = NAME_MAX_BYTES, .help = "a name for people" },
    { "limits", FIELD_LIMITS, .help = "limits of its life: memory, pids, disk, files and others",
      .also = "memory=limits.memory" },
    { "cell_limits", FIELD_LIMITS, .help = "limits of each cell: wall_ms, cpu_ms and output",
      .also = "timeout=cell_limits.wall_ms" },
    { "ttl_s", FIELD_NUMBER, .min = 1, .max = TTL_MAX_S,
      .help = "seconds from its start to its end; 3600 by default" },
    { "idle_s", FIELD_NUMBER, .min = 1, .max = TTL_MAX_S,
      .help = "it ends or sleeps after so many seconds without a cell; 1800 by default" },
    { "idle", FIELD_STRING, .one_of = session_idle_words,
      .help = "after idle_s it ends, or sleeps until it is used again; 'end' by default" },
    { "template", FIELD_STRING, .min = 1, .max = 200,
      .help = "it begins in this template (POST /v1/templates)" },
    { "files", FIELD_FILES, .max = BUNDLE_FILES_MAX, .help = "files in /sandbox, by name" },
    { "env", FIELD_STRING_MAP, .max = 1000, .help = "environment beyond the built-in one" },
    { "undo", FIELD_INT, .min = 0, .max = UNDO_MAX,
      .help = "keep the states before so many of its last cells; 0 by default" },
    MOUNTS_FIELD,
    NETWORK_FIELD,
    { "metadata", FIELD_ANY, .help = "any JSON; the session returns it" },
    { 0 },
};

static const char *const create_sources[] = { "image", NULL };
static const struct api_field create_query[] = {
    { "from", FIELD_STRING, .one_of = create_sources,
      .help = "the body is an exported session (application/octet-stream)" },
    { 0 },
};

static bool of_cells(int id)
{
    return id == LIMIT_WALL_MS || id == LIMIT_CPU_MS || id == LIMIT_OUTPUT;
}

/* Each limit belongs to the session or to its cells. */
static int check_places(const json_t *body, char *field, size_t size, struct err *e)
{
    static const char *const keys[] = { "limits", "cell_limits" };
    for (int place = 0; place < 2; place++) {
        const json_t *given = json_object_get(body, keys[place]);
        for (int i = 0; i < LIMIT_COUNT; i++) {
            if (!json_object_get(given, limit_defs[i].key) || of_cells(i) == (place == 1))
                continue;
            (void)snprintf(field, size, "%s.%s", keys[place], limit_defs[i].key);
            return err_set(e, ERR_BAD_REQUEST, 0, "%s is a limit of %s: give it as %s.%s", field,
                           place == 0 ? "each cell" : "the whole session", keys[!place],
                           limit_defs[i].key);
        }
    }
    return 0;
}

static int take_cell_limits(const struct api *api, const json_t *body, struct limits *ret,
                            char *field, size_t size, struct err *e)
{
    const struct settings *s = api->settings;
    char of_run[96] = "";
    if (api_limits(json_object_get(body, "cell_limits"), &s->limit_default, &s->limit_max, ret,
                   of_run, sizeof of_run, e) == 0)
        return 0;
    (void)snprintf(field, size, "cell_%s", of_run);
    return -1;
}

static int check_language(const struct api *api, const struct language *l, char *field, size_t size,
                          struct err *e)
{
    const struct isolation *iso = engine_isolation(api->engine);
    char known[160];
    (void)snprintf(field, size, "language");
    if (!l->session)
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "language '%s' has no sessions: use one of %s, or run its programs with POST "
            "/v1/runs",
            l->name, language_session_list(known, sizeof known));
    if (iso && iso->level == LEVEL_PROCESS)
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "sessions need isolation level jar or rootless, and the level here is "
                       "'process': 'belljar doctor' says how to get a better one");
    field[0] = '\0';
    return 0;
}

/* The files and the environment of a session can be code: BASH_ENV, a module, a program in PATH.
 * Rules hold for them as in a run. A cell is shown to its approver without them, so there may be
 * none where a person is asked. */
static int check_rules(const struct api *api, const struct run_spec *run, bool has_image,
                       struct err *e)
{
    struct admission admission;
    if (approvals_admit(api, run, NULL, &admission, e))
        return -1;
    if (admission.kind == ADMISSION_DENIED)
        return err_set(e, ERR_DENIED, 0, "the session is %s", admission.reason);
    if (admission.kind == ADMISSION_NEEDS_APPROVAL &&
        (has_image || run->bundle.len > 0 || strv_len(run->env) > 0))
        return err_set(e, ERR_DENIED, 0,
                       "%s, and the files, the environment and the image of a session are shown to "
                       "nobody: create it without them, and write them in a cell",
                       admission.reason);
    return 0;
}

static int take_idle(const json_t *body, const struct language *l, bool *ret, char *field,
                     size_t size, struct err *e)
{
    const char *word = json_string_value(json_object_get(body, "idle"));
    if (!word)
        return 0;
    *ret = strcmp(word, "sleep") == 0;
    if (!*ret || l->forks)
        return 0;
    (void)snprintf(field, size, "idle");
    return err_set(e, ERR_BAD_REQUEST, 0, "sessions of '%s' cannot sleep: 'idle' must be 'end'",
                   l->name);
}

static uint64_t seconds(const json_t *body, const char *key, double otherwise)
{
    const json_t *v = json_object_get(body, key);
    return (uint64_t)((v ? json_number_value(v) : otherwise) * 1000);
}

/* Programs of sessions keep descriptors of their own beyond the numbers that cells use. */
enum { OPEN_FILES_MIN = 384 };

int session_check_open_files(const struct limits *l, char *field, size_t size, struct err *e)
{
    if (l->v[LIMIT_OPEN_FILES] >= OPEN_FILES_MIN)
        return 0;
    (void)snprintf(field, size, "limits.open_files");
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "limits.open_files is %llu: a session needs at least %d, because its program "
                   "keeps descriptors of its own out of the way of its cells",
                   (unsigned long long)l->v[LIMIT_OPEN_FILES], OPEN_FILES_MIN);
}

static int check_undo(const struct language *l, unsigned undo, char *field, size_t size,
                      struct err *e)
{
    if (undo == 0 || l->forks)
        return 0;
    (void)snprintf(field, size, "undo");
    return err_set(e, ERR_BAD_REQUEST, 0,
                   "sessions of '%s' have no checkpoints: create it without 'undo'", l->name);
}

static int spec_from_json(const struct api_call *c, const json_t *body, bool has_image,
                          struct session_spec *ret, char *field, size_t size, struct err *e)
{
    scoped(run_spec) run = { 0 };
    struct limits cell;
    unsigned undo = (unsigned)json_integer_value(json_object_get(body, "undo"));
    bool sleeps = false;
    const char *name = json_string_value(json_object_get(body, "name"));
    if (check_places(body, field, size, e) ||
        run_spec_of_session(c->api, &c->who, body, &run, field, size, e) ||
        check_language(c->api, run.language, field, size, e) ||
        session_check_open_files(&run.limits, field, size, e) ||
        check_rules(c->api, &run, has_image, e) || check_undo(run.language, undo, field, size, e) ||
        take_cell_limits(c->api, body, &cell, field, size, e) ||
        take_idle(body, run.language, &sleeps, field, size, e))
        return -1;
    *ret = (struct session_spec){ .language = run.language,
                                  .name = name ? strdup(name) : NULL,
                                  .key = run.key,
                                  .actor = run.actor,
                                  .limits = run.limits,
                                  .cell_limits = cell,
                                  .idle_ms = seconds(body, "idle_s", IDLE_S),
                                  .idle_sleeps = sleeps,
                                  .bundle = run.bundle,
                                  .env = run.env,
                                  .network = run.network,
                                  .mounts = run.mounts,
                                  .undo = undo,
                                  .metadata = run.metadata };
    ret->limits.v[LIMIT_WALL_MS] = seconds(body, "ttl_s", TTL_S);
    ret->limits.v[LIMIT_CPU_MS] = cell.v[LIMIT_CPU_MS]; /* between two cells */
    ret->limits.v[LIMIT_OUTPUT] = cell.v[LIMIT_OUTPUT];
    run.key = run.actor = NULL;
    run.bundle = (struct buf){ 0 };
    run.env = run.mounts = NULL;
    run.network = (struct network_policy){ 0 };
    run.metadata = NULL;
    return 0;
}

int session_spec_from_json(const struct api_call *c, const json_t *body, struct session_spec *ret,
                           char *field, size_t size, struct err *e)
{
    return spec_from_json(c, body, false, ret, field, size, e);
}

int session_spec_of_import(const struct api_call *c, const json_t *body, struct session_spec *ret,
                           char *field, size_t size, struct err *e)
{
    static const char *const refused[] = { "files", "template" };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (json_object_get(body, refused[i])) {
            (void)snprintf(field, size, "%s", refused[i]);
            return err_set(e, ERR_BAD_REQUEST, 0, "an exported session has no '%s'", refused[i]);
        }
    return spec_from_json(c, body, true, ret, field, size, e);
}

struct create_waiter {
    struct session_watch watch;
    struct api_call *call;
    /* with a template */
    struct image_load load;
    struct session_spec spec;
    struct template_wait rebuild;
    char template[ID_SIZE]; /* its image */
    bool rebuilt;           /* it was made anew for this session */
};

static bool rebuild_template(struct create_waiter *w, const char *why);

static void on_created(struct session_watch *watch, struct session *s, enum session_event event)
{
    struct create_waiter *w = (struct create_waiter *)watch;
    struct err e = { 0 };
    if (s->state == SESSION_STARTING || (s->state == SESSION_ENDED && event != SESSION_EVENT_ENDED))
        return;
    if (s->state == SESSION_ENDED && s->is_unfit && rebuild_template(w, s->reason)) {
        session_watch_remove(s, watch);
        return;
    }
    if (s->state == SESSION_ENDED) {
        (void)!err_set(&e, ERR_UNAVAILABLE, 0, "the session did not start: %s", s->reason);
        api_fail(w->call, &e, NULL);
    } else {
        api_reply(w->call, 201, session_object(s));
    }
    session_watch_remove(s, watch);
    free(w);
}

static void begin_session(struct create_waiter *w, struct session_spec *spec)
{
    struct err e = { 0 };
    struct session *s;
    if (session_new(w->call->api->sessions, spec, &w->watch, &s, &e)) {
        api_fail(w->call, &e, NULL);
        free(w);
    }
}

static void on_template_loaded(struct image_load *load, const struct err *e)
{
    struct create_waiter *w = (struct create_waiter *)((char *)load -
                                                       offsetof(struct create_waiter, load));
    scoped(session_spec) spec = w->spec;
    w->spec = (struct session_spec){ 0 };
    if (e && e->code == ERR_CONFLICT && rebuild_template(w, e->text))
        return;
    if (e) {
        api_fail(w->call, e, "template");
        free(w);
        return;
    }
    spec.image = load->image;
    spec.sets_inputs = spec.bundle.len > 0 || strv_len(spec.env) > 0;
    spec.begins_in = text_copy(api_text(w->call, "template"));
    char owner[TEMPLATE_OWNER_SIZE];
    template_owner(&w->call->who, owner);
    spec.begins_owner = text_copy(owner);
    begin_session(w, &spec);
}

static int load_template(struct create_waiter *w, const char *name, char *field, size_t size,
                         struct err *e)
{
    struct api_call *c = w->call;
    struct saved_image *t;
    char owner[TEMPLATE_OWNER_SIZE];
    template_owner(&c->who, owner);
    (void)snprintf(field, size, "template");
    if (template_named(c->api, owner, name, &t, e))
        return -1;
    if (strcmp(t->row.language, w->spec.language->name) != 0)
        return err_set(e, ERR_BAD_REQUEST, 0, "template '%s' is of the language '%s', not '%s'",
                       QUOTED(name), t->row.language, w->spec.language->name);
    field[0] = '\0';
    (void)snprintf(w->template, sizeof w->template, "%s", t->row.id);
    w->load.on_done = on_template_loaded;
    return images_load(sessions_images(c->api->sessions), t, &w->load, e);
}

/* The template is new: once more from the beginning. */
static void on_rebuilt(struct template_wait *wait, const struct saved_image *new,
                       const struct err *e)
{
    struct create_waiter *w = (struct create_waiter *)((char *)wait -
                                                       offsetof(struct create_waiter, rebuild));
    struct api_call *c = w->call;
    struct err failed = { 0 };
    char field[128] = "template";
    (void)new;
    if (!e && (session_spec_from_json(c, c->body, &w->spec, field, sizeof field, &failed) ||
               load_template(w, api_text(c, "template"), field, sizeof field, &failed)))
        e = &failed;
    if (!e)
        return;
    session_spec_done(&w->spec);
    api_fail(c, e, field[0] ? field : NULL);
    free(w);
}

/* False: it was made anew already, or cannot be. */
static bool rebuild_template(struct create_waiter *w, const char *why)
{
    struct err e = { 0 };
    bool first = !w->rebuilt && w->template[0];
    w->rebuilt = true;
    w->rebuild.on_done = on_rebuilt;
    return first && template_await(w->call->api->sessions, w->template, why, &w->rebuild, &e) == 0;
}

static void post_session(struct api_call *c)
{
    if (c->http->request.body_in_file) {
        session_file_import(c);
        return;
    }
    struct err e = { 0 };
    char field[128] = "";
    scoped(session_spec) spec = { 0 };
    struct create_waiter *w = calloc(1, sizeof *w);
    if (!w) {
        api_fail_no_memory(c);
        return;
    }
    w->call = c;
    w->watch.on_event = on_created;
    const char *template = api_text(c, "template");
    int rc = session_spec_from_json(c, c->body, &spec, field, sizeof field, &e) ||
             storage_check(c->api, &e);
    if (rc == 0 && template) {
        w->spec = spec;
        spec = (struct session_spec){ 0 };
        rc = load_template(w, template, field, sizeof field, &e);
    } else if (rc == 0) {
        begin_session(w, &spec);
    }
    if (rc) {
        session_spec_done(&w->spec);
        free(w);
        api_fail(c, &e, field[0] ? field : NULL);
    }
}

/* ---- the list ---- */

static const char *const listed_states[] = {
    "starting", "idle", "busy", "sleeping", "ended", NULL
};
static const struct api_field list_query[] = {
    { "language", FIELD_STRING, .help = "only this language" },
    { "name", FIELD_STRING, .help = "only this name" },
    { "state", FIELD_STRING, .one_of = listed_states,
      .help = "only this state; 'ended' lists sessions that are over, which are absent otherwise" },
    { 0 },
};

struct list_job {
    struct api_job job;
    char key[KEY_NAME_MAX + 16];
    bool of_key;
    struct session_rows rows;
};

static int list_work(struct db *db, struct store_job *job, struct err *e)
{
    struct list_job *l = (struct list_job *)job;
    return sessions_ended(db, l->of_key ? l->key : NULL, ENDED_LISTED, &l->rows, e);
}

static json_t *row_object(const struct session_row *r)
{
    return json_pack("{s:s, s:s?, s:s, s:s, s:s?, s:I, s:o, s:n, s:n, s:o, s:s?}", "id", r->id,
                     "name", r->name, "language", r->language, "state", "ended", "key", r->key,
                     "cells", (json_int_t)r->cells, "created_at",
                     result_time((uint64_t)r->created_ms), "used_at", "expires_at", "ended_at",
                     result_time((uint64_t)r->ended_ms), "reason", r->reason);
}

static void list_done(struct store_job *job)
{
    struct list_job *l = (struct list_job *)job;
    struct api_call *c = l->job.call;
    json_t *list = json_array();
    for (size_t i = 0; i < l->rows.n; i++)
        if (history_may_see(c, l->rows.rows[i].key, l->rows.rows[i].created_ms))
            (void)json_array_append_new(list, row_object(&l->rows.rows[i]));
    if (job->err.code != ERR_NONE) {
        json_decref(list);
        api_fail(c, &job->err, NULL);
    } else {
        api_reply(c, 200, json_pack("{s:o}", "sessions", list));
    }
    session_rows_done(&l->rows);
    free(l);
}

static void list_ended(struct api_call *c)
{
    struct list_job *l = api_job_new(c, sizeof *l, list_work, list_done);
    if (!l)
        return;
    l->of_key = c->who.key && !(c->who.scopes & (SCOPE_BIT(SCOPE_READ) | SCOPE_BIT(SCOPE_ADMIN)));
    if (l->of_key)
        (void)snprintf(l->key, sizeof l->key, "%s", c->who.key);
    api_job_read(&l->job);
}

static bool matches(const char *wanted, const char *value)
{
    return !wanted || (value && strcmp(wanted, value) == 0);
}

static void list_sessions(struct api_call *c)
{
    struct err e = { 0 };
    char texts[3][256];
    const char *language, *name, *state;
    if (api_query(c, "language", texts[0], sizeof texts[0], &language, &e) ||
        api_query(c, "name", texts[1], sizeof texts[1], &name, &e) ||
        api_query(c, "state", texts[2], sizeof texts[2], &state, &e)) {
        api_fail(c, &e, NULL);
        return;
    }
    if (state && strcmp(state, "ended") == 0) {
        list_ended(c);
        return;
    }
    json_t *list = json_array();
    for (const struct session *s = sessions_first(c->api->sessions); s; s = s->next)
        if (history_may_see(c, s->spec.key, s->created_ms) &&
            matches(language, s->spec.language->name) && matches(name, s->spec.name) &&
            matches(state, session_state_word(s->state)))
            (void)json_array_append_new(list, session_object(s));
    api_reply(c, 200, json_pack("{s:o}", "sessions", list));
}

/* ---- one session ---- */

struct measure_waiter {
    struct session_watch watch;
    struct api_call *call;
    unsigned restarts;
};

static void on_measured(struct session_watch *watch, struct session *s, enum session_event event)
{
    struct measure_waiter *w = (struct measure_waiter *)watch;
    if (event != SESSION_EVENT_MEASURED && event != SESSION_EVENT_ENDED &&
        s->state != SESSION_SLEEPING && s->restarts == w->restarts)
        return;
    api_reply(w->call, 200, session_object(s));
    session_watch_remove(s, watch);
    free(w);
}

static void get_session(struct api_call *c)
{
    struct session *s = session_to_see(c);
    struct measure_waiter *w;
    if (!s)
        return;
    if (!session_measure(s) || !(w = calloc(1, sizeof *w))) {
        api_reply(c, 200, session_object(s));
        return;
    }
    *w = (struct measure_waiter){ { on_measured, NULL }, c, s->restarts };
    session_watch_add(s, &w->watch);
}

static const struct api_field change_fields[] = {
    { "name", FIELD_STRING, .min = 1, .max = NAME_MAX_BYTES, .help = "a new name" },
    { "idle_s", FIELD_NUMBER, .min = 1, .max = TTL_MAX_S,
      .help = "it ends or sleeps after so many seconds without a cell" },
    { "idle", FIELD_STRING, .one_of = session_idle_words,
      .help = "after idle_s it ends, or sleeps until it is used again" },
    { "cell_limits", FIELD_LIMITS, .help = "limits of the cells from now on" },
    { "undo", FIELD_INT, .min = 0, .max = UNDO_MAX,
      .help = "keep the states before so many of its last cells" },
    NETWORK_FIELD,
    { "metadata", FIELD_ANY, .help = "any JSON; the session returns it" },
    { 0 },
};

static void patch_session(struct api_call *c)
{
    struct err e = { 0 };
    char field[128] = "", *name = NULL;
    struct limits cell;
    struct session *s = session_to_change(c);
    if (!s)
        return;
    const json_t *given_undo = json_object_get(c->body, "undo");
    scoped(network_policy) network = { 0 };
    unsigned undo = (unsigned)json_integer_value(given_undo);
    if (check_places(c->body, field, sizeof field, &e) ||
        check_undo(s->spec.language, undo, field, sizeof field, &e) ||
        take_cell_limits(c->api, c->body, &cell, field, sizeof field, &e) ||
        network_change_parse(c, s, &network, field, sizeof field, &e) ||
        take_idle(c->body, s->spec.language, &s->spec.idle_sleeps, field, sizeof field, &e)) {
        api_fail(c, &e, field[0] ? field : NULL);
        return;
    }
    if (api_text(c, "name") && (name = strdup(api_text(c, "name")))) {
        free(s->spec.name);
        s->spec.name = name;
    }
    if (json_object_get(c->body, "cell_limits"))
        s->spec.cell_limits = cell;
    if (given_undo)
        session_set_undo(s, undo);
    json_t *metadata = json_object_get(c->body, "metadata");
    if (metadata) {
        json_decref(s->spec.metadata);
        s->spec.metadata = json_incref(metadata);
    }
    if (json_object_get(c->body, "idle_s"))
        session_set_idle(s, seconds(c->body, "idle_s", IDLE_S));
    if (json_object_get(c->body, "network"))
        session_set_network(s, &network);
    session_save(s);
    network_change_reply(c, s);
}

static void delete_session(struct api_call *c)
{
    char reason[KEY_NAME_MAX + 64];
    struct session *s = session_to_change(c);
    if (!s)
        return;
    (void)snprintf(reason, sizeof reason, "it was deleted by %s", c->who.name);
    session_end(s, reason); /* it lives until its end is recorded */
    api_reply_after_writes(c, 200, session_object(s));
}

static void post_restart(struct api_call *c)
{
    struct session *s = session_to_change(c);
    if (!s)
        return;
    struct create_waiter *w = calloc(1, sizeof *w);
    if (!w) {
        api_fail_no_memory(c);
        return;
    }
    w->call = c;
    w->watch.on_event = on_created;
    session_watch_add(s, &w->watch);
    session_restart(s);
}

static const struct api_field interrupt_fields[] = {
    { "cell", FIELD_INT, .min = 1, .max = 1e9,
      .help = "only this cell; by default the one that runs or is next in line" },
    { 0 },
};

static void post_interrupt(struct api_call *c)
{
    struct err e = { 0 };
    struct session *s = session_to_change(c);
    if (!s)
        return;
    json_int_t number = json_integer_value(json_object_get(c->body, "cell"));
    if (session_interrupt(s, (unsigned)number, &e))
        api_fail(c, &e, number ? "cell" : NULL);
    else
        api_reply(c, 202, session_object(s));
}

/* ---- stdin ---- */

static const struct api_field input_fields[] = {
    { "text", FIELD_DATA, .max = 1 << 20, .help = "the line, without its newline" },
    { "eof", FIELD_BOOL, .help = "true: there is no more input" },
    { 0 },
};

static void post_input(struct api_call *c)
{
    struct err e = { 0 };
    struct session *s = session_to_change(c);
    if (!s)
        return;
    const json_t *text = json_object_get(c->body, "text");
    bool eof = run_flag(c->body, "eof", false);
    const struct cell *cell = session_current(s);
    if (!text && !eof) {
        (void)!err_set(&e, ERR_BAD_REQUEST, 0, "there is no input: give 'text', or 'eof': true");
        api_fail(c, &e, "text");
        return;
    }
    const char *bytes = text ? json_string_value(text) : "";
    size_t n = text ? json_string_length(text) : 0;
    if ((cell && approvals_check_stdin(c->api, cell->run, bytes, n, &e)) ||
        session_input(s, bytes, n, eof, &e))
        api_fail(c, &e, NULL);
    else
        api_reply(c, 202, session_object(s));
}

/* ---- answers ---- */

static const struct api_field list_reply[] = {
    { "sessions", FIELD_OBJECTS, ALWAYS, .fields = session_reply, .help = "the newest first" },
    { .schema = "SessionList" },
};
const struct api_route session_routes[] = {
    { METHOD_POST, "/v1/sessions", SCOPE_RUN, .body = create_fields, .query = create_query,
      .receive = session_file_receive, .handle = post_session,
      .summary = "Start a session: a program that runs one cell after another",
      .replies = REPLIES({ 201, .fields = session_reply }) },
    { METHOD_GET, "/v1/sessions", SCOPE_ANY, .query = list_query, .handle = list_sessions,
      .summary = "The sessions, newest first", .replies = REPLIES({ 200, .fields = list_reply }) },
    { METHOD_GET, "/v1/sessions/{id}", SCOPE_ANY, .handle = get_session, .summary = "One session",
      .replies = REPLIES({ 200, .fields = session_reply }) },
    { METHOD_PATCH, "/v1/sessions/{id}", SCOPE_RUN, .body = change_fields, .handle = patch_session,
      .summary = "Change a session", .replies = REPLIES({ 200, .fields = session_reply }) },
    { METHOD_DELETE, "/v1/sessions/{id}", SCOPE_RUN, .handle = delete_session,
      .summary = "End a session", .replies = REPLIES({ 200, .fields = session_reply }) },
    { METHOD_POST, "/v1/sessions/{id}/restart", SCOPE_RUN, .handle = post_restart,
      .summary = "Start the program of a session anew, without its variables and files",
      .replies = REPLIES({ 201, .fields = session_reply }) },
    { METHOD_POST, "/v1/sessions/{id}/interrupt", SCOPE_RUN, .body = interrupt_fields,
      .flags = ROUTE_BODY_OPTIONAL, .handle = post_interrupt,
      .summary = "Interrupt a cell; the session lives on",
      .replies = REPLIES({ 202, .fields = session_reply }) },
    { METHOD_POST, "/v1/sessions/{id}/stdin", SCOPE_RUN, .body = input_fields, .handle = post_input,
      .summary = "The answer to an input_request of the cell that runs",
      .replies = REPLIES({ 202, .fields = session_reply }) },
    { 0 },
};
