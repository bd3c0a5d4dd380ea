/* jar/watch.h — kernel objects of a jar that no cgroup charges for: the warden counts them.
 * Runs in: warden.
 *
 * WATCH-1 The counts come from the kernel's own tables, never from the guest.
 * WATCH-2 A look costs a few microseconds unless there are many such objects. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "spec/verdict.h"

/* The state that all watches of one warden share. */
struct watch_host {
    int locks_fd;          /* the number of locks of the machine; -1: not known */
    uint64_t fewest_locks; /* that were seen */
    pid_t counter;         /* a child that counts the locks of one jar; 0: none */
    int counter_pidfd;
    struct watch *counted; /* the watch over that jar; NULL: it has ended */
};
/* While the files of the host are visible. */
void watch_host_open(struct watch_host *h);
void watch_host_done(struct watch_host *h);
bool watch_has_child(const struct watch_host *h, pid_t pid);

/* The watch over one jar. */
struct watch {
    int sockets_fd[2]; /* IPv4 and IPv6; -1: not open yet, -2: not there */
    int listeners_fd;  /* asks the kernel about queues; the same */
    uint64_t sockets;  /* of TCP, at the last look */
    uint64_t locks;    /* of the machine, when those of this jar were counted; 0: never */
    uint64_t locks_us; /* when that was */
    bool many_locks;   /* the result */
};
#define WATCH_INIT                                   \
    {                                                \
        .sockets_fd = { -1, -1 }, .listeners_fd = -1 \
    }
void watch_done(struct watch *w, struct watch_host *h);

struct jar_host;
/* The first class of which the jar holds too many objects. init: its pid 1. uid: of its processes. */
enum hoard watch_look_at_sockets(struct watch *w, struct jar_host *h, pid_t init);
enum hoard watch_look_at_locks(struct watch *w, struct jar_host *h, pid_t init, uid_t uid,
                               uint64_t now_us);
