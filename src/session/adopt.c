/* The parts of a session that outlive the keeper: a note at the warden, which holds the jar, and two
 * files. ID.spec has everything that a client asked for; ID.cell has the journal of the cell that
 * runs (session/cell_file.h).
 *
 * The note, the descriptors and the files come from an earlier keeper, which a guest may have taken
 * over. The row of the session and the row of the run decide whose they are; limits are bounded
 * again. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/strv.h"
#include "base/text.h"
#include "run/json.h"
#include "session/session_impl.h"
#include "spec/bundle.h"
#include "spec/mount.h"
#include "store/run_rows.h"
#include "store/session_rows.h"

enum { FILE_NAME = ID_SIZE + 8, SPEC_MAX = 512 << 20 };

static void name_of(const char *id, const char *ending, char out[FILE_NAME])
{
    (void)snprintf(out, FILE_NAME, "%s.%s", id, ending);
}

/* ---- to keep it ---- */

/* As one text: it is read much faster than a list, and a service may have many sessions. */
static json_t *limits_json(const struct limits *l)
{
    char text[LIMIT_COUNT * 21 + 1] = "";
    size_t n = 0;
    for (int i = 0; i < LIMIT_COUNT; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%llu", i ? " " : "",
                              (unsigned long long)l->v[i]);
    return json_string(text);
}

static bool is_empty(const json_t *v)
{
    return json_is_null(v) || json_is_false(v) ||
           (json_is_integer(v) && json_integer_value(v) == 0) ||
           (json_is_string(v) && json_string_length(v) == 0) ||
           (json_is_array(v) && json_array_size(v) == 0);
}

/* A member that is not there is read as an empty one. */
static void drop_empty(json_t *o)
{
    const char *key;
    json_t *v;
    void *next;
    json_object_foreach_safe(o, next, key, v)
    {
        if (is_empty(v))
            (void)json_object_del(o, key);
    }
}

static json_t *mounts_json(char *const *mounts)
{
    json_t *list = json_array();
    for (size_t i = 0; mounts && mounts[i]; i++)
        (void)json_array_append_new(list, json_string(mounts[i]));
    return list;
}

json_t *session_spec_json(const struct session *s)
{
    json_t *o = json_pack("{s:I, s:s?, s:s?, s:s?, s:o, s:o, s:I, s:b, s:b}", "created_ms",
                          (json_int_t)s->created_ms, "name", s->spec.name, "actor", s->spec.actor,
                          "client_id", s->spec.client_id, "limits", limits_json(&s->spec.limits),
                          "cell_limits", limits_json(&s->spec.cell_limits), "idle_ms",
                          (json_int_t)s->spec.idle_ms, "idle_sleeps", s->spec.idle_sleeps,
                          "is_copy", s->spec.is_copy);
    json_t *env = json_array();
    for (char **v = s->spec.env; v && *v; v++)
        (void)json_array_append_new(env, json_string(*v));
    json_put(o, "env", env);
    json_put(o, "mounts", mounts_json(s->spec.mounts));
    if (s->spec.metadata)
        (void)json_object_set(o, "metadata", s->spec.metadata);
    if (s->spec.begins_in && s->spec.begins_owner) {
        json_put(o, "begins_in", json_string(s->spec.begins_in));
        json_put(o, "begins_owner", json_string(s->spec.begins_owner));
    }
    json_put(o, "has_unknown_past", json_boolean(s->spec.has_unknown_past));
    json_t *network = network_spec_json(&s->spec.network);
    if (network)
        json_put(o, "network", network);
    json_put(o, "undo", json_integer(s->spec.undo));
    json_put(o, "checkpoints", checkpoints_json(s));
    json_put(o, "asleep_ms", json_integer((json_int_t)s->asleep_ms));
    json_put(o, "asleep_since_ms", json_integer(s->asleep_since_ms));
    json_put(o, "first_cell", json_integer(s->first_cell));
    json_put(o, "restarts", json_integer(s->restarts));
    if (s->replayed)
        (void)json_object_set(o, "replayed", s->replayed);
    if (session_replays(s))
        json_put(o, "replay", session_replay_json(s));
    json_put(o, "has_files", json_boolean(s->has_files || s->spec.bundle.len > 0));
    drop_empty(json_object_get(o, "checkpoints"));
    drop_empty(o);
    return o;
}

static int write_spec(const struct session *s, const char *name, struct err *e)
{
    autofree char *text = json_line(session_spec_json(s));
    autoclose int fd = openat(s->all->dir_fd, name,
                              O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (!text)
        return err_no_memory(e, "a session");
    if (fd < 0 || fd_write_all(fd, text, strlen(text) + 1) ||
        fd_write_all(fd, s->spec.bundle.data, s->spec.bundle.len))
        return err_set(e, ERR_KERNEL, errno, "write the spec of a session");
    return 0;
}

static int save(const struct session *s, struct err *e)
{
    char name[FILE_NAME], fresh[FILE_NAME];
    name_of(s->id, "spec", name);
    name_of(s->id, "new", fresh);
    if (write_spec(s, fresh, e))
        return -1;
    return renameat(s->all->dir_fd, fresh, s->all->dir_fd, name) < 0
               ? err_set(e, ERR_KERNEL, errno, "name the spec of a session")
               : 0;
}

void session_save(struct session *s)
{
    struct err e = { 0 };
    if (s->state == SESSION_SLEEPING || session_replays(s))
        session_sleep_save(s);
    else if (s->file.fd >= 0 && save(s, &e))
        log_error(LOG_WARN, "session.save", &e);
}

static int open_file(struct session *s, int flags, struct err *e)
{
    char name[FILE_NAME];
    name_of(s->id, "cell", name);
    s->file = (struct cell_file){ .fd = openat(s->all->dir_fd, name,
                                               O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600) };
    return s->file.fd < 0 ? err_set(e, ERR_KERNEL, errno, "open the journal of a session") : 0;
}

static int keep(struct session *s, struct err *e)
{
    struct session_program *p = s->program;
    cell_file_done(&s->file);
    if (save(s, e) || open_file(s, O_CREAT | O_TRUNC, e))
        return -1;
    autofree char *note = json_line(json_pack("{s:s, s:I, s:I, s:s*}", "session", s->id, "restarts",
                                              (json_int_t)s->restarts, "seq", (json_int_t)p->in_seq,
                                              "from", s->program_from[0] ? s->program_from : NULL));
    if (!note)
        return err_no_memory(e, "a session");
    return jar_run_keep(&p->jar.jar, note, strlen(note), e);
}

/* A session that cannot be kept works, and ends with this keeper. */
void session_keep(struct session *s)
{
    struct err e = { 0 };
    if (keep(s, &e)) {
        log_error(LOG_WARN, "session.keep", &e);
        session_forget(s);
    }
}

static void remove_files(int dir_fd, const char *id)
{
    static const char *const all[] = { "spec", "cell", "new" };
    char name[FILE_NAME];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        name_of(id, all[i], name);
        (void)unlinkat(dir_fd, name, 0);
    }
}

void session_forget(struct session *s)
{
    cell_file_done(&s->file);
    remove_files(s->all->dir_fd, s->id);
}

/* ---- to find it again ---- */

struct adoption {
    struct sessions *all;
    json_t *sessions, *runs;
    bool images_are_wanted; /* there is a jar: its session has checkpoints */
};

/* A session as an earlier keeper describes it, and the rows that the description must agree with. */
struct earlier_session {
    struct store_job job; /* first: the store returns it */
    struct adoption *adoption;
    /* the note */
    char id[ID_SIZE];
    char from[ID_SIZE]; /* "": none */
    json_int_t restarts, seq;
    /* the file of its cell */
    struct cell_file_head head;
    char run_id[ID_SIZE]; /* "": none */
    /* the warden's word */
    uint64_t armed; /* the number of the cell that it bounds; 0: none */
    /* the file of its spec */
    json_t *checkpoints;
    /* the rows */
    struct session_row row;
    int64_t cells;
    struct run_record run;
    json_t *spec;
};

static void earlier_session_done(struct earlier_session *old)
{
    json_decref(old->spec);
    session_row_done(&old->row);
    json_decref(old->checkpoints);
    run_record_done(&old->run);
}

/* The note becomes a name of files. */
static bool is_id(const char *text, const char *prefix)
{
    size_t n = strlen(text);
    return n < ID_SIZE && strncmp(text, prefix, strlen(prefix)) == 0 &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == n;
}

static int read_note(const struct wire_kept *kept, struct earlier_session *old, struct err *e)
{
    const char *id, *from = "";
    json_auto_t *note = json_loadb(kept->note, kept->note_len, 0, NULL);
    if (!note ||
        json_unpack(note, "{s:s, s:I, s:I, s?s}", "session", &id, "restarts", &old->restarts, "seq",
                    &old->seq, "from", &from) < 0 ||
        !is_id(id, "ses_") || (*from && !is_id(from, "ses_")) || old->restarts < 0 ||
        old->seq < 0 || old->seq > UINT32_MAX)
        return err_set(e, ERR_PROTOCOL, 0, "the note of a session is not one of ours");
    (void)snprintf(old->id, sizeof old->id, "%s", id);
    (void)snprintf(old->from, sizeof old->from, "%s", from);
    return 0;
}

static int read_rows(struct db *db, struct store_job *job, struct err *e)
{
    struct earlier_session *old = (struct earlier_session *)job;
    struct err none = { 0 };
    if (sessions_get(db, old->id, &old->row, e) ||
        sessions_count_cells(db, old->id, &old->cells, e))
        return -1;
    if (old->run_id[0] && runs_get(db, old->run_id, RUN_WITHOUT_BLOBS, &old->run, &none))
        old->run_id[0] = '\0'; /* its row was never written: nobody was told of it */
    return 0;
}

/* The earlier keeper may have been killed before it recorded the adoption of a copy. */
static int write_adoption(struct db *db, struct store_job *job, struct err *e)
{
    const struct earlier_session *old = (struct earlier_session *)job;
    return sessions_set_adopted(db, old->from, old->id, e);
}

static void on_rows(struct store_job *job)
{
    (void)job;
}

static int find_rows(struct sessions *all, struct earlier_session *old, struct err *e)
{
    old->job = (struct store_job){ .work = write_adoption, .done = on_rows };
    if (old->from[0]) {
        store_write(all->store, &old->job);
        store_wait(all->store);
        if (old->job.err.code != ERR_NONE)
            log_error(LOG_WARN, "session.adopt", &old->job.err);
    }
    old->job = (struct store_job){ .work = read_rows, .done = on_rows };
    store_read(all->store, &old->job);
    store_wait(all->store);
    if (old->job.err.code != ERR_NONE) {
        *e = old->job.err;
        return -1;
    }
    if (old->row.ended_ms)
        return err_set(e, ERR_GONE, 0, "session '%s' has ended", old->id);
    return 0;
}

/* Older rows have the first limits alone. */
enum { FIRST_LIMITS = LIMIT_OPEN_FILES + 1 };

static int take_limits(const json_t *spec, const char *key, const struct limits *most,
                       struct limits *ret, struct err *e)
{
    const json_t *a = json_object_get(spec, key); /* a list, in older rows */
    const char *text = json_string_value(a);
    const struct limits defaults = limits_default();
    if (!text && json_array_size(a) < FIRST_LIMITS)
        return err_set(e, ERR_PROTOCOL, 0, "the spec of a session lacks '%s'", key);
    for (size_t i = 0; i < LIMIT_COUNT; i++) {
        char *end;
        json_int_t v = text ? (json_int_t)strtoll(text, &end, 10)
                            : json_integer_value(json_array_get(a, i));
        if (i >= FIRST_LIMITS && (text ? end == text : i >= json_array_size(a)))
            v = (json_int_t)defaults.v[i];
        else if (text && end == text)
            return err_set(e, ERR_PROTOCOL, 0, "'%s' in the spec of a session is cut short", key);
        text = text ? end : NULL;
        ret->v[i] = v > 0 ? (uint64_t)v : 0;
        if (most && ret->v[i] > most->v[i])
            ret->v[i] = most->v[i];
    }
    return 0;
}

static int take_env(const json_t *spec, char ***ret, struct err *e)
{
    const json_t *a = json_object_get(spec, "env");
    size_t n = json_array_size(a);
    char **env = calloc(n + 1, sizeof *env);
    if (!env)
        return err_no_memory(e, "a session");
    for (size_t i = 0; i < n; i++) {
        const char *text = json_string_value(json_array_get(a, i));
        env[i] = strdup(text ? text : "");
        if (!env[i]) {
            strv_free(env);
            return err_no_memory(e, "a session");
        }
    }
    *ret = env;
    return 0;
}

/* Their roots are looked for at each start of a program. */
static int take_mounts(const json_t *spec, char ***ret, struct err *e)
{
    const json_t *a = json_object_get(spec, "mounts");
    for (size_t i = 0; i < json_array_size(a); i++) {
        const char *text = json_string_value(json_array_get(a, i));
        if (strv_add(ret, text ? text : "", e))
            return -1;
    }
    return mounts_check(*ret, MOUNT_ROOTS_MAX, e);
}

int session_spec_take(const struct sessions *all, const json_t *o, const struct session_row *row,
                      struct session_spec *ret, struct err *e)
{
    const struct limits *most = &all->limits.cell_max;
    ret->language = row->language ? language_find(row->language) : NULL;
    if (!json_is_object(o) || !ret->language || !ret->language->session ||
        json_integer_value(json_object_get(o, "created_ms")) != row->created_ms)
        return err_set(e, ERR_PROTOCOL, 0, "the spec of session '%s' is not that of its row",
                       row->id);
    if (take_limits(o, "limits", NULL, &ret->limits, e) ||
        take_limits(o, "cell_limits", most, &ret->cell_limits, e) || take_env(o, &ret->env, e) ||
        take_mounts(o, &ret->mounts, e) ||
        network_spec_take(json_object_get(o, "network"), &ret->network, e))
        return -1;
    ret->idle_ms = (uint64_t)json_integer_value(json_object_get(o, "idle_ms"));
    ret->idle_sleeps = json_is_true(json_object_get(o, "idle_sleeps"));
    ret->is_copy = json_is_true(json_object_get(o, "is_copy"));
    ret->name = text_copy(json_string_value(json_object_get(o, "name")));
    ret->actor = text_copy(json_string_value(json_object_get(o, "actor")));
    ret->client_id = text_copy(json_string_value(json_object_get(o, "client_id")));
    ret->key = text_copy(row->key);
    ret->metadata = json_incref(json_object_get(o, "metadata"));
    json_int_t undo = json_integer_value(json_object_get(o, "undo"));
    ret->undo = undo > 0 && undo <= UNDO_MAX ? (unsigned)undo : 0;
    ret->parent = text_copy(row->parent);
    ret->parent_image = text_copy(row->parent_image);
    ret->parent_cell = (unsigned)row->parent_cell;
    ret->begins_in = text_copy(json_string_value(json_object_get(o, "begins_in")));
    ret->begins_owner = text_copy(json_string_value(json_object_get(o, "begins_owner")));
    /* Keepers before this one did not write it. */
    ret->has_unknown_past = json_is_true(json_object_get(o, "has_unknown_past")) ||
                            (ret->is_copy && !ret->parent && !ret->begins_in);
    return 0;
}

void session_take_history(struct session *s, const json_t *o)
{
    s->asleep_ms = (uint64_t)json_integer_value(json_object_get(o, "asleep_ms"));
    s->first_cell = (unsigned)json_integer_value(json_object_get(o, "first_cell"));
    s->restarts = (unsigned)json_integer_value(json_object_get(o, "restarts"));
    s->replayed = json_incref(json_object_get(o, "replayed"));
}

/* The text of the spec, a NUL, and the files that the session began with. */
static int read_spec_file(const struct sessions *all, const char *id, struct buf *bytes,
                          size_t *ret_text, struct err *e)
{
    char name[FILE_NAME];
    name_of(id, "spec", name);
    autoclose int fd = openat(all->dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "open the spec of a session");
    if (fd_read_to_buf(fd, SPEC_MAX, bytes, e))
        return -1;
    *ret_text = strnlen(buf_str(bytes), bytes->len);
    return *ret_text < bytes->len
               ? 0
               : err_set(e, ERR_PROTOCOL, 0, "the spec of session '%s' is cut short", id);
}

static int read_spec(struct sessions *all, struct earlier_session *old, struct session_spec *ret,
                     struct err *e)
{
    scoped(buf) bytes = { 0 };
    size_t n;
    if (read_spec_file(all, old->id, &bytes, &n, e))
        return -1;
    old->spec = json_loadb(buf_str(&bytes), n, JSON_REJECT_DUPLICATES, NULL);
    if (session_spec_take(all, old->spec, &old->row, ret, e))
        return -1;
    old->checkpoints = json_incref(json_object_get(old->spec, "checkpoints"));
    return bytes.len > n + 1 ? buf_add(&ret->bundle, bytes.data + n + 1, bytes.len - n - 1, e) : 0;
}

/* ---- the files of a session that sleeps ---- */

void session_put_away(struct session *s)
{
    char name[FILE_NAME];
    s->has_files = s->has_files || s->spec.bundle.len > 0;
    buf_done(&s->spec.bundle);
    s->spec.bundle = (struct buf){ 0 };
    cell_file_done(&s->file);
    if (!s->has_files) {
        remove_files(s->all->dir_fd, s->id);
        return;
    }
    name_of(s->id, "cell", name);
    (void)unlinkat(s->all->dir_fd, name, 0);
}

void session_sync_files(int dir_fd, const char *id)
{
    char name[FILE_NAME];
    name_of(id, "spec", name);
    autoclose int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && (fsync(fd) < 0 || fsync(dir_fd) < 0))
        log_event(LOG_WARN, "session.sync", "id=%s errno=%d", id, errno);
}

/* The image has its files as they are. Only a restart needs these, so it goes on without them. */
void session_take_out(struct session *s)
{
    scoped(buf) bytes = { 0 };
    struct err e = { 0 };
    size_t n;
    if (s->has_files && (read_spec_file(s->all, s->id, &bytes, &n, &e) ||
                         buf_add(&s->spec.bundle, bytes.data + n + 1, bytes.len - n - 1, &e)))
        log_error(LOG_WARN, "session.files", &e);
    s->has_files = false;
}

/* ---- the cell that ran ---- */

/* As in its request, which is in the history. */
static int cell_spec(struct session *s, const struct earlier_session *old, struct run_spec *ret,
                     bool *ret_silent, struct err *e)
{
    json_auto_t *request = old->run.request ? json_loads(old->run.request, 0, NULL) : NULL;
    const char *code = json_string_value(json_object_get(request, "code"));
    const json_t *limits = json_object_get(request, "limits");
    *ret = (struct run_spec){ .language = s->spec.language, .host = &s->host };
    if (!code)
        return err_set(e, ERR_PROTOCOL, 0, "the request of run '%s' has no code", old->run_id);
    if (network_policy_copy(&s->spec.network, &ret->network, e))
        return -1;
    ret->limits = s->spec.limits;
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const json_t *v = json_object_get(limits, limit_defs[i].key);
        if (json_is_integer(v))
            ret->limits.v[i] = (uint64_t)json_integer_value(v);
    }
    char main_name[MAIN_NAME_SIZE];
    ret->main_name = strdup(language_main_name(s->spec.language, code, strlen(code), main_name));
    ret->code = strdup(code);
    ret->request = strdup(old->run.request);
    ret->surface = strdup("session");
    ret->thread = strdup(s->id);
    ret->key = text_copy(old->row.key);
    ret->actor = old->head.actor[0] ? strdup(old->head.actor) : NULL;
    ret->requester = old->head.requester[0] ? strdup(old->head.requester) : NULL;
    ret->metadata = json_incref(json_object_get(request, "metadata"));
    *ret_silent = json_is_true(json_object_get(request, "silent"));
    if (!ret->main_name || !ret->code || !ret->request || !ret->surface || !ret->thread)
        return err_no_memory(e, "a cell");
    const json_t *given = json_object_get(request, "stdin");
    if (json_is_string(given) &&
        buf_add(&ret->stdin_bytes, json_string_value(given), json_string_length(given), e))
        return -1;
    if (bundle_add(&ret->bundle, main_name, 0644, code, strlen(code), e))
        return -1;
    return 0;
}

static bool is_its_cell(const struct session *s, const struct earlier_session *old)
{
    const struct run_record *r = &old->run;
    return old->run_id[0] && r->thread && strcmp(r->thread, s->id) == 0 && r->surface &&
           strcmp(r->surface, "session") == 0;
}

static int resume_cell(struct session *s, const struct earlier_session *old, struct err *e)
{
    scoped(run_spec) spec = { 0 };
    struct cell *c;
    struct run *run;
    bool silent = false;
    if (cell_spec(s, old, &spec, &silent, e) || cell_new(s, silent, &c, e))
        return -1;
    c->number = old->head.number;
    c->wall_ms = spec.limits.v[LIMIT_WALL_MS];
    s->state = SESSION_BUSY; /* so that the submission does not begin it */
    if (engine_submit(s->all->engine, &spec, SUBMIT_UNBOUNDED | SUBMIT_STORED, old->run_id,
                      &c->watch, &run, e)) {
        cell_drop(c);
        return -1;
    }
    cell_set_run(c, run);
    (void)json_array_append_new(old->adoption->runs, json_string(old->run_id));
    return cells_resume(c, &old->head, old->run.created_ms, old->armed == old->head.number, e);
}

/* ---- one session ---- */

static int set_up(struct session *s, const struct earlier_session *old, struct err *e)
{
    session_take_history(s, old->spec);
    int64_t age = clock_unix_ms() - old->row.created_ms - (int64_t)s->asleep_ms;
    bool runs = is_its_cell(s, old) && old->run.state != RUN_FINISHED;
    s->created_ms = old->row.created_ms;
    s->restarts = (unsigned)old->restarts;
    s->is_stored = true;
    checkpoints_adopt(s, old->checkpoints, old->head.number);
    if (age > 0 && (uint64_t)age < s->created_loop_ms)
        s->created_loop_ms -= (uint64_t)age;
    if (old->armed && (!runs || old->armed != old->head.number))
        return err_set(e, ERR_PROTOCOL, 0, "its cell %llu has no journal",
                       (unsigned long long)old->armed);
    network_take_over(s);
    if (runs && resume_cell(s, old, e))
        return -1;
    if (s->cells < old->cells)
        s->cells = (unsigned)old->cells;
    if (s->state == SESSION_STARTING)
        session_set_state(s, SESSION_IDLE);
    session_schedule(s);
    cells_advance(s);
    return 0;
}

static int find_session(const struct wire_kept *kept, struct earlier_session *old,
                        struct session **ret, struct err *e)
{
    struct sessions *all = old->adoption->all;
    scoped(session_spec) spec = { 0 };
    struct session *s;
    if (read_note(kept, old, e))
        return -1;
    struct session named = { .all = all };
    (void)snprintf(named.id, sizeof named.id, "%s", old->id);
    if (session_find(all, old->id))
        return err_set(e, ERR_PROTOCOL, 0, "session '%s' has two jars", old->id);
    if (open_file(&named, 0, e))
        return -1;
    if (cell_file_read_head(&named.file, &old->head) && is_id(old->head.run, "run_"))
        (void)snprintf(old->run_id, sizeof old->run_id, "%s", old->head.run);
    if (find_rows(all, old, e) || read_spec(all, old, &spec, e) ||
        session_make(all, &spec, &s, e)) {
        cell_file_done(&named.file);
        return -1;
    }
    (void)snprintf(s->id, sizeof s->id, "%s", old->id);
    (void)snprintf(s->program_from, sizeof s->program_from, "%s", old->from);
    s->file = named.file;
    *ret = s;
    return 0;
}

struct waiting_search {
    struct sessions_wait wait;
    struct err err;
};

static void on_images(void *context, const struct err *e)
{
    *(struct err *)context = e ? *e : (struct err){ 0 };
}

static void on_searched(struct sessions_wait *w, const struct err *e)
{
    on_images(&((struct waiting_search *)w)->err, e);
}

/* Before the loop runs. */
static int search_now(struct sessions *all, struct err *e)
{
    struct waiting_search w = { .wait.on_done = on_searched };
    if (sessions_await(all, &w.wait, e))
        return -1;
    store_wait(all->store);
    if (w.err.code == ERR_NONE)
        return 0;
    *e = w.err;
    return -1;
}

/* Without them, sessions with checkpoints have none: the search fails again later, and says so. */
static void list_images(struct adoption *a)
{
    struct err e = { 0 };
    if (a->images_are_wanted)
        return;
    a->images_are_wanted = true;
    if (images_search(a->all->images, on_images, &e, &e) == 0)
        store_wait(a->all->store);
    if (e.code != ERR_NONE)
        log_error(LOG_ERROR, "images.search", &e);
}

static void on_kept(void *context, struct wire_message *m)
{
    struct adoption *a = context;
    struct session_program *p;
    struct session *s = NULL;
    struct wire_kept kept;
    struct err e = { 0 };
    scoped(earlier_session) old = { .adoption = a };
    list_images(a);
    /* The program first: its end is told to us in any case. */
    if (wire_read_kept(m, &kept, &e) || program_adopt(a->all, m, &p, &e)) {
        log_error(LOG_ERROR, "session.adopt", &e);
        return;
    }
    if (find_session(&kept, &old, &s, &e)) {
        log_error(LOG_WARN, "session.adopt", &e);
        program_detach(p);
        return;
    }
    bool answers = kept.cell >= QUESTION_REQUESTS; /* and nobody waits for it any more */
    old.armed = answers ? 0 : kept.cell;
    program_attach(p, s, (uint32_t)old.seq, kept.cell > 0);
    (void)json_array_append_new(a->sessions, json_string(s->id));
    if ((answers && program_disarm(p, &e)) || set_up(s, &old, &e)) {
        char why[160];
        log_error(LOG_WARN, "session.adopt", &e);
        (void)snprintf(why, sizeof why, "the service was restarted, and %.100s", ERR_SHOWN(&e));
        session_end(s, why);
        return;
    }
    log_event(LOG_INFO, "session.adopted", "id=%s cells=%u cell=%llu", s->id, s->cells,
              (unsigned long long)kept.cell);
}

/* ---- all sessions ---- */

void sessions_sweep_files(const struct sessions *all, const struct sessions_list *list)
{
    int copy = openat(all->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    autodir DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    char id[ID_SIZE];
    const struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        size_t n = strcspn(entry->d_name, ".");
        if (n == 0 || n >= sizeof id)
            continue;
        (void)snprintf(id, sizeof id, "%.*s", (int)n, entry->d_name);
        if (!sessions_list_find(list, id))
            (void)unlinkat(all->dir_fd, entry->d_name, 0);
    }
}

int sessions_adopt(struct sessions *all, json_t **ret_sessions, json_t **ret_runs, struct err *e)
{
    struct adoption a = { .all = all, .sessions = json_array(), .runs = json_array() };
    struct err lost = { 0 };
    if (!a.sessions || !a.runs) {
        json_decref(a.sessions);
        json_decref(a.runs);
        return err_no_memory(e, "the sessions");
    }
    if (engine_adopt(all->engine, on_kept, &a, &lost)) /* the next warden comes, without them */
        log_error(LOG_ERROR, "session.adopt", &lost);
    if (a.images_are_wanted && search_now(all, e)) {
        json_decref(a.sessions);
        json_decref(a.runs);
        return -1;
    }
    *ret_sessions = a.sessions;
    *ret_runs = a.runs;
    return 0;
}
