/* cli/jupyter/connection.h — the connection file that a Jupyter client writes. Runs in: main. */
#pragma once

#include <jansson.h>

#include "base/err.h"

#define CHANNEL_TABLE(X) /* id, key of its port */ \
    X(CHANNEL_SHELL, "shell_port")                 \
    X(CHANNEL_CONTROL, "control_port")             \
    X(CHANNEL_STDIN, "stdin_port")                 \
    X(CHANNEL_IOPUB, "iopub_port")                 \
    X(CHANNEL_HEARTBEAT, "hb_port")

enum channel {
#define X(id, key) id,
    CHANNEL_TABLE(X)
#undef X
        CHANNELS
};

enum { ENDPOINT_SIZE = 256 };

struct connection {
    char key[256];
    char endpoint[CHANNELS][ENDPOINT_SIZE]; /* as ZeroMQ names it */
};

/* Reads the file. The error names the file, the field, and the accepted values. */
[[nodiscard]] int connection_read(const char *path, struct connection *ret, struct err *e);
/* The same for JSON that is read already. */
[[nodiscard]] int connection_parse(const json_t *o, struct connection *ret, struct err *e);
