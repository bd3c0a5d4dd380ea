/* cli/jupyter/front.h — a Jupyter kernel towards its clients: sockets, signatures, and the order of
 * messages. Runs in: main, with the rights of the caller.
 *
 * Invariants
 * FRONT-1 It parses messages of clients with the right signature, and no byte of a guest: contents
 *         that hold such bytes come from the forwarder and are passed on unread.
 * FRONT-2 If a cell fails, the cells that came before its reply was sent are aborted. A client that
 *         knows of the failure can send the next cell at once.
 * FRONT-3 Each request gets a reply and the statuses busy and idle, also without a session. */
#pragma once

#include "cli/jupyter/sockets.h"
#include "runtime/language.h"

struct front {
    struct sockets *sockets;
    struct signer signer;
    const struct language *language;
    int link_fd;               /* to the forwarder; -1: there is no session */
    char reason[ERR_TEXT_MAX]; /* why there is no session */
    /* private */
    struct request current; /* that the forwarder answers */
    enum channel channel;   /* of the current request */
    bool waits;             /* for the forwarder */
    bool replied, asks_input;
    struct waiting_request *first, *last; /* requests that waited when a cell failed */
    bool stopped;
    unsigned interrupts; /* of the current request */
    unsigned dropped;    /* messages */
};

/* Serves until a client asks for the end, or SIGTERM comes. */
void front_serve(struct front *f);
void front_done(struct front *f);
