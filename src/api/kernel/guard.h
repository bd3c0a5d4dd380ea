/* api/kernel/guard.h — may this request have come from a page that is not ours? Pure functions.
 * A browser on this machine reaches what listens on loopback, for whatever page it shows. Two things tell such requests: Host
 * names who the page believed to talk to (DNS rebinding), Origin and Sec-Fetch-Site name the page (cross-site requests). */
#pragma once

#include <stdbool.h>

#include "base/err.h"

struct guard_facts {
    bool is_unix;
    const char *listener;                   /* numeric address, "" when not known */
    const char *host, *origin, *fetch_site; /* headers, or NULL */
    const char *hosts, *origins;            /* settings: comma-separated */
};

/* Unix sockets take any Host. */
[[nodiscard]] int guard_host(const struct guard_facts *f, struct err *e);
/* *ret_cross: the origin is another site's that the settings allow; answers name it. */
[[nodiscard]] int guard_origin(const struct guard_facts *f, bool *ret_cross, struct err *e);

/* 127.0.0.0/8, ::1 */
bool guard_is_loopback(const char *numeric);
