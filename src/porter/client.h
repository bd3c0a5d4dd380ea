/* porter/client.h — a keeper's connection to the porter. Runs in: keeper.
 * Nothing here waits: the caller polls `fd` and calls porter_client_read(). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "network/policy.h"
#include "network/record.h"
#include "spec/plumbing.h"

struct porter_client {
    int fd; /* -1: there is no porter */
};
#define PORTER_CLIENT_INIT \
    {                      \
        .fd = -1           \
    }
void porter_client_done(struct porter_client *c);

/* Opens the network of jar `id`. *ret_fd and the plumbing are for the warden (wire_send_network()). */
[[nodiscard]] int porter_client_open(const struct porter_client *c, uint64_t id,
                                     const struct network_policy *policy, struct plumbing *ret,
                                     int *ret_fd, struct err *e);
/* The policy becomes narrower, at once. */
[[nodiscard]] int porter_client_change(const struct porter_client *c, uint64_t id,
                                       const struct network_policy *policy, struct err *e);
/* The jar is gone. The last records follow, and then the event that it is closed. */
void porter_client_close(const struct porter_client *c, uint64_t id);

struct porter_event {
    uint64_t id;
    bool closed;                  /* the last event of this jar */
    uint64_t omitted;             /* records that were not sent; of the last event */
    struct network_record record; /* of every other event */
};
/* 1 with an event, 0 without one, -1: the porter is gone or sends nonsense. */
[[nodiscard]] int porter_client_read(const struct porter_client *c, struct porter_event *ret,
                                     struct err *e);
