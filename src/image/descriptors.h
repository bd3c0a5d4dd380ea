/* image/descriptors.h — the descriptors of a session program, before its image is written and after
 * another process became it. Runs in: a session program.
 *
 * Files and folders are opened again by their names; duplicates of one descriptor have one position
 * again. Event loops, counters and pipes whose two ends
 * are both here are made anew, with their contents. In place of everything else comes a dead end:
 * reading finds the end, and writing fails. No function here uses the allocator. */
#pragma once

#include <sys/stat.h>

#include "image/files.h"
#include "image/image.h"
#include "image/inodes.h"

/* The descriptors of ours. A program may have more numbers for each. */
enum image_role { IMAGE_STDIN, IMAGE_STDOUT, IMAGE_STDERR, IMAGE_CHANNEL, IMAGE_ROLES };
struct image_roles {
    struct {
        dev_t device;
        ino_t inode;
    } of[IMAGE_ROLES];
};
/* numbers: a descriptor for each role. */
void image_roles_find(struct image_roles *roles, const int numbers[IMAGE_ROLES]);

/* In the memory of the session, and so in the image. */
struct image_descriptors;
struct image_descriptors *image_descriptors_new(void);
void image_descriptors_free(struct image_descriptors *d);

/* Records the working directory and every descriptor, except those in skip. The losses get the names
 * of dead ends. is_still: no other thread uses files. Otherwise duplicates get positions of their own,
 * because to find them out means to move one. -1: *why has the reason. */
[[nodiscard]] int image_descriptors_take(struct image_descriptors *d,
                                         const struct image_roles *roles, bool is_still,
                                         const int skip[], size_t n_skip,
                                         struct image_losses *losses, char why[IMAGE_WHY]);
/* In the process that became the image: makes them, in place of all others. channel: the number of
 * its own channel. */
void image_descriptors_restore(const struct image_descriptors *d, int channel);

enum { IMAGE_DESCRIPTORS_MAX = 4096 };
/* After that: the files that are open again. Returns their number. */
size_t image_descriptors_renamed(const struct image_descriptors *d, struct image_renamed *to,
                                 size_t room);

/* The names of the processes that this one started, except those in skip. */
void image_children(const pid_t skip[], size_t n_skip, struct image_losses *losses);
