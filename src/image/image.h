/* image/image.h — an image of a process: a file from which another process becomes it.
 * Runs in: a session program inside its jar, with the rights of a guest. Never in the keeper or the
 * warden, for which an image is opaque bytes.
 *
 * Theory of operation. image_write() copies the process by clone(2). The child has an exact view of
 * the memory as it was, and writes every private page into the file while the original goes on.
 * image_become() turns the calling process into that child's view: it plans all system calls in
 * advance, copies a few instructions and the plan into a hole that is free in both layouts, and
 * continues there. Nothing depends on the layout of the process that becomes the image, so address
 * randomisation stays on and an image outlives the zygote of its session.
 *
 * Invariants
 * IMAGE-1 Every byte of an image is a guest's. It is read only inside a jar, by a process that is
 *         confined already, and with the rights of that process.
 * IMAGE-2 The first page of an image is written last: without it, nothing is an image.
 * IMAGE-3 image_become() refuses an image before it changes anything, or does not return.
 * IMAGE-4 Only memory and the state of one thread are carried: registers, signal handlers, mask and
 *         pending signals, interval timers, alternate stack, umask. Descriptors, the working directory, other threads and children
 *         are the caller's business.
 * IMAGE-5 An image names its bases by their ids, and is refused if one that it needs is missing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The first page belongs to this room. A caller may use the bytes from IMAGE_FRONT up to `at`. */
enum { IMAGE_FRONT = 4096 };
enum { IMAGE_WHY = 200 };

/* Earlier images of the same session. An image has only the pages and files that differ from theirs,
 * and needs them for ever. */
enum { IMAGE_BASES_MAX = 8 };
struct image_bases {
    int fds[IMAGE_BASES_MAX]; /* to write: the newest one first, then its own bases */
    size_t n;
    uint32_t used; /* bit i: the image needs fds[i]; set by the functions that write */
};

/* Sixteen random bytes that only this image has. */
struct image_id {
    uint8_t bytes[16];
};

struct image_written {
    bool became;     /* we are the process that became the image */
    uint64_t cookie; /* then: the argument of image_become() */
    pid_t writer;    /* otherwise: the child that writes; image_reap() */
    uint64_t pause_us;
};

/* Writes an image into the file, from the offset `at` on, with at most `room` bytes. The writer
 * reports one line to report_fd: "ok BYTES MAPS RUNS MICROSECONDS USED", or "error WHY". USED is the
 * final image_bases.used. Returns twice: here, and in each process that becomes the image. -1: *why
 * has a reason. One call at a time. Other threads of the caller go on, so their changes of the memory
 * must not matter. bases: NULL for an image that stands alone. */
[[nodiscard]] int image_write(int fd, uint64_t at, uint64_t room, int report_fd,
                              const struct image_bases *bases, struct image_written *ret,
                              char why[IMAGE_WHY]);
/* True once the writer is gone. Its end sends no signal, and no plain wait() sees it. */
bool image_reap(pid_t writer);

/* Becomes the image. Returns only if it is refused. The process has one thread. The descriptors of
 * the process stay open. bases: in any order, and more than it needs if you like; NULL: none. */
void image_become(int fd, const struct image_bases *bases, uint64_t cookie, char why[IMAGE_WHY]);

/* Always -1. */
[[gnu::format(printf, 2, 3)]] int image_refuse(char why[IMAGE_WHY], const char *format, ...);
