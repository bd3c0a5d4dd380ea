/* image/keep.h — mappings that a process has already, as the image wants them. Runs in: a session
 * program. A sibling of the writer has its libraries at the same addresses; a process with another
 * layout keeps nothing. */
#pragma once

#include "image/maps.h"

enum image_keep {
    KEEP_NOT,
    KEEP_CLEAN,
    KEEP_DIRTY, /* once its private pages are dropped */
};

/* Fills the `keep` of both: of the process as it is, and of the image. */
void image_find_kept(struct image_scratch *have, struct image_scratch *want);
