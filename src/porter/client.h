/* porter/client.h — a keeper's connection to the porter. Runs in: keeper.
 * Nothing here waits: the caller polls `fd` and calls porter_client_read(), and porter_client_flush()
 * while messages wait.
 *
 * PORTER_LINK-1 No message is lost while the porter lives: a message that its socket does not take waits.
 * PORTER_LINK-2 The network of a jar is open for as long as the keeper holds the descriptor of
 *          porter_client_open(). Its end cannot get lost: the kernel tells it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "network/policy.h"
#include "network/record.h"
#include "spec/plumbing.h"

struct porter_waiting; /* a message that the socket has not taken */
struct porter_client {
    int fd; /* -1: there is no porter */
    struct porter_waiting *first, *last;
    uint64_t stuck_ms; /* clock_ms(): since then no message was taken, and some wait; 0: none */
};
#define PORTER_CLIENT_INIT \
    {                      \
        .fd = -1           \
    }
void porter_client_done(struct porter_client *c);

/* Opens the network of jar `id`. The plumbing is for the warden, and so is a copy of *ret_fd
 * (wire_send_network()). The caller keeps *ret_fd while the jar lives. After its end the last records
 * follow, and then the event that the network is closed. */
[[nodiscard]] int porter_client_open(struct porter_client *c, uint64_t id,
                                     const struct network_policy *policy, struct plumbing *ret,
                                     int *ret_fd, struct err *e);
/* The policy becomes narrower, or stays; caps count anew. The event `changed` follows, after the
 * records of everything before. */
[[nodiscard]] int porter_client_change(struct porter_client *c, uint64_t id,
                                       const struct network_policy *policy, struct err *e);
/* Sends the messages that wait, as far as the socket takes them. -1: the porter is gone. */
[[nodiscard]] int porter_client_flush(struct porter_client *c, struct err *e);
/* When a porter that takes no message is taken for lost, on clock_ms(); UINT64_MAX: none waits. */
uint64_t porter_client_due_ms(const struct porter_client *c);
enum { PORTER_PATIENCE_MS = 5000 };

struct porter_event {
    uint64_t id;
    bool closed;                  /* the last event of this jar */
    bool changed;                 /* the answer to porter_client_change() */
    uint64_t omitted;             /* records that were not sent */
    uint64_t unrouted, refused;   /* attempts without a route, and at a port where nobody listens */
    struct network_record record; /* of every other event */
};
/* 1 with an event, 0 without one, -1: the porter is gone or sends nonsense. */
[[nodiscard]] int porter_client_read(const struct porter_client *c, struct porter_event *ret,
                                     struct err *e);
