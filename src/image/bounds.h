/* image/bounds.h — limits (setrlimit) and the priority (nice) that a guest gave to its process.
 * Runs in: a session program.
 *
 * The jar of a copy may have other limits than the one of its original. So only limits that the guest
 * changed are carried, and none is raised. */
#pragma once

#include "image/files.h"

/* Before the first instruction of the guest. */
void image_bounds_begin(void);
/* Before an image is written. The time of the CPU counts from the start of a process: a limit of it
 * goes to the losses. */
void image_bounds_take(struct image_losses *losses);
/* In the process that became the image, once its descriptors are open. */
void image_bounds_restore(void);
