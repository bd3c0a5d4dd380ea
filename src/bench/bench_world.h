/* bench/bench_world.h — a small internet for the network part: two network namespaces and servers. No
 * packet leaves the machine. Runs in: the process that measures, which enters one of the namespaces. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define WORLD_ADDRESS      "203.0.113.2"
#define WORLD_NEAR_ADDRESS "203.0.113.1"
#define WORLD_NEAR_PREFIX  "203.0.113.1/24"
#define WORLD_RANGE        "203.0.113.0/24"
/* The ports of the servers: one that says "hello", and one that sends WORLD_STREAM_MIB. */
enum { WORLD_HELLO_PORT = 80, WORLD_STREAM_PORT = 81, WORLD_STREAM_MIB = 512 };

struct bench_world {
    pid_t servers, near_servers;
    struct dns_counts *questions; /* of name servers, which both namespaces have */
    int own_net_fd;               /* of this process, before */
};
/* This process, and everything that it starts from now on, is in the near namespace. False, with the
 * reason: this machine or this user cannot have one. */
[[nodiscard]] bool world_enter(struct bench_world *w, char *why, size_t size);
void world_leave(struct bench_world *w);
