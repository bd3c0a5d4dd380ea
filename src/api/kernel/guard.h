/* api/kernel/guard.h — refuses requests that a web page of another site made. Pure functions. A
 * browser on this machine can reach listeners on loopback on behalf of any page. Two kinds of
 * headers reveal such requests: Host is the name that the page connected to (DNS rebinding); Origin
 * and Sec-Fetch-Site name the page (cross-site requests). */
#pragma once

#include <stdbool.h>

#include "base/err.h"

struct guard_facts {
    bool is_unix;
    const char *listener;                   /* numeric address, "" if not known */
    const char *host, *origin, *fetch_site; /* headers, or NULL */
    const char *hosts, *origins;            /* settings: comma-separated */
};

/* A unix socket accepts any Host. */
[[nodiscard]] int guard_host(const struct guard_facts *f, struct err *e);
/* *ret_cross: the origin is another site that the settings allow; answers name it. */
[[nodiscard]] int guard_origin(const struct guard_facts *f, bool *ret_cross, struct err *e);

/* 127.0.0.0/8, ::1 */
bool guard_is_loopback(const char *numeric);
