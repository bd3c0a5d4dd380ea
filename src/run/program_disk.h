/* run/program_disk.h — a directory of compiled programs. Runs in: keeper of the service, on worker threads; main of
 * `belljar run`.
 *
 * Invariants
 * D1 A name in the directory is a key, and all of its program is there, or it is not there at all: it is written under another
 *    name first. What somebody who was killed left under such a name is removed later.
 * D2 Any number of threads and processes may use one directory; none waits for another.
 * D3 A file of somebody else's, or that others may write, is none. */
#pragma once

#include <pthread.h>

#include "run/program_file.h"
#include "run/program_key.h"

/* Shared by the threads. */
struct programs_disk {
    int dir_fd; /* -1: none */
    pthread_mutex_t lock;
    uint64_t max, used; /* bytes; used is what was found and added */
    bool counted;
};
/* Takes the descriptor over. */
void programs_disk_init(struct programs_disk *d, int dir_fd, uint64_t max_bytes);
void programs_disk_done(struct programs_disk *d);

/* The file of a key, to be read and checked by program_file_read(); -1: there is none. It is marked as used now. */
int programs_disk_open(const struct programs_disk *d, const char *key);
/* Takes what program_file_encode() made; bytes that are not whole are refused. What was used longest ago goes when there is
 * too much. */
[[nodiscard]] int programs_disk_put(struct programs_disk *d, const char *key,
                                    const struct buf *bytes, struct err *e);

/* Both at once, for who does not part them. One that is not whole is removed. */
bool programs_disk_load(struct programs_disk *d, const char *key, struct program_file *ret);
[[nodiscard]] int programs_disk_keep(struct programs_disk *d, const char *key,
                                     const struct program_file *f, struct err *e);
void programs_disk_touch(struct programs_disk *d, const char *key);
/* Removes what is too much, and what was left half written. */
void programs_disk_trim(struct programs_disk *d);
