/* service/systemd.h — the protocols between systemd and a service that it starts: listening sockets
 * that are already open, news about the state, the watchdog, priorities of log lines. Runs in:
 * supervisor.
 *
 * Invariants
 * SYSTEMD-1 No other process of ours gets the variables of these protocols: they are removed from
 *           the environment before anything is started.
 * SYSTEMD-2 The watchdog hears from us only while the keeper answers. A keeper that does not serve
 *           yet, or is over, is the business of the supervisor and is not asked. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/un.h>

#include "base/err.h"
#include "service/listen.h"

struct systemd {
    struct sockaddr_un notify; /* family 0: nobody listens */
    socklen_t notify_len;
    unsigned n_sockets;   /* that we inherited, from descriptor 3 on */
    uint64_t interval_ms; /* between two signs of life; 0: there is no watchdog */
    uint64_t due_ms;      /* the next one */
    bool serves;          /* the keeper has said hello */
    bool asked;           /* and has not answered yet */
    uint32_t question;
};

/* Reads the environment of this process and removes everything that is for us. */
[[nodiscard]] int systemd_open(struct systemd *s, struct err *e);
/* Takes the inherited sockets, at most `max`. Returns their number, or -1. */
[[nodiscard]] int systemd_listeners(const struct systemd *s, struct listener *ret, size_t max,
                                    struct err *e);

/* The service answers, at this level; also after a reload. */
void systemd_ready(const struct systemd *s, const char *level);
void systemd_reloading(const struct systemd *s);
void systemd_stopping(struct systemd *s);

/* The keeper has said hello. */
void systemd_keeper_serves(struct systemd *s);
/* There is no keeper, or a new one, which does not serve yet. */
void systemd_keeper_gone(struct systemd *s);
/* The time of the next systemd_beat(); UINT64_MAX: never. */
uint64_t systemd_due_ms(const struct systemd *s);
/* Shows a sign of life, unless the keeper still owes an answer, and asks it for the next one. */
void systemd_beat(struct systemd *s, int control_fd, uint64_t now_ms);
/* The keeper has answered this question. */
void systemd_answered(struct systemd *s, uint32_t question);
