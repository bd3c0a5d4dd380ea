/* guests/session/descriptors.h — the descriptors of a process and its place, beside the memory in its
 * image. Runs in: a jar.
 *
 * Theory of operation. A plan lists every open descriptor. It is made before the image is written, in
 * memory, and so it is part of the image. The process that became the image carries it out. Descriptors
 * of ours have a role: the process that becomes an image brings its own for each. Files are opened
 * again by name, with their flags and offset. A deleted file is made anew from its bytes, which are in
 * the image in front of the memory. Everything else is lost: in its place comes a descriptor whose
 * reader finds the end and whose writer fails, because a closed number would soon be another file's. */
#pragma once

#include <sys/resource.h>
#include <sys/stat.h>

#include "image/files.h"

enum { DESCRIPTOR_ROLES_MAX = 8 };

/* Which file is behind a number: numbers may be duplicated and replaced. */
struct descriptor_identity {
    dev_t device;
    ino_t inode;
};
struct descriptor_identity descriptor_identity_of(int fd);

struct descriptor_roles {
    size_t n;
    struct descriptor_identity is[DESCRIPTOR_ROLES_MAX];
};

enum descriptor_fate { FATE_OURS, FATE_REOPENED, FATE_REFILLED, FATE_DUPLICATE, FATE_DEAD };

struct descriptor_row {
    enum descriptor_fate fate;
    int number, flags;
    bool stays; /* open in a program that it executes */
    size_t role;
    int same_as; /* of a duplicate: the number of the first one, with the same offset */
    mode_t mode;
    struct descriptor_identity identity;
    off_t offset;
    uint64_t bytes, at; /* of a deleted file: its place in the image */
    char *name;
};

struct descriptor_plan {
    char *folder;
    struct rlimit limits[RLIM_NLIMITS];
    struct descriptor_row *rows;
    size_t n;
};
void descriptor_plan_free(struct descriptor_plan *p);

/* skipped: numbers that the plan leaves out. Things that cannot be carried are told to losses. */
[[nodiscard]] int descriptor_plan_make(struct descriptor_plan *p,
                                       const struct descriptor_roles *roles, const int skipped[],
                                       size_t n_skipped, struct image_losses *losses,
                                       char why[IMAGE_WHY]);
/* Writes the deleted files into the image, from *at on, and moves *at behind them. */
[[nodiscard]] int descriptor_plan_store(struct descriptor_plan *p, int fd, uint64_t *at,
                                        uint64_t room, char why[IMAGE_WHY]);
/* In the process that became the image. ours: its own descriptor for each role. fd: the image. All
 * other descriptors are closed. */
void descriptor_plan_restore(const struct descriptor_plan *p, const int ours[], size_t n_roles,
                             int fd);

struct process_relative {
    pid_t pid;
    bool with_children;
};
/* Tells losses every process of the jar but the first one, this one and ours. */
void tell_other_processes(const struct process_relative ours[], size_t n,
                          struct image_losses *losses);
