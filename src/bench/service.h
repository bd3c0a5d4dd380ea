/* bench/service.h — services of our own: a free port on loopback, a state directory below the site's.
 * Runs in: the process that measures. Whatever becomes of that one, they end with it (PR_SET_PDEATHSIG). */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/command.h"

enum service_kind {
    SERVICE_NONE,
    SERVICE_WARM, /* as installed: pools of its own choice */
    SERVICE_COLD, /* pools.max=0: every run starts cold */
    SERVICE_KINDS
};

struct service {
    enum service_kind kind;
    pid_t pid;
    unsigned port;
    char state[300];
    double healthy_ms;   /* from its exec to its first 200 */
    uint64_t started_us; /* clock_us() before its exec */
};

/* `name` is that of its state directory, which may be there already; `setting` one more "key=value", or NULL. Returns when
 * it is healthy. */
void service_start(struct service *ret, const struct site *s, const char *name,
                   enum service_kind kind, const char *setting);
/* With SIGTERM; it must end well. Does nothing to one that was not started. */
void service_stop(struct service *s);

/* Waits until its pools are as full as it wants them, or for three seconds; a service without pools is given a moment. */
void service_settle(const struct service *s);
/* "pools" of /v1/stats, or NULL. */
json_t *service_pools(const struct service *s);

/* Its processes by their part. */
struct service_parts {
    pid_t keeper, warden;
};
[[nodiscard]] bool service_parts(const struct service *s, struct service_parts *ret);
