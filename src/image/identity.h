/* image/identity.h — facts that an image depends on, in a form that outlives a reinstallation and
 * holds on another machine. Runs in: a session program, also in a child that must not use the
 * allocator. */
#pragma once

#include "image/maps.h"

/* The build id of a program or library, or a digest of the bytes of any other file. `room` is memory
 * to work in. 0: the file cannot be read, or is too large to be read each time. */
uint64_t image_file_identity(const char *path, void *room, size_t room_bytes);
/* Fills `identity` of all mapped files that belong to the system. */
void image_identify(struct image_scratch *s);
/* A digest of the abilities of the processor: libraries choose their code by them. */
uint64_t image_processor(void);
/* Files of the session itself, which the image carries. */
bool image_is_own_place(const char *path);
