/* guests/sql/server.h — starts a PostgreSQL server from a prepared data directory. Runs in: a jar,
 * or an embryo in one.
 *
 * No process waits for the server to end: it ends with the jar. Its log is read only if it did not
 * start. */
#pragma once

#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Beside our program, made by src/runtime/postgres/guest/prepare. */
#define SERVER_SEED "seed"
/* The data directory, the socket and the log. */
#define SERVER_DIR  "/tmp/.postgres"

struct pg_server {
    pid_t pid;
    PGconn *connection; /* NULL: none */
    bool disk_full;     /* the reason of the failure */
    char why[512];      /* the failure, for people */
};

/* Checks that the files for a server exist; -1 with why. */
[[nodiscard]] int server_check(struct pg_server *s);
/* Unpacks, starts, waits for the first answer, and connects; -1 with why. */
[[nodiscard]] int server_start(struct pg_server *s);
/* Copies the limits of the calling process to the server: when an embryo starts it, they are not
 * known yet. */
void server_take_limits(const struct pg_server *s);
/* For a server that ended: true if its disk was full. */
bool server_met_full_disk(void);
void server_done(struct pg_server *s);

/* Another connection, which the caller finishes. Its status tells whether it works. */
PGconn *server_connect(void);
/* Stops every process of the server, and continues them. -1 if one does not stop. */
[[nodiscard]] int server_pause(const struct pg_server *s);
void server_resume(const struct pg_server *s);
/* Ends the server at once, with its connection. */
void server_stop(struct pg_server *s);
/* As server_start(), from the data directory that is there: the copy of one of a server that ran. */
[[nodiscard]] int server_start_here(struct pg_server *s);
