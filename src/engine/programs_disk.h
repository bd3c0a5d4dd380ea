/* engine/programs_disk.h — programs as files. Runs in: keeper, on worker threads. */
#pragma once

#include <pthread.h>

#include "engine/programs.h"

/* Shared by the threads. */
struct programs_disk {
    int dir_fd; /* -1: none */
    pthread_mutex_t lock;
    uint64_t max, used; /* bytes; used is what was found and added */
    bool counted;
};

/* A program that is to be written, or was read. */
struct program_file {
    struct preparation how;
    struct buf made; /* a bundle of outputs */
};
void program_file_done(struct program_file *f);

/* False when there is none, or none that is whole; then it is removed. One that is used is marked as used now. */
bool programs_disk_load(struct programs_disk *d, const char *key, struct program_file *ret);
/* In one piece or not at all. What was used longest ago goes when there is too much. */
[[nodiscard]] int programs_disk_keep(struct programs_disk *d, const char *key,
                                     const struct program_file *f, struct err *e);
void programs_disk_touch(struct programs_disk *d, const char *key);
/* Removes what is too much. */
void programs_disk_trim(struct programs_disk *d);
