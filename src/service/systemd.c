#include "service/systemd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "settings/settings.h"
#include "wire/wire.h"

enum { FIRST_FD = 3 };

/* ---- the environment ---- */

/* A decimal number that fills the whole text. */
static bool read_number(const char *text, uint64_t *ret)
{
    char *end;
    if (!text || *text < '0' || *text > '9')
        return false;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno || *end)
        return false;
    *ret = n;
    return true;
}

/* Variables without the pid of their addressee are for us. */
static bool is_for_us(const char *variable)
{
    const char *text = getenv(variable);
    uint64_t pid;
    return !text || (read_number(text, &pid) && pid == (uint64_t)getpid());
}

static int read_sockets(struct systemd *s, struct err *e)
{
    const char *text = getenv("LISTEN_FDS");
    uint64_t n;
    if (!text || !getenv("LISTEN_PID") || !is_for_us("LISTEN_PID"))
        return 0;
    if (!read_number(text, &n) || n >= SETTINGS_LISTEN_MAX)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "$LISTEN_FDS '%s' is not a number of sockets: 0 to %d are accepted; list "
                       "fewer in belljar.socket",
                       QUOTED(text), SETTINGS_LISTEN_MAX - 1);
    s->n_sockets = (unsigned)n;
    return 0;
}

/* A path, or with a @ before it an address without a file. */
static int read_notify(struct systemd *s, struct err *e)
{
    const char *text = getenv("NOTIFY_SOCKET");
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    size_t n = text ? strlen(text) : 0;
    if (n == 0)
        return 0;
    if ((text[0] != '/' && text[0] != '@') || n < 2 || n >= sizeof at.sun_path)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "$NOTIFY_SOCKET '%s' is not a socket: expected a path or @NAME, of at most "
                       "%zu bytes; unset it to start without",
                       QUOTED(text), sizeof at.sun_path - 1);
    memcpy(at.sun_path, text, n);
    if (text[0] == '@')
        at.sun_path[0] = '\0';
    s->notify = at;
    s->notify_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
    return 0;
}

/* Half of the time that systemd waits for a sign of life, as its documentation advises. */
static int read_watchdog(struct systemd *s, struct err *e)
{
    enum { US_OF_HALF = 2000 };
    const char *text = getenv("WATCHDOG_USEC");
    uint64_t us;
    if (!text || !is_for_us("WATCHDOG_PID"))
        return 0;
    if (!read_number(text, &us) || us < US_OF_HALF)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "$WATCHDOG_USEC '%s' is not a time: expected microseconds, %d or more",
                       QUOTED(text), US_OF_HALF);
    s->interval_ms = us / US_OF_HALF;
    return 0;
}

/* The journal shows a line by the priority at its start. Any other reader would see "<6>". */
static bool stderr_is_the_journal(void)
{
    const char *text = getenv("JOURNAL_STREAM");
    char own[64];
    struct stat st;
    if (!text || fstat(2, &st) < 0)
        return false;
    (void)snprintf(own, sizeof own, "%llu:%llu", (unsigned long long)st.st_dev,
                   (unsigned long long)st.st_ino);
    return strcmp(own, text) == 0;
}

int systemd_open(struct systemd *s, struct err *e)
{
    static const char *const ours[] = { "LISTEN_PID",    "LISTEN_FDS",    "LISTEN_FDNAMES",
                                        "WATCHDOG_PID",  "WATCHDOG_USEC", "NOTIFY_SOCKET",
                                        "JOURNAL_STREAM" };
    struct systemd new = { 0 };
    if (read_sockets(&new, e) || read_notify(&new, e) || read_watchdog(&new, e))
        return -1;
    log_set_priorities(stderr_is_the_journal());
    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        (void)unsetenv(ours[i]);
    if (new.notify.sun_family == 0) /* nobody would hear of it */
        new.interval_ms = 0;
    *s = new;
    return 0;
}

/* ---- sockets ---- */

int systemd_listeners(const struct systemd *s, struct listener *ret, size_t max, struct err *e)
{
    if (s->n_sockets > max)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "%u sockets are inherited: up to %zu are accepted; list fewer in "
                       "belljar.socket",
                       s->n_sockets, max);
    for (unsigned i = 0; i < s->n_sockets; i++)
        if (listener_inherit(&ret[i], FIRST_FD + (int)i, e))
            return -1;
    return (int)s->n_sockets;
}

/* ---- news ---- */

/* One datagram. systemd may be gone or restarted, so a failure changes nothing. */
static void tell(const struct systemd *s, const char *text)
{
    if (s->notify.sun_family == 0)
        return;
    autoclose int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || sendto(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT,
                         (const struct sockaddr *)&s->notify, s->notify_len) < 0)
        log_event(LOG_WARN, "systemd.not_told", "errno=%d", errno);
}

void systemd_ready(const struct systemd *s, const char *level)
{
    char text[96];
    (void)snprintf(text, sizeof text, "READY=1\nSTATUS=serves, isolation level %s", level);
    tell(s, text);
}

/* Later versions of systemd insist on the time. */
void systemd_reloading(const struct systemd *s)
{
    char text[96];
    (void)snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%llu\nSTATUS=reads its settings",
                   (unsigned long long)clock_ms() * 1000);
    tell(s, text);
}

/* From now on the keeper finishes its runs, and may take longer to answer. */
void systemd_stopping(struct systemd *s)
{
    systemd_keeper_gone(s);
    tell(s, "STOPPING=1\nSTATUS=finishes its runs");
}

/* ---- the watchdog ---- */

void systemd_keeper_serves(struct systemd *s)
{
    s->serves = true;
    s->asked = false;
}

void systemd_keeper_gone(struct systemd *s)
{
    s->serves = s->asked = false;
}

uint64_t systemd_due_ms(const struct systemd *s)
{
    return s->interval_ms > 0 ? s->due_ms : UINT64_MAX;
}

void systemd_beat(struct systemd *s, int control_fd, uint64_t now_ms)
{
    struct err e = { 0 };
    if (s->interval_ms == 0 || now_ms < s->due_ms)
        return;
    s->due_ms = now_ms + s->interval_ms;
    if (s->asked) {
        log_event(LOG_ERROR, "keeper.silent", "for_ms=%llu", (unsigned long long)s->interval_ms);
        return;
    }
    tell(s, "WATCHDOG=1");
    if (s->serves && control_fd >= 0) /* a keeper whose queue is full owes an answer, too */
        s->asked = wire_send_alive(control_fd, ++s->question, &e) == 0 || e.sys == EAGAIN;
}

void systemd_answered(struct systemd *s, uint32_t question)
{
    if (question != s->question || !s->asked)
        return;
    s->asked = false;
    if (clock_ms() + s->interval_ms / 2 >= s->due_ms) /* late: a beat may have been left out */
        tell(s, "WATCHDOG=1");
}
