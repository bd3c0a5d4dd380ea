/* run/program_disk.h — a directory of compiled programs.
 * Runs in: keeper of the service, on worker threads; main of `belljar run`.
 *
 * Invariants
 * PROGRAM_DISK-1 A file whose name is a key is a complete program: it is written under another name
 *                first. If a writer is killed, a later call removes its unfinished file.
 * PROGRAM_DISK-2 Any number of threads and processes may use one directory. No process waits for
 *                another.
 * PROGRAM_DISK-3 A file that belongs to another user, or that others may write, is ignored. */
#pragma once

#include <pthread.h>

#include "run/program_file.h"
#include "run/program_key.h"

/* Shared by the threads. */
struct program_disk {
    int dir_fd; /* -1: no directory */
    pthread_mutex_t lock;
    uint64_t max, used; /* bytes; used: found when counted, plus the files added since */
    bool counted;
};
/* Takes over the descriptor. */
void program_disk_init(struct program_disk *d, int dir_fd, uint64_t max_bytes);
void program_disk_done(struct program_disk *d);

/* Opens the file of a key for program_file_read() and marks it as used now. -1: there is no such
 * file. */
int program_disk_open(const struct program_disk *d, const char *key);
/* Adds the bytes of program_file_encode(); incomplete bytes are refused. If the directory becomes
 * too large, the least recently used programs are removed. */
[[nodiscard]] int program_disk_put(struct program_disk *d, const char *key, const struct buf *bytes,
                                   struct err *e);

/* Open and read in one call. An incomplete file is removed. */
bool program_disk_load(struct program_disk *d, const char *key, struct program_file *ret);
/* Encode and put in one call. */
[[nodiscard]] int program_disk_keep(struct program_disk *d, const char *key,
                                    const struct program_file *f, struct err *e);
/* Marks a program as used now. */
void program_disk_touch(struct program_disk *d, const char *key);
/* Removes programs beyond the maximum size, and unfinished files. */
void program_disk_trim(struct program_disk *d);
