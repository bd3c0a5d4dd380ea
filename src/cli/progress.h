/* cli/progress.h — one line about work that takes long. Runs in: the command, also without rights: after
 * progress_begin() only write(2) and the clock are used.
 * On a terminal the line is redrawn. Otherwise a plain line is written now and then. Work of less than
 * two seconds writes nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    const char *what; /* "install ruby" */
    int fd;
    bool terminal, drawn;
    unsigned columns;
    uint64_t began_ms, next_ms;
};

/* `fd`: 1 or 2; -1 writes nothing at all. */
void progress_begin(struct progress *p, int fd, const char *what);
/* `total` 0: not known. `detail`: plain text, or NULL. */
void progress_update(struct progress *p, size_t done, size_t total, const char *detail);
/* Removes the line from a terminal, before other text is printed there. */
void progress_clear(struct progress *p);
/* The time until the line is due; for poll(). -1: never. */
int progress_wait_ms(const struct progress *p);
