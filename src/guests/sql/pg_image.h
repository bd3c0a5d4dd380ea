/* guests/sql/pg_image.h — images of guest-postgres: its data directory, and statements that make the
 * state of its connection again. Runs in: a jar.
 *
 * The server's processes are stopped while the directory is copied, just after a checkpoint. A server
 * that starts from the copy recovers as after its own sudden death. The connection is new: its
 * settings, role, prepared statements and channels are set again by statements; an open transaction,
 * temporary tables, cursors and advisory locks are lost. */
#pragma once

#include "guests/session/images.h"
#include "guests/sql/pg_state.h"
#include "guests/sql/server.h"

struct pg_images {
    struct pg_server *server;
    struct channel *channel;
    /* The server of an image is up, with a new connection. */
    void (*on_server)(void *context);
    void *context;
    PGconn *second;        /* while an image is written */
    struct buf statements; /* of that image */
    struct buf settings;   /* pg_state_see() */
};

extern const struct image_ops pg_images;
