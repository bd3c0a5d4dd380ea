#include "service/version_questions.h"

#include <signal.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/log.h"
#include "wire/wire.h"

/* Between two looks for languages that were installed. A version that cannot be told may come from a
 * package that is half unpacked: it is asked for again. */
enum { LOOK_MS = 3000, LOOKS_MAX = 10, PROBE_MS = 10000 };

void version_questions_init(struct version_questions *q)
{
    *q = (struct version_questions){ 0 };
    for (size_t i = 0; i < LANGUAGES_MAX; i++)
        q->probes[i] = (struct version_probe)VERSION_PROBE_INIT;
}

void version_questions_done(struct version_questions *q)
{
    version_questions_end(q);
    for (size_t i = 0; languages[i]; i++)
        version_probe_done(&q->probes[i]);
}

/* True for a language that is booted in advance because its programs are short, and whose
 * interpreter tells its version: already its first run reports the version. */
static bool is_waited_for(const struct language *l)
{
    return l->warm && l->version[0][0] == '/' && strcmp(l->version[0], l->command[0]) == 0;
}

/* Asks the machine's own interpreters for their versions, with the operator's rights, before there
 * is a guest. Waits only for a few. The others, some of which are slow, answer the keeper while it
 * already serves. */
void version_questions_ask_first(struct version_questions *q)
{
    struct version_probe probes[LANGUAGES_MAX];
    size_t n = 0;
    for (; languages[n]; n++) {
        probes[n] = (struct version_probe)VERSION_PROBE_INIT;
        if (is_waited_for(languages[n]))
            version_probe_start(&probes[n], languages[n]);
    }
    for (size_t i = 0; i < n; i++) {
        (void)version_probe_read(probes[i].fd, q->versions[i], sizeof q->versions[i]);
        version_probe_done(&probes[i]);
    }
}

/* A declaration may name a program that does not end. */
void version_questions_end(struct version_questions *q)
{
    /* not reaped yet, so the pid is still its own */
    for (size_t i = 0; languages[i]; i++)
        if (q->probes[i].pid > 0)
            (void)kill(q->probes[i].pid, SIGKILL);
    q->kill_ms = 0;
}

/* Asks the others one after the other while the keeper serves, because some take a second. */
void version_questions_open(struct version_questions *q)
{
    version_questions_end(q);
    for (size_t i = 0; languages[i]; i++) {
        version_probe_done(&q->probes[i]);
        if (!q->versions[i][0] && version_program_exists(languages[i]))
            version_probe_open(&q->probes[i]);
        q->answers[i] = q->probes[i].fd;
        q->asked[i] = q->versions[i][0] || q->answers[i] >= 0;
        q->looks[i] = 0;
    }
    q->look_ms = clock_ms() + LOOK_MS;
}

/* The keeper reads the answers. */
void version_questions_leave(struct version_questions *q)
{
    for (size_t i = 0; languages[i]; i++)
        fd_close(&q->probes[i].fd);
}

void version_questions_next(struct version_questions *q)
{
    q->kill_ms = 0;
    for (size_t i = 0; languages[i]; i++) {
        if (q->probes[i].its_fd < 0)
            continue;
        version_probe_ask(&q->probes[i], languages[i]);
        if (q->probes[i].pid < 0)
            continue;
        q->kill_ms = clock_ms() + PROBE_MS;
        return;
    }
}

void version_questions_on_exit(struct version_questions *q, const siginfo_t *info)
{
    for (size_t i = 0; languages[i]; i++)
        if (q->probes[i].pid == info->si_pid) {
            bool failed = info->si_code != CLD_EXITED || info->si_status != 0;
            if (failed && q->looks[i] > 0 && q->looks[i] < LOOKS_MAX)
                q->asked[i] = false;
            q->probes[i].pid = -1;
            version_questions_next(q);
        }
}

static bool probe_waits(const struct version_questions *q)
{
    for (size_t i = 0; languages[i]; i++)
        if (q->probes[i].pid > 0 || q->probes[i].its_fd >= 0)
            return true;
    return false;
}

/* A language that was installed since the start is used without a restart. */
void version_questions_look(struct version_questions *q, int control_fd)
{
    struct err e = { 0 };
    bool busy = probe_waits(q);
    q->look_ms = clock_ms() + LOOK_MS;
    for (size_t i = 0; !busy && languages[i]; i++) {
        if (q->asked[i] || !version_program_exists(languages[i]))
            continue;
        version_probe_open(&q->probes[i]);
        if (q->probes[i].fd < 0)
            continue; /* at the next look */
        q->asked[i] = wire_send_language(control_fd, (uint32_t)i, q->probes[i].fd, &e) == 0;
        if (q->asked[i]) {
            q->looks[i]++;
            fd_close(&q->probes[i].fd);
        } else {
            log_error(LOG_ERROR, "language.not_handed_over", &e);
            version_probe_done(&q->probes[i]);
        }
    }
    if (!busy)
        version_questions_next(q);
}
