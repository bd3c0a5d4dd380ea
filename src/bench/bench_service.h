/* bench/bench_service.h — our own services: a free port on loopback, a state directory below the
 * site's. Runs in: the process that measures. They end with that process in any case
 * (PR_SET_PDEATHSIG). */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/command.h"

enum service_kind {
    SERVICE_NONE,
    SERVICE_WARM,    /* as installed: it chooses its pools */
    SERVICE_COLD,    /* pools.max=0: every run starts cold */
    SERVICE_NETWORK, /* runs may have a network, and many of them at a time */
    SERVICE_KINDS
};

struct bench_service {
    enum service_kind kind;
    pid_t pid;
    unsigned port;
    char state[300];
    double healthy_ms;   /* from its exec to its first 200 */
    uint64_t started_us; /* clock_us() before its exec */
};

/* `name`: its state directory, which may exist. `setting`: one more "key=value", or NULL. Returns
 * when it is healthy. */
void service_start(struct bench_service *ret, const struct site *s, const char *name,
                   enum service_kind kind, const char *setting);
/* Sends SIGTERM; the service must end with status 0. Does nothing for a service that was not
 * started. */
void service_stop(struct bench_service *s);

/* Waits until its pools are full, at most three seconds. A service without pools gets a moment. */
void service_settle(const struct bench_service *s);
/* "pools" of /v1/stats, or NULL. */
json_t *service_pools(const struct bench_service *s);

/* Its processes by their roles. */
struct service_parts {
    pid_t keeper, warden, porter; /* porter 0: there is none */
};
[[nodiscard]] bool service_parts(const struct bench_service *s, struct service_parts *ret);
