/* guests/sql/pg_state.h — the state of a connection in an image of guest-postgres: statements that
 * make it again. Pure functions. Runs in: a jar. */
#pragma once

#include <stdbool.h>

#include "base/buf.h"

enum { PG_STATE_MAX = 16 << 20 };
#define PG_FRONT_MAGIC "BJPGRES1"

/* The first page of the image, which is written last. The state is behind the files: each statement
 * is its length as u32, then its text. */
struct pg_front {
    char magic[8];
    uint64_t state_at, state_bytes, bytes;
    uint32_t count, zero; /* of cells */
};
/* Of an image of so many bytes. */
bool pg_front_is_whole(const struct pg_front *f, uint64_t file_bytes);

[[nodiscard]] int pg_state_add(struct buf *state, const char *statement, struct err *e);
/* 1: a statement; 0: the end; -1: the state is cut short. */
int pg_state_next(const struct buf *state, size_t *at, const char **ret, size_t *ret_n);

/* Keeps the names of settings that a statement of a cell may set and that the server does not list:
 * those with a dot. Each name ends with a NUL. */
void pg_state_see(struct buf *settings, const char *statement);
