/* sql/server.h — a PostgreSQL server of one's own, from a prepared data directory. Runs in: a jar, or an embryo in one.
 *
 * Nobody waits for the server's end: it is the jar's. Its log is read only when it did not come up. */
#pragma once

#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Beside our program, made by src/runtime/postgres/guest/prepare. */
#define SERVER_SEED "seed"
/* The data directory, the socket and the log. */
#define SERVER_DIR  "/tmp/.postgres"

struct server {
    pid_t pid;
    PGconn *connection; /* NULL: there is none */
    bool disk_full;     /* that is what failed */
    char why[512];      /* what failed, for people */
};

/* Whether there is what a server starts from; -1 with why. */
[[nodiscard]] int server_check(struct server *s);
/* Unpacks, starts, waits until it answers, and connects; -1 with why. */
[[nodiscard]] int server_start(struct server *s);
/* Limits of the calling process are the server's, too: an embryo's were not known when it started. */
void server_take_limits(const struct server *s);
/* Of a server that ended: whether it was for want of space on its disk. */
bool server_met_full_disk(void);
void server_done(struct server *s);
