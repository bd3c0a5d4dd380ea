/* cli/repl/connections.h — the connections of the talker to the service. Runs in: the talker. The
 * socket of the service does not let in the uid of the talker, so main connects and passes the
 * descriptor on (TELL_CONNECT, ASK_CONNECTED).
 *
 * CONNECTIONS-1 A connection that the service closed, because it was idle or because the service
 *               was restarted, is replaced at its next use. Records of main that arrive meanwhile
 *               are kept in their order. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "cli/repl/link.h"
#include "client/client.h"

enum { RECORDS_MAX = 16 };

struct record {
    enum link_type type;
    struct buf text;
};

struct connections {
    int link_fd;
    struct client *events, *side;
    struct record waiting[RECORDS_MAX]; /* records of main that came before ASK_CONNECTED */
    size_t n_waiting;
};
void connections_done(struct connections *c);

/* The next record of main. */
[[nodiscard]] int connections_receive(struct connections *c, enum link_type *ret_type,
                                      struct buf *ret, struct err *e);
/* Waits for a record of main. False: there was none in this time, or the side connection needs to be
 * renewed. */
bool connections_wait(const struct connections *c, int ms);

/* Makes one of the connections usable. `patience_ms`: for a service that is restarted. */
[[nodiscard]] int connections_renew(struct connections *c, struct client **connection,
                                    int patience_ms, struct err *e);
/* As session_question(), on a connection that is renewed if it must be. */
json_t *connections_ask(struct connections *c, struct client **connection, const char *id,
                        const char *method, const char *what, json_t *body, struct err *e);
