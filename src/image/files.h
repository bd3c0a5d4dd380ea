/* image/files.h — the files of a session, in front of the memory in its image.
 * Runs in: a session program inside its jar.
 *
 * The layout, from IMAGE_FRONT on: entries without padding, little endian. Each is u8 kind, u32
 * mode, i64 time of change in nanoseconds, u64 bytes, u32 length of the name; then the name, which
 * is an absolute path, and the bytes of a file or the target of a link. A folder comes before its
 * contents. A file whose bytes are in an earlier image has its id and the offset (u64) in place of
 * the bytes. A further name of a file (a hard link) has the first one as its bytes. The highest bit of
 * a mode says that the file has holes. The last entry has the kind 0 and nothing else. */
#pragma once

#include "image/image.h"

/* The folders of a session that are its own; ends with NULL. */
extern const char *const image_places[];

/* Told the name of a thing that cannot be carried, such as "the socket /tmp/x". */
struct image_losses {
    void (*add)(struct image_losses *l, const char *name);
};

/* Writes all files below the places, without the allocator (image/listing.h). No byte goes behind the offset `room`. A file that is in one of
 * the bases with the same name and bytes is not written again; bases->used says which bases. NULL:
 * none. *ret_end: the offset behind the files. */
[[nodiscard]] int image_files_pack(int fd, struct image_bases *bases, const char *const places[],
                                   uint64_t room, struct image_losses *losses, uint64_t *ret_end,
                                   char why[IMAGE_WHY]);
/* Puts the files in place of everything below the places. Only the rights of the caller bound the
 * names. The places may be half full if it fails. */
[[nodiscard]] int image_files_unpack(int fd, const struct image_bases *bases,
                                     const char *const places[], char why[IMAGE_WHY]);
