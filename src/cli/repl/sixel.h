/* cli/repl/sixel.h — PNG images as Sixel graphics, for terminals that take no PNG. Runs in: the
 * talker.
 *
 * SIXEL-1 Only the talker decodes an image, after its confinement: a guest wrote the bytes. libpng is
 *         loaded before the confinement, and only if the terminal has Sixel graphics.
 * SIXEL-2 An image of more than SIXEL_PIXELS_MAX pixels is not decoded. */
#pragma once

#include <stdint.h>

#include "base/buf.h"

#define SIXEL_PIXELS_MAX (8 << 20)
#define SIXEL_SIDE_MAX   1000 /* larger images are made smaller */

struct raster {
    uint32_t width, height;
    unsigned char *rgb; /* three bytes for each pixel, row by row; owned */
};
void raster_done(struct raster *r);

struct sixel;
/* Loads libpng, which stays loaded. NULL if it is not installed: then no image is shown. The caller
 * frees it. */
struct sixel *sixel_open(void);
/* The image that a PNG holds, on a white ground. -1: it is not one, or too large. */
[[nodiscard]] int sixel_decode(const struct sixel *s, const struct buf *png,
                               struct raster *ret_raster, struct err *e);
/* Adds the sequence that draws the image. Pure. */
[[nodiscard]] int sixel_encode(const struct raster *r, struct buf *out, struct err *e);
