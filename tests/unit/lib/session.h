/* tests/unit/lib/session.h — sessions and their cells, asked of a warden over the bare wire. */
#pragma once

#include <sys/socket.h>

#include "keeper.h"
#include "spec/bundle.h"

[[maybe_unused]] static bool has_sessions(const struct warden *w)
{
    return w->isolation.level != LEVEL_PROCESS;
}

[[maybe_unused]] static struct keeper_run session(const struct warden *w, uint64_t id,
                                                  unsigned kind, const char *script,
                                                  const struct limits *limits)
{
    scoped(buf) files = { 0 };
    struct err e = { 0 };
    char *argv[] = { (char *)"/bin/bash", (char *)"main.sh", NULL };
    CHECK_INT(bundle_add(&files, "main.sh", 0644, script, strlen(script), &e), 0);
    return keeper_spawn(w, &(struct keeper_ask){ .id = id,
                                                 .argv = argv,
                                                 .kind = kind,
                                                 .flags = JOB_SESSION,
                                                 .bundle = &files,
                                                 .limits = limits });
}

/* The next datagram of the program; "" when there is none. */
[[maybe_unused]] static const char *receive(const struct keeper_run *r)
{
    static char text[4096];
    struct pollfd p = { .fd = r->channel, .events = POLLIN };
    ssize_t n = poll(&p, 1, 30000) == 1 ? recv(r->channel, text, sizeof text - 1, 0) : -1;
    text[n > 0 ? n : 0] = '\0';
    return text;
}

/* Starts a session and waits until it says that it is up. */
[[maybe_unused]] static bool begin(const struct warden *w, uint64_t id, const char *script,
                                   const struct limits *limits, struct keeper_run *ret)
{
    *ret = session(w, id, 0, script, limits);
    return CHECK_STR(receive(ret), "up\n");
}

[[maybe_unused]] static void arm(const struct warden *w, uint64_t id, struct cell_limits limits)
{
    struct err e = { 0 };
    limits.wall_ms = limits.wall_ms ? limits.wall_ms : 60000;
    limits.cpu_ms = limits.cpu_ms ? limits.cpu_ms : 60000;
    limits.grace_ms = limits.grace_ms ? limits.grace_ms : 30000;
    CHECK_INT(wire_send_cell(w->fd, id, &limits, &e), 0);
}

/* The next message about a cell, past the one about the start. */
[[maybe_unused]] static struct cell_usage cell_end(const struct warden *w, uint64_t id)
{
    static struct wire_message m;
    struct wire_cell_end x = { .usage.interrupted = CELL_INTERRUPTS_ };
    struct err e = { 0 };
    struct pollfd p = { .fd = w->fd, .events = POLLIN };
    do
        if (!CHECK(poll(&p, 1, 30000) == 1) || !CHECK_INT(wire_receive(w->fd, &m, &e), 1))
            return x.usage;
    while (m.type == WIRE_STARTED);
    if (CHECK_INT(m.type, WIRE_CELL_END) && CHECK_INT(wire_read_cell_end(&m, &x, &e), 0))
        CHECK_INT(x.id, id);
    return x.usage;
}

[[maybe_unused]] static struct cell_usage disarm(const struct warden *w, uint64_t id)
{
    struct err e = { 0 };
    CHECK_INT(wire_send_cell(w->fd, id, &(struct cell_limits){ 0 }, &e), 0);
    return cell_end(w, id);
}

[[maybe_unused]] static void end(const struct warden *w, uint64_t id)
{
    struct err e = { 0 };
    CHECK_INT(wire_send_kill(w->fd, &(struct wire_kill){ id, END_CANCEL }, &e), 0);
    CHECK_INT(keeper_wait(w, id).evidence.reason, END_CANCEL);
}

[[maybe_unused]] static uint64_t memory_now(const struct warden *w, uint64_t id)
{
    static struct wire_message m;
    struct wire_measured x = { 0 };
    struct err e = { 0 };
    CHECK_INT(wire_send_measure(w->fd, id, &e), 0);
    do
        if (!CHECK_INT(wire_receive(w->fd, &m, &e), 1))
            return 0;
    while (m.type == WIRE_STARTED);
    if (CHECK_INT(m.type, WIRE_MEASURED) && CHECK_INT(wire_read_measured(&m, &x, &e), 0))
        CHECK_INT(x.id, id);
    return x.memory_bytes;
}
