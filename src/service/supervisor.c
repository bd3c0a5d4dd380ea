#include "service/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/fdio.h"
#include "base/log.h"
#include "base/process.h"
#include "base/strv.h"
#include "base/text.h"
#include "engine/pools/pools.h"
#include "jar/confinement.h"
#include "run/keeper_uid.h"
#include "run/level.h"
#include "service/backoff.h"
#include "service/execute_dir.h"
#include "service/key_file.h"
#include "service/lifeline.h"
#include "service/load_settings.h"
#include "service/mount_roots.h"
#include "service/service_keeper.h"
#include "service/service_porter.h"
#include "service/state.h"
#include "service/systemd.h"
#include "service/version_questions.h"
#include "store/audit_sealer.h"
#include "wire/wire.h"

/* A keeper that does not end on request is killed, after its own time for runs and answers is
 * over. */
enum { DRAIN_MS = 45000 };
/* Messages of a keeper that has ended, which are read: a hello, and seals. */
enum { LAST_MESSAGES = 8 };

struct supervisor {
    const struct service_options *options;
    struct settings settings;
    uint64_t connections_max; /* as the limit of open files allows */
    struct state state;
    struct listener listeners[SETTINGS_LISTEN_MAX];
    size_t n_listeners;
    struct version_questions questions;
    int workspace_fd, signal_fd;
    int key_fd; /* of images.key_file; -1: none */
    /* the warden */
    struct warden warden;
    bool warden_up;
    struct backoff warden_backoff;
    struct isolation isolation; /* of the first warden; every later one must reach it */
    /* the keeper */
    pid_t keeper;     /* 0: none */
    uint32_t keepers; /* so far */
    struct keeper_uid keeper_uid;
    int control_fd;
    struct backoff keeper_backoff;
    bool was_ready;    /* a keeper has been ready at least once */
    uint64_t drain_ms; /* when the keeper is killed; 0: no drain */
    struct service_porter porter;
    struct lifeline lifeline;
    struct systemd systemd;
    bool temporary;     /* the state ends with the service */
    char **mount_roots; /* settings_mount_roots(); NULL: none */
    /* of any of them: see resume() */
    unsigned long long stops;
    uint64_t stop_told_ms;
    /* the audit log */
    struct audit_sealer *sealer;
    uint64_t seals_due_ms; /* see may_seal() */
    bool over;
    struct wire_message message; /* too large for the stack */
};

static void supervisor_free(struct supervisor *s)
{
    for (size_t i = 0; i < s->n_listeners; i++)
        listener_done(&s->listeners[i]);
    fd_close(&s->workspace_fd);
    fd_close(&s->key_fd);
    fd_close(&s->signal_fd);
    fd_close(&s->control_fd);
    keeper_uid_done(&s->keeper_uid);
    service_porter_done(&s->porter);
    audit_sealer_close(s->sealer);
    if (s->temporary)
        state_remove(&s->state);
    state_done(&s->state);
    strv_free(s->mount_roots);
    free(
        s); /* not the lifeline: the kernel closes it when the last word of this process is written */
}

/* ---- settings ---- */

static void bound_connections(struct supervisor *s)
{
    if (s->settings.http_max_connections <= s->connections_max)
        return;
    log_event(LOG_WARN, "settings.lowered",
              "key=http.max_connections value=%llu reason=\"limit of open files\"",
              (unsigned long long)s->connections_max);
    s->settings.http_max_connections = s->connections_max;
}

static void apply_log_level(const struct supervisor *s)
{
    log_set_level(s->settings.debug ? LOG_DEBUG : LOG_INFO);
}

/* ---- opened once ---- */

static int listen_at(struct supervisor *s, const char *text, struct err *e)
{
    struct listen_address a;
    if (listen_parse(text, &a, e))
        return -1;
    if (s->n_listeners == SETTINGS_LISTEN_MAX)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "--listen '%s' is one too many: up to %d are accepted", text,
                       SETTINGS_LISTEN_MAX - 1);
    if (listener_open(&s->listeners[s->n_listeners], &a, e))
        return -1;
    s->n_listeners++;
    return 0;
}

/* The second address is for browsers, which refuse port 6000. */
static int listen_by_default(struct supervisor *s, struct err *e)
{
    static const char second[] = "127.0.0.1:6080";
    const char *host = getenv("SANDBOX_HOST"), *port = getenv("SANDBOX_PORT");
    char first[128];
    host = host && *host ? host : "127.0.0.1";
    bool bare_six = strchr(host, ':') && host[0] != '[';
    (void)snprintf(first, sizeof first, bare_six ? "[%s]:%s" : "%s:%s", host,
                   port && *port ? port : "6000");
    if (listen_at(s, first, e))
        return getenv("SANDBOX_HOST") || port ? err_wrap(e, "$SANDBOX_HOST and $SANDBOX_PORT") : -1;
    /* The second address is a convenience: a second service on this machine starts without it. */
    if (strcmp(first, second) != 0 && listen_at(s, second, e)) {
        if (e->code != ERR_CONFLICT)
            return -1;
        log_event(LOG_WARN, "listen.skipped", "address=%s reason=taken", second);
    }
    return 0;
}

static int open_listeners(struct supervisor *s, struct err *e)
{
    const struct service_options *o = s->options;
    char own[STATE_PATH_MAX + 32];
    int inherited = systemd_listeners(&s->systemd, s->listeners, SETTINGS_LISTEN_MAX - 1, e);
    if (inherited < 0)
        return -1;
    s->n_listeners = (size_t)inherited;
    /* The service of one program has one address, unless that program names others. */
    if (o->n_listen == 0 && inherited == 0 && !o->lifeline && listen_by_default(s, e))
        return -1;
    for (size_t i = 0; i < o->n_listen; i++)
        if (listen_at(s, o->listen[i], e))
            return -1;
    (void)snprintf(own, sizeof own, "unix:%s/belljar.sock", s->state.path);
    return listen_at(s, own, e);
}

static bool own_uid(const struct supervisor *s)
{
    return s->isolation.layers & LAYER_BIT(LAYER_OWN_UID);
}

/* The same uid after each start, unless a copy of the state directory uses it now. */
static int take_keeper_uid(struct supervisor *s, struct err *e)
{
    uid_t wanted;
    s->keeper_uid.uid = geteuid();
    if (!own_uid(s))
        return 0;
    if (state_read_keeper(&s->state, &wanted, e) ||
        keeper_uid_take(&s->keeper_uid, KEEPER_OF_STATE, wanted, e))
        return -1;
    return s->keeper_uid.uid == wanted ? 0
                                       : state_write_keeper(&s->state, s->keeper_uid.uid, true, e);
}

static int open_workspace(struct supervisor *s, struct err *e)
{
    char own[STATE_PATH_MAX + 16];
    (void)snprintf(own, sizeof own, "%s/execute", s->state.path);
    return execute_dir_open(s->settings.workspace[0] ? s->settings.workspace : own,
                            s->keeper_uid.uid, &s->workspace_fd, e);
}

/* The command has already loaded the directory that the environment names. */
static int load_languages(struct supervisor *s, struct err *e)
{
    if (s->settings.languages_dir[0] && language_load(s->settings.languages_dir, e))
        return err_wrap(e, "languages.dir");
    for (const char *const *problem = language_problems; *problem; problem++)
        log_event(LOG_ERROR, "language.refused", "reason=\"%s\"", QUOTED(*problem));
    return 0;
}

static int watch_signals(struct supervisor *s, struct err *e)
{
    static const int ours[] = { SIGCHLD, SIGTERM, SIGINT, SIGHUP };
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        sigaddset(&set, ours[i]);
    return process_watch_signals(&set, &s->signal_fd, e);
}

/* The lock file has the pid before signals are handled: a reload that arrives meanwhile waits. */
static void hold_reloads(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
}

/* ---- the warden ---- */

/* Its wire is closed or it is dead, so this does not wait long. */
static void stop_warden(struct supervisor *s)
{
    if (!s->warden_up)
        return;
    s->warden.spared = s->keeper;
    warden_stop(&s->warden);
    s->warden_up = false;
}

static int start_warden(struct supervisor *s, enum level level, struct err *e)
{
    uint64_t now = clock_ms();
    struct run_bounds bounds = settings_run_bounds(&s->settings);
    if (level_open_warden(level, &bounds, s->mount_roots, &s->warden, e)) {
        backoff_down(&s->warden_backoff, now);
        return -1;
    }
    s->warden_up = true;
    if (fd_set_nonblock(s->warden.fd, e)) { /* it must not block the supervisor */
        stop_warden(s);
        return -1;
    }
    s->isolation = s->warden.isolation;
    backoff_up(&s->warden_backoff, now);
    return 0;
}

/* Starts a new warden for the running keeper. */
static void restart_warden(struct supervisor *s)
{
    struct err e = { 0 };
    if (start_warden(s, s->isolation.level, &e)) {
        log_error(LOG_ERROR, "warden.not_started", &e);
        return;
    }
    autoclose int wire_fd = -1;
    if (wire_new_keeper(s->warden.fd, ++s->keepers, &wire_fd, &e) ||
        wire_send_warden(s->control_fd, &s->warden.isolation, wire_fd, &e)) {
        log_error(LOG_ERROR, "warden.not_handed_over", &e);
        fd_close(&s->warden.fd); /* the warden ends, and SIGCHLD follows */
    }
}

static void check_warden(struct supervisor *s)
{
    siginfo_t info = { 0 };
    if (!s->warden_up ||
        waitid(P_PID, (id_t)s->warden.pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
        info.si_pid == 0)
        return;
    /* Not reaped here: warden_stop() examines the status. */
    if (s->drain_ms == 0)
        log_event(LOG_ERROR, "warden.died", "pid=%d %s=%d", (int)s->warden.pid,
                  info.si_code == CLD_EXITED ? "exit_code" : "signal", info.si_status);
    stop_warden(s);
    backoff_down(&s->warden_backoff, clock_ms());
}

/* ---- the keeper ---- */

static int start_keeper(struct supervisor *s, struct err *e)
{
    int fds[2];
    if (wire_pair(fds, e))
        return -1;
    s->control_fd = fds[0];
    systemd_keeper_gone(&s->systemd);
    autoclose int theirs = fds[1], wire_fd = -1;
    autoclose int porter_fd = service_porter_new_keeper(&s->porter);
    if (s->warden_up && wire_new_keeper(s->warden.fd, ++s->keepers, &wire_fd, e))
        return -1;
    /* a keeper that does not read must not block the supervisor */
    if (fd_set_nonblock(s->control_fd, e))
        return -1;
    struct service_keeper_setup setup = {
        .settings = &s->settings,
        .listeners = s->listeners,
        .n_listeners = s->n_listeners,
        .state_dir = s->state.path,
        .versions = (const char(*)[VERSION_SIZE])s->questions.versions,
        .answers = s->questions.answers,
        .isolation = &s->isolation,
        .wire_fd = wire_fd,
        .control_fd = theirs,
        .workspace_fd = s->workspace_fd,
        .key_fd = s->key_fd,
        .porter_fd = porter_fd,
        .porter_number = s->porter.keepers,
        .supervisor = getpid(),
        .uid = s->keeper_uid.uid
    };
    version_questions_open(&s->questions);
    pid_t pid = fork();
    if (pid == 0)
        service_keeper_main(&setup);
    version_questions_leave(&s->questions);
    if (pid < 0) {
        fd_close(&s->control_fd);
        return err_set(e, ERR_KERNEL, errno, "start the keeper");
    }
    s->keeper = pid;
    backoff_up(&s->keeper_backoff, clock_ms());
    return 0;
}

/* A new porter, for the running keeper too. */
static void start_porter(struct supervisor *s)
{
    struct err e = { 0 };
    if (!service_porter_start(&s->porter, clock_ms()) || s->control_fd < 0)
        return;
    autoclose int fd = service_porter_new_keeper(&s->porter);
    if (fd >= 0 && wire_send_porter(s->control_fd, s->porter.keepers, fd, &e))
        log_error(LOG_ERROR, "porter.not_handed_over", &e);
}

/* The warden has outlived the last keeper, or a new one starts. */
static void restart_keeper(struct supervisor *s)
{
    struct err e = { 0 };
    if (!s->warden_up && start_warden(s, s->isolation.level, &e))
        log_error(LOG_ERROR, "warden.not_started", &e);
    if (start_keeper(s, &e)) {
        log_error(LOG_ERROR, "keeper.not_started", &e);
        stop_warden(s);
        backoff_down(&s->keeper_backoff, clock_ms());
    }
}

/* A keeper that was taken over must not fill the disk with seals: ten at once, and one a second in
 * the long run. */
static bool may_seal(struct supervisor *s)
{
    enum { SEAL_MS = 1000, AT_ONCE_MS = 10 * SEAL_MS };
    uint64_t now = clock_ms();
    if (s->seals_due_ms > now + AT_ONCE_MS)
        return false;
    s->seals_due_ms = (s->seals_due_ms > now ? s->seals_due_ms : now) + SEAL_MS;
    return true;
}

static int on_seal(struct supervisor *s, struct err *e)
{
    struct wire_seal seal;
    struct err why = { 0 };
    if (wire_read_seal(&s->message, &seal, e))
        return -1;
    if (!may_seal(s))
        return 0;
    if (audit_sealer_seal(s->sealer, (int64_t)seal.seq, seal.head, clock_unix_ms(), &why))
        log_error(LOG_ERROR, "audit.not_sealed", &why);
    else
        (void)!wire_send_seal(s->control_fd, &seal, &why); /* a keeper that ends does not read it */
    why = (struct err){ 0 };
    if (audit_sealer_drop(s->sealer, (int64_t)seal.removed, &why))
        log_error(LOG_ERROR, "audit.seals_not_dropped", &why);
    return 0;
}

static int on_porter_lost(struct supervisor *s, struct err *e)
{
    uint32_t number;
    if (wire_read_porter_lost(&s->message, &number, e))
        return -1;
    service_porter_lost(&s->porter, number);
    return 0;
}

static int on_alive(struct supervisor *s, struct err *e)
{
    uint32_t question;
    if (wire_read_alive(&s->message, &question, e))
        return -1;
    systemd_answered(&s->systemd, question);
    return 0;
}

/* A message of a keeper that serves. NULL: it must be its hello. */
static int (*later_message(const struct supervisor *s))(struct supervisor *, struct err *)
{
    return s->message.type == WIRE_SEAL          ? on_seal
           : s->message.type == WIRE_PORTER_LOST ? on_porter_lost
           : s->message.type == WIRE_ALIVE       ? on_alive
                                                 : NULL;
}

static void tell_owner(const struct supervisor *s)
{
    char path[STATE_PATH_MAX + 32];
    (void)snprintf(path, sizeof path, "%s/belljar.sock", s->state.path);
    lifeline_tell_ready(&s->lifeline, path);
}

/* Reads the keeper's hello: it serves, or the reason why not. -1 if no keeper ever served, because
 * starting again would not help. A later message is the head of the audit log, or about the
  * porter. */
static int read_keeper_message(struct supervisor *s, struct err *e)
{
    struct wire_hello hello;
    if (s->control_fd < 0)
        return 0;
    int got = wire_receive(s->control_fd, &s->message, e);
    if (got == 0) /* a reset, if the keeper ended before it read all: its own messages follow */
        got = wire_receive(s->control_fd, &s->message, e);
    if (got < 0 && e->sys == EAGAIN)
        return 0;
    int (*later)(struct supervisor *, struct err *) = got > 0 ? later_message(s) : NULL;
    int failed = got <= 0 || (later ? later(s, e) : wire_read_hello(&s->message, &hello, e));
    if (got > 0)
        wire_message_done(&s->message);
    if (failed) {
        fd_close(&s->control_fd); /* it has died, or will notice that the connection is closed */
        return 0;
    }
    if (later)
        return 0;
    if (hello.err.code == ERR_NONE) {
        if (!s->was_ready)
            tell_owner(s);
        s->was_ready = true;
        systemd_keeper_serves(&s->systemd);
        systemd_ready(&s->systemd, level_name(s->isolation.level));
        version_questions_next(&s->questions);
        return 0;
    }
    if (s->was_ready) {
        log_error(LOG_ERROR, "keeper.not_ready", &hello.err);
        return 0;
    }
    *e = hello.err;
    return -1;
}

static int check_keeper(struct supervisor *s, struct err *e)
{
    int status;
    if (s->keeper == 0 || waitpid(s->keeper, &status, WNOHANG) != s->keeper)
        return 0;
    pid_t pid = s->keeper;
    s->keeper = 0;
    int refused = 0;
    for (int i = 0; i < LAST_MESSAGES && refused == 0; i++)
        refused = read_keeper_message(s, e);
    fd_close(&s->control_fd);
    bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!well || s->drain_ms == 0)
        log_event(LOG_ERROR, "keeper.died", "pid=%d %s=%d", (int)pid,
                  WIFEXITED(status) ? "exit_code" : "signal",
                  WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    if (s->drain_ms > 0 || refused || !s->was_ready)
        stop_warden(s);
    if (refused)
        return -1;
    if (!s->was_ready)
        return err_set(e, ERR_UNAVAILABLE, 0, "the keeper died while starting");
    s->over = s->drain_ms > 0;
    backoff_down(&s->keeper_backoff, clock_ms());
    return 0;
}

/* ---- signals ---- */

static void reload(struct supervisor *s)
{
    struct settings wanted;
    struct err e = { 0 };
    scoped(buf) text = { 0 };
    char kept[400];
    if (service_load_settings(s->options, &wanted, &e)) {
        log_error(LOG_ERROR, "settings.refused", &e);
        return;
    }
    settings_keep_fixed(&wanted, &s->settings, kept, sizeof kept);
    if (kept[0])
        log_event(LOG_WARN, "settings.need_restart", "keys=%s", kept);
    s->settings = wanted;
    bound_connections(s);
    apply_log_level(s);
    if (s->control_fd >= 0 && (settings_write(&s->settings, &text, &e) ||
                               wire_send_settings(s->control_fd, buf_str(&text), &e)))
        log_error(LOG_ERROR, "settings.not_handed_over", &e);
}

static void reload_and_tell(struct supervisor *s)
{
    systemd_reloading(&s->systemd);
    reload(s);
    if (s->was_ready && s->drain_ms == 0)
        systemd_ready(&s->systemd, level_name(s->isolation.level));
}

static void drain(struct supervisor *s)
{
    struct err e = { 0 };
    struct wire_drain d = { .now = s->drain_ms > 0 };
    if (s->keeper == 0) {
        s->over = true;
        return;
    }
    if (!d.now) {
        s->drain_ms = clock_ms() + DRAIN_MS;
        systemd_stopping(&s->systemd);
        for (size_t i = 0; i < s->n_listeners; i++) /* the kernel refuses new clients from now on */
            listener_done(&s->listeners[i]);
    }
    /* not reaped yet, so the pid is still its own */
    if (s->control_fd < 0 || wire_send_drain(s->control_fd, &d, &e))
        (void)kill(s->keeper, SIGKILL);
}

/* A state that ends with the service has no use for the end of a run or the sleep of a session. */
static void on_owner_gone(struct supervisor *s)
{
    if (s->drain_ms == 0)
        drain(s);
    if (s->temporary && !s->over)
        drain(s);
}

/* A warden or keeper that was stopped (SIGSTOP) goes on at once: a stopped warden ends no run. The
 * log has at most one line a second. */
static void resume(struct supervisor *s, pid_t pid, const char *event)
{
    enum { TELL_MS = 1000 };
    siginfo_t info = { 0 };
    uint64_t now = clock_ms();
    struct err e;
    if (pid <= 0 || waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG) < 0 || info.si_pid == 0)
        return;
    (void)kill(pid, SIGCONT); /* not reaped yet, so the pid is still its own */
    s->stops++;
    if (s->control_fd >= 0) /* for /v1/health; a keeper that ends does not read it */
        (void)!wire_send_stopped(s->control_fd, &e);
    if (s->stop_told_ms > now)
        return;
    s->stop_told_ms = now + TELL_MS;
    log_event(LOG_ERROR, event, "pid=%d signal=%d stops=%llu", (int)pid, info.si_status, s->stops);
}

/* At level process a guest's orphans may become our children. */
static void reap_strays(struct supervisor *s)
{
    siginfo_t info = { 0 };
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid > 0) {
        /* it died after the check: another signal follows */
        if (info.si_pid == s->keeper || (s->warden_up && info.si_pid == s->warden.pid) ||
            info.si_pid == s->porter.process.pid)
            return;
        version_questions_on_exit(&s->questions, &info);
        (void)waitpid(info.si_pid, NULL, WNOHANG);
        info.si_pid = 0;
    }
}

static int on_signals(struct supervisor *s, struct err *e)
{
    struct signalfd_siginfo info;
    while (read(s->signal_fd, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGHUP)
            reload_and_tell(s);
        else if (info.ssi_signo != SIGCHLD)
            drain(s);
    }
    /* before a check that may wait for the end of the warden */
    resume(s, s->warden_up ? s->warden.pid : 0, "warden.stopped");
    resume(s, s->keeper, "keeper.stopped");
    resume(s, s->porter.process.pid, "porter.stopped");
    if (check_keeper(s, e))
        return -1;
    check_warden(s);
    service_porter_check(&s->porter);
    reap_strays(s);
    return 0;
}

/* ---- the loop ---- */

static void on_time(struct supervisor *s)
{
    uint64_t now = clock_ms();
    systemd_beat(&s->systemd, s->control_fd, now);
    if (s->questions.kill_ms > 0 && now >= s->questions.kill_ms)
        version_questions_end(&s->questions);
    if (s->over)
        return;
    if (s->drain_ms > 0) {
        if (now >= s->drain_ms && s->keeper > 0)
            (void)kill(s->keeper, SIGKILL);
        return;
    }
    if (now >= service_porter_due_ms(&s->porter))
        start_porter(s);
    if (s->keeper == 0 && now >= s->keeper_backoff.due_ms)
        restart_keeper(s);
    else if (s->keeper > 0 && !s->warden_up && s->control_fd >= 0 &&
             now >= s->warden_backoff.due_ms)
        restart_warden(s);
    else if (s->keeper > 0 && s->control_fd >= 0 && now >= s->questions.look_ms)
        version_questions_look(&s->questions, s->control_fd);
}

static int milliseconds_to_wait(const struct supervisor *s)
{
    uint64_t due = UINT64_MAX, now = clock_ms();
    if (s->drain_ms > 0)
        due = s->drain_ms;
    else if (s->keeper == 0)
        due = s->keeper_backoff.due_ms;
    else if (!s->warden_up)
        due = s->warden_backoff.due_ms;
    else if (s->control_fd >= 0)
        due = s->questions.look_ms;
    if (s->questions.kill_ms > 0 && s->questions.kill_ms < due)
        due = s->questions.kill_ms;
    if (s->drain_ms == 0 && service_porter_due_ms(&s->porter) < due)
        due = service_porter_due_ms(&s->porter);
    if (systemd_due_ms(&s->systemd) < due)
        due = systemd_due_ms(&s->systemd);
    if (due == UINT64_MAX)
        return -1;
    /* never a busy loop, even if every start fails at once */
    return due <= now ? 10 : (int)(due - now);
}

static int loop(struct supervisor *s, struct err *e)
{
    while (!s->over) {
        struct pollfd p[2 + LIFELINE_POLLS] = { { .fd = s->signal_fd, .events = POLLIN },
                                                { .fd = s->control_fd, .events = POLLIN } };
        lifeline_polls(&s->lifeline, p + 2);
        if (poll(p, ARRAY_LEN(p), milliseconds_to_wait(s)) < 0) {
            if (errno == EINTR)
                continue;
            return err_set(e, ERR_KERNEL, errno, "wait for events");
        }
        if (p[1].revents && read_keeper_message(s, e))
            return -1;
        if (p[0].revents && on_signals(s, e))
            return -1;
        if (lifeline_lost(&s->lifeline, p + 2))
            on_owner_gone(s);
        on_time(s);
    }
    return 0;
}

/* Too few descriptors would fail nearly every run, so the service does not start. With few, there
 * are fewer connections, so that clients cannot use up the descriptors of runs. */
static int raise_open_files(struct supervisor *s, struct err *e)
{
    enum { NEEDED = 1024, FOR_RUNS = 640 };
    struct rlimit files;
    (void)process_raise_open_files();
    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        return err_set(e, ERR_KERNEL, errno, "read the limit of open files");
    if (files.rlim_cur < NEEDED)
        return err_set(e, ERR_UNAVAILABLE, 0,
                       "this process may have %llu open files, and the service needs %d: raise the "
                       "hard limit ('ulimit -Hn %d', or LimitNOFILE= of systemd)",
                       (unsigned long long)files.rlim_cur, NEEDED, NEEDED);
    s->connections_max = files.rlim_cur - FOR_RUNS;
    bound_connections(s);
    return 0;
}

/* Level process has no network of its own to give. */
static int open_porter(struct supervisor *s, struct err *e)
{
    if (s->isolation.level == LEVEL_PROCESS)
        return 0;
    if (service_porter_open(&s->porter, &s->settings, s->listeners, s->n_listeners, own_uid(s), e))
        return -1;
    start_porter(s);
    return 0;
}

static int open_state(struct supervisor *s, struct err *e)
{
    const struct service_options *o = s->options;
    char path[STATE_PATH_MAX];
    if (o->lifeline && lifeline_open(&s->lifeline, o->lifeline, e))
        return -1;
    if (o->lifeline && !o->state) {
        if (state_make_temporary(path, sizeof path, e))
            return -1;
        s->temporary = true;
    } else if (state_choose(o->state, path, sizeof path, e)) {
        return -1;
    }
    return state_open(&s->state, path, e) || state_lock(&s->state, e) ? -1 : 0;
}

static int open_all(struct supervisor *s, struct err *e)
{
    (void)umask(022); /* the keeper passes through the state directory */
    hold_reloads();
    if (systemd_open(&s->systemd, e) || service_load_settings(s->options, &s->settings, e) ||
        mount_roots_open(&s->settings, &s->mount_roots, e) || open_state(s, e) ||
        audit_sealer_open(&s->sealer, s->state.dir_fd, AUDIT_BLOCK_EPOCHS, e) ||
        open_listeners(s, e))
        return -1;
    apply_log_level(s);
    if (load_languages(s, e))
        return -1;
    if (raise_open_files(s, e) || key_file_open(s->settings.images_key_file, &s->key_fd, e))
        return -1;
    /* before other processes are forked from this one */
    if (injector_take_environment(&s->porter.injector.environment_fd, e))
        return -1;
    version_questions_ask_first(&s->questions);
    if (watch_signals(s, e) || confinement_enter(ROLE_SUPERVISOR, NULL, e) ||
        start_warden(s, s->settings.isolation, e))
        return -1;
    return take_keeper_uid(s, e) || state_data(&s->state, s->keeper_uid.uid, e) ||
           open_workspace(s, e) || open_porter(s, e) || start_keeper(s, e);
}

int service_run(const struct service_options *o, struct err *e)
{
    struct supervisor *s = calloc(1, sizeof *s);
    if (!s)
        return err_no_memory(e, "the service");
    s->options = o;
    s->workspace_fd = s->key_fd = s->signal_fd = s->control_fd = -1;
    s->state = (struct state)STATE_INIT;
    s->porter = (struct service_porter)SERVICE_PORTER_INIT;
    s->lifeline = (struct lifeline)LIFELINE_INIT;
    s->keeper_uid = (struct keeper_uid)KEEPER_UID_INIT;
    version_questions_init(&s->questions);
    int rc = open_all(s, e) || loop(s, e) ? -1 : 0;
    if (s->keeper > 0) { /* an error in the supervisor itself */
        (void)kill(s->keeper, SIGKILL);
        while (waitpid(s->keeper, NULL, 0) < 0 && errno == EINTR)
            ;
        s->keeper = 0;
    }
    stop_warden(s);
    porter_stop(&s->porter.process);
    version_questions_done(&s->questions);
    supervisor_free(s);
    return rc;
}
