/* image/bases.h — earlier images, whose bytes a new one shares. Runs in: a session program. */
#pragma once

#include "image/format.h"

/* The front of an image. False: the file is no whole image. */
bool image_read_front(int fd, struct image_front *ret);
/* The index of the base with this id, or -1. */
int image_find_base(const struct image_bases *bases, const struct image_id *id);
