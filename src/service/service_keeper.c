#include "service/service_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "api/approvals/approvals.h"
#include "api/kernel/api.h"
#include "api/templates/template_rebuild.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/process.h"
#include "base/strv.h"
#include "engine/engine.h"
#include "engine/programs.h"
#include "examiner/examiner.h"
#include "http/http.h"
#include "run/home_seed.h"
#include "run/json.h"
#include "run/privileges.h"
#include "service/audit_retention.h"
#include "service/lifecycle.h"
#include "service/retention.h"
#include "service/sealing.h"
#include "service/state.h"
#include "service/version_answers.h"
#include "session/images.h"
#include "session/session.h"
#include "store/store.h"
#include "wire/wire.h"

/* Of a drain: how long runs may take to end, then clients to read their answers, then threads to end. */
enum { DRAIN_RUNS_MS = 30000, DRAIN_ANSWERS_MS = 2000, DRAIN_THREADS_MS = 20000 };
enum { HEAD_BYTES = 64 << 10, HEADERS = 100 };

struct service_keeper {
    const struct service_keeper_setup *setup;
    struct settings settings;
    char **mount_roots; /* of the warden, in its order; NULL: none */
    char data_dir[STATE_PATH_MAX + 8];
    uv_loop_t loop;
    struct store *store;
    struct engine *engine;
    struct sessions *sessions;
    struct images *images;
    struct http_server *http;
    struct api api;
    struct retention retention;
    struct sealing sealing;
    struct audit_retention audit_retention;
    struct version_answers answers;
    int output_fd, control_fd, examiner_fd;
    uv_poll_t store_poll, control_poll;
    uv_timer_t patience; /* of a drain */
    bool draining, idle, asleep, answered;
    struct wire_message message; /* one at a time; too large for the stack */
};

/* ---- giving up privileges ---- */

/* The operator's environment may contain secrets, and the keeper needs none of it. */
static void forget_environment(void)
{
    for (char **entry = environ; entry && *entry; entry++)
        explicit_bzero(*entry, strlen(*entry));
    (void)clearenv();
}

static int settle(const struct service_keeper_setup *s, struct err *e)
{
    int keep[SETTINGS_LISTEN_MAX + 5 + LANGUAGES_MAX] = { s->wire_fd, s->control_fd,
                                                          s->workspace_fd, s->key_fd,
                                                          s->porter_fd };
    size_t n = 5;
    for (size_t i = 0; i < s->n_listeners; i++)
        keep[n++] = s->listeners[i].fd;
    for (size_t i = 0; languages[i]; i++)
        keep[n++] = s->answers[i];
    if (fd_keep_only(keep, n, e) || process_null_fds(1, e))
        return -1;
    (void)umask(077);
    for (size_t i = 0; languages[i]; i++)
        home_seed_load(languages[i]);
    forget_environment();
    (void)signal(SIGPIPE, SIG_IGN);
    return privileges_drop(s->supervisor, s->uid, e);
}

/* It changes files only in its data and in the directory of /execute. */
static int confine(const struct service_keeper_setup *s, struct err *e)
{
    char data[STATE_PATH_MAX + 8], workspace[32];
    (void)snprintf(data, sizeof data, "%s/data", s->state_dir);
    (void)snprintf(workspace, sizeof workspace, "/proc/self/fd/%d", s->workspace_fd);
    const struct landlock_rule rules[] = {
        { data, LANDLOCK_WRITE_DATA, true }, /* reach_data() reports that it cannot be reached */
        { s->workspace_fd < 0 ? NULL : workspace, LANDLOCK_WRITE_DATA, false },
        { 0 },
    };
    return privileges_confine(ROLE_SERVICE_KEEPER, rules, e);
}

/* ---- opening ---- */

/* SQLite alone would only say that it cannot open a file. */
static int reach_data(struct service_keeper *k, struct err *e)
{
    (void)snprintf(k->data_dir, sizeof k->data_dir, "%s/data", k->setup->state_dir);
    autoclose int fd = open(k->data_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == EACCES)
        return err_set(e, ERR_DENIED, 0,
                       "uid %u, which the service runs as, cannot reach %s: let others pass "
                       "through its parents ('chmod o+x'), or use another --state",
                       geteuid(), k->data_dir);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "open %s", k->data_dir);
    if (mkdirat(fd, "output", 0700) < 0 && errno != EEXIST)
        return err_set(e, ERR_KERNEL, errno, "make %s/output", k->data_dir);
    k->output_fd = openat(fd, "output", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (k->output_fd < 0)
        return err_set(e, ERR_KERNEL, errno, "open %s/output", k->data_dir);
    return 0;
}

/* A directory of its own below its data. */
static int open_below(const struct service_keeper *k, const char *name, int *ret, struct err *e)
{
    autoclose int fd = open(k->data_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || (mkdirat(fd, name, 0700) < 0 && errno != EEXIST))
        return err_set(e, ERR_KERNEL, errno, "make %s/%s", k->data_dir, name);
    *ret = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return *ret < 0 ? err_set(e, ERR_KERNEL, errno, "open %s/%s", k->data_dir, name) : 0;
}

static int open_programs(struct service_keeper *k, struct err *e)
{
    int dir;
    if (open_below(k, "programs", &dir, e))
        return -1;
    programs_set_dir(engine_programs(k->engine), dir, k->settings.compile_cache);
    return 0;
}

static int refuse_open_doors(const struct service_keeper_setup *s, size_t keys, struct err *e)
{
    char text[LISTEN_TEXT];
    for (size_t i = 0; keys == 0 && i < s->n_listeners; i++)
        if (!listen_is_local(&s->listeners[i].address))
            return err_set(e, ERR_DENIED, 0,
                           "%s can be reached from other machines, and there is no API key: add "
                           "one first ('belljar keys add NAME --scopes run,read'), or listen on "
                           "127.0.0.1",
                           listen_format(&s->listeners[i].address, text));
    return 0;
}

static struct engine_limits engine_limits_of(const struct settings *s)
{
    return (struct engine_limits){ .max = (unsigned)settings_runs_max(s),
                                   .queue = (unsigned)settings_runs_queue(s),
                                   .burst = (unsigned)settings_runs_burst(s),
                                   .max_per_key = (unsigned)settings_runs_max_per_key(s),
                                   .memory = settings_runs_memory(s),
                                   .pids = settings_runs_pids(s),
                                   .undecided = (unsigned)s->approval_max,
                                   .bytes = s->runs_max_bytes,
                                   .no_values = !s->diagnosis_values };
}

/* The supervisor has already checked these words. */
static struct pools_settings pools_settings_of(const struct settings *s)
{
    struct pools_settings p = { .max = (unsigned)s->pools_max,
                                .min = (unsigned)s->pools_min,
                                .memory_floor = s->pools_memory_floor,
                                .zygote_forks = s->pools_zygote_forks,
                                .zygote_age_ms = s->pools_zygote_age,
                                .limits = s->limit_default };
    struct err e;
    (void)!pools_preload(s->pools_preload, &p.preload, &e);
    return p;
}

static struct sessions_limits sessions_limits_of(const struct service_keeper *k)
{
    const struct settings *s = &k->settings;
    return (struct sessions_limits){ .max = (unsigned)s->sessions_max,
                                     .max_per_key = (unsigned)s->sessions_max_per_key,
                                     .memory_floor = s->sessions_memory_floor,
                                     .sleep_max_ms = s->sessions_sleep_max_age,
                                     .template_ms = s->templates_wait,
                                     .cell_max = s->limit_max,
                                     .mount_roots = k->mount_roots,
                                     .mount_secrets = s->mount_secrets };
}

static struct images_limits images_limits_of(const struct settings *s)
{
    return (struct images_limits){ .max_bytes = s->images_max_bytes,
                                   .max_bytes_per_key = s->images_max_bytes_per_key,
                                   .min_free = s->storage_min_free,
                                   .memory_floor = s->sessions_memory_floor,
                                   .compress = s->images_compress };
}

static struct http_limits http_limits_of(const struct settings *s)
{
    return (struct http_limits){ .head_bytes = HEAD_BYTES,
                                 .headers = HEADERS,
                                 .body_bytes = s->http_max_body,
                                 .bodies_bytes = s->http_max_bodies,
                                 .connections = (unsigned)s->http_max_connections,
                                 .head_ms = (uint32_t)s->http_head_timeout,
                                 .body_ms = (uint32_t)s->http_body_timeout,
                                 .idle_ms = (uint32_t)s->http_idle_timeout,
                                 .write_ms = (uint32_t)s->http_write_timeout };
}

static int open_store(struct service_keeper *k, struct err *e)
{
    return reach_data(k, e) || store_open(&k->store, k->data_dir, e) ? -1 : 0;
}

/* A service without sessions boots no zygote for them; any other has it ready for the first one. */
static void expect_sessions(struct engine *engine, char *const *names)
{
    for (; names && *names; names++)
        if (language_find(*names))
            engine_expect_sessions(engine, language_find(*names));
}

/* Before the first request: a client finds its session as it was. Sleeping sessions are searched for
 * while requests come. */
static int take_over(struct service_keeper *k, struct err *e)
{
    struct lifecycle_start found = { 0 };
    json_t *sessions = NULL, *runs = NULL;
    int rc = sessions_adopt(k->sessions, &sessions, &runs, e);
    autofree char *living = json_line(sessions), *going = json_line(runs);
    if (rc || lifecycle_note_start(k->store, level_name(k->setup->isolation->level), living, going,
                                   &found, e))
        return -1;
    expect_sessions(k->engine, found.languages);
    strv_free(found.languages);
    if (refuse_open_doors(k->setup, found.keys, e))
        return -1;
    if (found.interrupted > 0)
        log_event(LOG_WARN, "history.interrupted", "runs=%lld", (long long)found.interrupted);
    return 0;
}

/* The examiner exists already, and does not have the keys. */
static int open_images(struct service_keeper *k, struct err *e)
{
    struct images_limits limits = images_limits_of(&k->settings);
    scoped(image_keys) keys = { 0 };
    int dir, key_fd = k->setup->key_fd;
    if (key_fd >= 0 && image_keys_read(key_fd, &keys, e))
        return -1;
    fd_close(&key_fd);
    return open_below(k, "images", &dir, e) ||
                   images_open(&k->images, &k->loop, k->store, dir, &limits, &keys, e)
               ? -1
               : 0;
}

/* The supervisor ends it, unless it is dead already, and starts another one. */
static void on_porter_lost(void *context, uint32_t number)
{
    const struct service_keeper *k = context;
    struct err e = { 0 };
    if (wire_send_porter_lost(k->control_fd, number, &e))
        log_error(LOG_ERROR, "porter.not_told", &e);
}

static int open_engine(struct service_keeper *k, struct err *e)
{
    const struct service_keeper_setup *s = k->setup;
    struct engine_limits limits = engine_limits_of(&k->settings);
    if (engine_new(&k->engine, &k->loop, k->store, k->output_fd, &limits, e))
        return -1;
    struct pools_settings pools = pools_settings_of(&k->settings);
    engine_set_pools(k->engine, &pools);
    if (open_programs(k, e))
        return -1;
    for (size_t i = 0; languages[i]; i++)
        if (s->versions[i][0])
            engine_set_version(k->engine, languages[i], s->versions[i]);
    version_answers_start(&k->answers, &k->loop, k->engine, s->answers);
    struct sessions_limits sessions = sessions_limits_of(k);
    int dir;
    if (engine_set_examiner(k->engine, fd_take(&k->examiner_fd), e) || open_images(k, e) ||
        open_below(k, "sessions", &dir, e) ||
        sessions_open(&k->sessions, &k->loop, k->engine, k->store, dir, k->images, &sessions, e))
        return -1;
    engine_watch_porter(k->engine, on_porter_lost, k);
    if (s->porter_fd >= 0 && engine_set_porter(k->engine, s->porter_fd, s->porter_number, e))
        return -1;
    return s->wire_fd < 0 ? 0 : engine_set_wire(k->engine, s->wire_fd, s->isolation, e);
}

static int open_http(struct service_keeper *k, struct err *e)
{
    const struct service_keeper_setup *s = k->setup;
    struct http_limits limits = http_limits_of(&k->settings);
    if (http_server_new(&k->http, &k->loop, &limits, &api_http_handlers, &k->api, api_every_header,
                        api_n_every_header, e))
        return -1;
    k->api = (struct api){ .loop = &k->loop,
                           .engine = k->engine,
                           .sessions = k->sessions,
                           .store = k->store,
                           .http = k->http,
                           .settings = &k->settings,
                           .data_dir = k->data_dir,
                           .workspace_fd = s->workspace_fd,
                           .output_dir_fd = k->output_fd };
    struct stat st;
    if (stat(s->state_dir, &st) < 0)
        return err_set(e, ERR_KERNEL, errno, "look at %s", s->state_dir);
    k->api.owner_uid = st.st_uid;
    for (size_t i = 0; i < s->n_listeners; i++)
        listen_host(&s->listeners[i].address, k->api.listeners[i], sizeof k->api.listeners[i]);
    if (api_open(&k->api, e) || approvals_open(&k->api, e) || template_rebuild_open(&k->api, e))
        return -1;
    for (size_t i = 0; i < s->n_listeners; i++)
        if (http_server_listen(k->http, s->listeners[i].fd, e) < 0)
            return -1;
    return 0;
}

/* ---- ending ---- */

static void maybe_end(struct service_keeper *k)
{
    if (k->idle && k->asleep && k->answered)
        uv_stop(&k->loop);
}

static void on_answered(void *context)
{
    struct service_keeper *k = context;
    k->answered = true;
    maybe_end(k);
}

static void give_up_answers(uv_timer_t *timer)
{
    on_answered(timer->data);
}

static void on_idle(void *context)
{
    struct service_keeper *k = context;
    k->idle = true;
    if (!k->asleep)
        return;
    (void)uv_timer_start(&k->patience, give_up_answers, DRAIN_ANSWERS_MS, 0);
    maybe_end(k);
}

/* Every session sleeps, or is over. */
static void on_asleep(void *context)
{
    struct service_keeper *k = context;
    k->asleep = true;
    if (k->idle)
        on_idle(k);
}

static const char stopped[] = "the service was stopped";

static void cancel_all(struct service_keeper *k)
{
    sessions_stop(k->sessions, stopped);
    engine_cancel_all(k->engine);
}

static void cancel_the_rest(uv_timer_t *timer)
{
    log_event(LOG_WARN, "service.drain_cancels", "after_ms=%d", DRAIN_RUNS_MS);
    cancel_all(timer->data);
}

static void drain(struct service_keeper *k, bool now)
{
    if (!k->draining) {
        k->draining = k->api.draining = true;
        log_event(LOG_INFO, "service.draining", "running=%u queued=%u",
                  engine_counts(k->engine).running, engine_counts(k->engine).queued);
        (void)uv_timer_start(&k->patience, cancel_the_rest, DRAIN_RUNS_MS, 0);
        http_server_drain(k->http, on_answered, k);
        sessions_drain(k->sessions, stopped, on_asleep, k);
        engine_drain(k->engine, on_idle, k);
    }
    if (now)
        cancel_all(k);
}

/* ---- the supervisor's messages ---- */

static int on_warden(struct service_keeper *k, struct err *e)
{
    struct isolation isolation;
    if (wire_read_warden(&k->message, &isolation, e))
        return -1;
    struct err why = { 0 };
    if (engine_set_wire(k->engine, fd_take(&k->message.fds[0]), &isolation, &why))
        log_error(LOG_ERROR, "warden.refused", &why);
    else
        log_event(LOG_INFO, "warden.ready", "level=%s", level_name(isolation.level));
    return 0;
}

static int on_porter(struct service_keeper *k, struct err *e)
{
    uint32_t number;
    return wire_read_porter(&k->message, &number, e)
               ? -1
               : engine_set_porter(k->engine, fd_take(&k->message.fds[0]), number, e);
}

static int on_settings(struct service_keeper *k, struct err *e)
{
    const char *text;
    struct settings wanted = settings_default();
    if (wire_read_settings(&k->message, &text, e) ||
        settings_parse(&wanted, "settings", text, strlen(text), e))
        return -1;
    k->settings = wanted;
    struct http_limits http = http_limits_of(&wanted);
    struct engine_limits runs = engine_limits_of(&wanted);
    http_server_set_limits(k->http, &http);
    engine_set_limits(k->engine, &runs);
    struct sessions_limits sessions = sessions_limits_of(k);
    sessions_set_limits(k->sessions, &sessions);
    struct images_limits images = images_limits_of(&wanted);
    images_set_limits(k->images, &images);
    struct pools_settings pools = pools_settings_of(&wanted);
    engine_set_pools(k->engine, &pools);
    programs_set_max(engine_programs(k->engine), wanted.compile_cache);
    log_set_level(wanted.debug ? LOG_DEBUG : LOG_INFO);
    api_reload_keys(&k->api);
    log_event(LOG_INFO, "service.reloaded", "runs_max=%u", runs.max);
    return 0;
}

static int on_language(struct service_keeper *k, struct err *e)
{
    uint32_t index;
    size_t n = 0;
    while (languages[n])
        n++;
    if (wire_read_language(&k->message, &index, e))
        return -1;
    if (index >= n)
        return err_set(e, ERR_PROTOCOL, 0, "there is no language %u", index);
    log_event(LOG_INFO, "language.installed", "language=%s", languages[index]->name);
    version_answers_add(&k->answers, &k->loop, k->engine, index, fd_take(&k->message.fds[0]));
    return 0;
}

static int on_drain(struct service_keeper *k, struct err *e)
{
    struct wire_drain d;
    if (wire_read_drain(&k->message, &d, e))
        return -1;
    drain(k, d.now);
    return 0;
}

static int on_stopped(struct service_keeper *k, struct err *e)
{
    if (wire_read_stopped(&k->message, e))
        return -1;
    k->api.stopped_ms = uv_now(&k->loop);
    return 0;
}

static int on_sealed(struct service_keeper *k, struct err *e)
{
    struct wire_seal seal;
    if (wire_read_seal(&k->message, &seal, e))
        return -1;
    audit_retention_sealed(&k->audit_retention, (int64_t)seal.seq);
    return 0;
}

static int on_alive(struct service_keeper *k, struct err *e)
{
    uint32_t number;
    return wire_read_alive(&k->message, &number, e) || wire_send_alive(k->control_fd, number, e)
               ? -1
               : 0;
}

static void on_control(uv_poll_t *poll, int status, int events)
{
    static int (*const handlers[WIRE_TYPE_COUNT_])(struct service_keeper *, struct err *) = {
        [WIRE_WARDEN] = on_warden,     [WIRE_SETTINGS] = on_settings, [WIRE_DRAIN] = on_drain,
        [WIRE_LANGUAGE] = on_language, [WIRE_SEAL] = on_sealed,       [WIRE_STOPPED] = on_stopped,
        [WIRE_PORTER] = on_porter,     [WIRE_ALIVE] = on_alive,
    };
    struct service_keeper *k = poll->data;
    struct err e = { 0 };
    (void)status;
    (void)events;
    int got = wire_receive(k->control_fd, &k->message, &e);
    if (got < 0 && e.sys == EAGAIN)
        return;
    if (got <= 0)
        _exit(1); /* the supervisor is gone, and all of its processes end with it */
    int rc = handlers[k->message.type]
                 ? handlers[k->message.type](k, &e)
                 : err_set(&e, ERR_PROTOCOL, 0, "unexpected message from the supervisor");
    if (rc)
        log_error(LOG_ERROR, "control.refused", &e);
    wire_message_done(&k->message);
}

static void on_store(uv_poll_t *poll, int status, int events)
{
    struct service_keeper *k = poll->data;
    (void)status;
    (void)events;
    store_dispatch(k->store);
}

static int watch(struct service_keeper *k, struct err *e)
{
    if (uv_poll_init(&k->loop, &k->store_poll, store_fd(k->store)) != 0 ||
        uv_poll_init(&k->loop, &k->control_poll, k->control_fd) != 0 ||
        uv_timer_init(&k->loop, &k->patience) != 0 ||
        uv_poll_start(&k->store_poll, UV_READABLE, on_store) != 0 ||
        uv_poll_start(&k->control_poll, UV_READABLE, on_control) != 0)
        return err_set(e, ERR_KERNEL, 0, "watch descriptors");
    k->store_poll.data = k->control_poll.data = k->patience.data = k;
    return retention_start(&k->retention, &k->loop, k->store, &k->settings, e) ||
                   audit_retention_start(&k->audit_retention, &k->loop, k->store, &k->settings,
                                         e) ||
                   sealing_start(&k->sealing, &k->loop, k->store, &k->settings, k->control_fd, e)
               ? -1
               : 0;
}

/* ---- the whole process ---- */

static int keeper_open(struct service_keeper *k, const struct service_keeper_setup *setup,
                       struct err *e)
{
    k->setup = setup;
    k->settings = *setup->settings;
    k->control_fd = setup->control_fd;
    k->output_fd = -1;
    if (uv_loop_init(&k->loop) != 0)
        return err_no_memory(e, "the loop");
    return settings_mount_roots(&k->settings, &k->mount_roots, e) || open_store(k, e) ||
                   open_engine(k, e) || take_over(k, e) || open_http(k, e) || watch(k, e) ||
                   sessions_search(k->sessions, e)
               ? -1
               : 0;
}

static void stop_loop(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

/* Threads that read or write an image, or a body, end first; nobody hears of it. */
static void await_threads(struct service_keeper *k)
{
    if (uv_timer_init(&k->loop, &k->patience) != 0)
        return;
    uv_unref((uv_handle_t *)&k->patience);
    (void)uv_timer_start(&k->patience, stop_loop, DRAIN_THREADS_MS, 0);
    (void)uv_run(&k->loop, UV_RUN_DEFAULT);
    uv_close((uv_handle_t *)&k->patience, NULL);
    (void)uv_run(&k->loop, UV_RUN_NOWAIT);
}

/* Every submitted job is written before this returns. False: a thread hangs, and has the loop. */
static bool keeper_close(struct service_keeper *k)
{
    struct err e = { 0 };
    engine_end_examinations(k->engine); /* while their ends can still be answered and written */
    http_server_close(k->http);
    approvals_close(&k->api);
    template_rebuild_close(&k->api);
    retention_stop(&k->retention);
    audit_retention_stop(&k->audit_retention);
    sealing_stop(&k->sealing);
    version_answers_stop(&k->answers);
    uv_close((uv_handle_t *)&k->store_poll, NULL);
    uv_close((uv_handle_t *)&k->control_poll, NULL);
    uv_close((uv_handle_t *)&k->patience, NULL);
    (void)uv_run(&k->loop, UV_RUN_NOWAIT);
    if (lifecycle_note_end(k->store, &e) || sealing_finish(&k->sealing, &e))
        log_error(LOG_ERROR, "history.closing_failed", &e);
    images_free(k->images);
    store_close(k->store);
    api_close(&k->api);
    sessions_free(k->sessions);
    strv_free(k->mount_roots);
    engine_free(k->engine);
    await_threads(k);
    http_server_free(k->http);
    fd_close(&k->output_fd);
    return uv_loop_close(&k->loop) == 0;
}

static void say_ready(const struct service_keeper_setup *s)
{
    char all[SETTINGS_LISTEN_MAX * LISTEN_TEXT] = "", text[LISTEN_TEXT];
    for (size_t i = 0; i < s->n_listeners; i++) {
        size_t used = strlen(all);
        (void)snprintf(all + used, sizeof all - used, "%s%s", i ? "," : "",
                       listen_format(&s->listeners[i].address, text));
    }
    log_event(LOG_INFO, "service.ready", "listen=%s state=%s level=%s", all, s->state_dir,
              level_name(s->isolation->level));
}

/* -1 if it cannot serve; the hello that it sent contains the reason. */
static int begin(struct service_keeper *k, const struct service_keeper_setup *setup)
{
    struct wire_hello hello = { .isolation = *setup->isolation };
    struct err e = { 0 };
    if (!k)
        (void)!err_no_memory(&hello.err, "the keeper");
    else if (settle(setup, &hello.err) == 0 && examiner_start(&k->examiner_fd, &hello.err) == 0 &&
             confine(setup, &hello.err) == 0)
        (void)!keeper_open(k, setup, &hello.err);
    return wire_send_hello(setup->control_fd, &hello, &e) || hello.err.code != ERR_NONE ? -1 : 0;
}

void service_keeper_main(const struct service_keeper_setup *setup)
{
    struct service_keeper *k = calloc(1, sizeof *k);
    if (begin(k, setup) || !k)
        _exit(1);
    say_ready(setup);
    (void)uv_run(&k->loop, UV_RUN_DEFAULT);
    bool is_closed = keeper_close(k);
    log_event(LOG_INFO, "service.stopped", "state=%s", setup->state_dir);
    if (!is_closed)
        _exit(0); /* its file has no row, and is removed at the next start */
    free(k);
    exit(0); /* not _exit: here a sanitizer looks for leaks */
}
