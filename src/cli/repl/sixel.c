#include "cli/repl/sixel.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"

void raster_done(struct raster *r)
{
    free(r->rgb);
    *r = (struct raster){ 0 };
}

/* ---- decoding ---- */

#if __has_include(<png.h>)
#include <dlfcn.h>
#include <png.h>

#define PNG_FUNCTIONS(X)                \
    X(png_image_begin_read_from_memory) \
    X(png_image_finish_read)            \
    X(png_image_free)

struct sixel {
#define X(name) __typeof__(&name) name;
    PNG_FUNCTIONS(X)
#undef X
};

struct sixel *sixel_open(void)
{
    static const struct {
        const char *name;
        size_t offset;
    } functions[] = {
#define X(name) { #name, offsetof(struct sixel, name) },
        PNG_FUNCTIONS(X)
#undef X
    };
    void *library = dlopen("libpng16.so.16", RTLD_NOW | RTLD_LOCAL);
    struct sixel *s = library ? calloc(1, sizeof *s) : NULL;
    for (size_t i = 0; s && i < ARRAY_LEN(functions); i++) {
        void *found = dlsym(library, functions[i].name);
        if (!found) {
            free(s);
            return NULL;
        }
        memcpy((char *)s + functions[i].offset, &found, sizeof found);
    }
    return s;
}

int sixel_decode(const struct sixel *s, const struct buf *png, struct raster *ret_raster,
                 struct err *e)
{
    static const png_color white = { 255, 255, 255 };
    png_image image = { .version = PNG_IMAGE_VERSION };
    if (!s->png_image_begin_read_from_memory(&image, png->data, png->len))
        return err_set(e, ERR_BAD_REQUEST, 0, "the bytes are not a PNG image");
    struct raster r = { .width = image.width, .height = image.height };
    if ((uint64_t)r.width * r.height <= SIXEL_PIXELS_MAX)
        r.rgb = malloc((size_t)r.width * r.height * 3 + 1);
    image.format = PNG_FORMAT_RGB;
    bool done = r.rgb && s->png_image_finish_read(&image, &white, r.rgb, 0, NULL);
    s->png_image_free(&image);
    if (!done) {
        raster_done(&r);
        return err_set(e, ERR_BAD_REQUEST, 0, "the image is too large or damaged");
    }
    *ret_raster = r;
    return 0;
}
#else
struct sixel *sixel_open(void)
{
    return NULL;
}

int sixel_decode(const struct sixel *s, const struct buf *png, struct raster *ret_raster,
                 struct err *e)
{
    (void)s, (void)png, (void)ret_raster;
    return err_set(e, ERR_UNAVAILABLE, 0, "belljar was built without the headers of libpng");
}
#endif

/* ---- size ---- */

/* The mean of a square of pixels; the squares at the right and lower edges may be smaller. */
static void mean(const struct raster *r, uint32_t x0, uint32_t y0, uint32_t side,
                 unsigned char out[3])
{
    uint32_t sum[3] = { 0 }, n = 0;
    for (uint32_t y = y0; y < r->height && y < y0 + side; y++)
        for (uint32_t x = x0; x < r->width && x < x0 + side; x++, n++)
            for (size_t c = 0; c < 3; c++)
                sum[c] += r->rgb[((size_t)y * r->width + x) * 3 + c];
    for (size_t c = 0; c < 3; c++)
        out[c] = (unsigned char)(sum[c] / n);
}

static int shrink(const struct raster *from, struct raster *ret, struct err *e)
{
    uint32_t longest = from->width > from->height ? from->width : from->height;
    uint32_t side = (longest + SIXEL_SIDE_MAX - 1) / SIXEL_SIDE_MAX;
    ret->width = (from->width + side - 1) / side;
    ret->height = (from->height + side - 1) / side;
    ret->rgb = malloc((size_t)ret->width * ret->height * 3);
    if (!ret->rgb)
        return err_no_memory(e, "an image");
    for (uint32_t y = 0; y < ret->height; y++)
        for (uint32_t x = 0; x < ret->width; x++)
            mean(from, x * side, y * side, side, &ret->rgb[((size_t)y * ret->width + x) * 3]);
    return 0;
}

/* ---- colours ---- */

enum { COLOURS_MAX = 256, BITS = 5, BINS = 1 << (3 * BITS), LEVEL_MAX = (1 << BITS) - 1 };

struct palette {
    uint32_t count[BINS]; /* pixels of this colour */
    unsigned char index[BINS];
    uint16_t bin[COLOURS_MAX];
    size_t n;
};

static uint16_t bin_of(const unsigned char rgb[3])
{
    return (uint16_t)((rgb[0] >> (8 - BITS)) << (2 * BITS) | (rgb[1] >> (8 - BITS)) << BITS |
                      rgb[2] >> (8 - BITS));
}

static int level(uint16_t bin, int channel)
{
    return bin >> ((2 - channel) * BITS) & LEVEL_MAX;
}

static int distance(uint16_t a, uint16_t b)
{
    int sum = 0;
    for (int c = 0; c < 3; c++)
        sum += (level(a, c) - level(b, c)) * (level(a, c) - level(b, c));
    return sum;
}

static unsigned char nearest(const struct palette *p, uint16_t bin)
{
    size_t best = 0;
    for (size_t i = 1; i < p->n; i++)
        if (distance(bin, p->bin[i]) < distance(bin, p->bin[best]))
            best = i;
    return (unsigned char)best;
}

static int more_frequent(const void *a, const void *b, void *palette)
{
    const uint16_t *x = a, *y = b;
    const struct palette *p = palette;
    if (p->count[*x] != p->count[*y])
        return p->count[*x] > p->count[*y] ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

/* The most frequent colours; each of the others becomes the nearest of these. */
static int choose_colours(const struct raster *r, struct palette *p, struct err *e)
{
    autofree uint16_t *bins = calloc(BINS, sizeof *bins);
    size_t n = 0;
    if (!bins)
        return err_no_memory(e, "an image");
    for (size_t i = 0; i < (size_t)r->width * r->height; i++)
        p->count[bin_of(r->rgb + i * 3)]++;
    for (uint32_t bin = 0; bin < BINS; bin++)
        if (p->count[bin] > 0)
            bins[n++] = (uint16_t)bin;
    qsort_r(bins, n, sizeof *bins, more_frequent, p);
    p->n = n < COLOURS_MAX ? n : COLOURS_MAX;
    memcpy(p->bin, bins, p->n * sizeof *bins);
    for (size_t i = 0; i < n; i++)
        p->index[bins[i]] = i < p->n ? (unsigned char)i : nearest(p, bins[i]);
    return 0;
}

/* ---- encoding ---- */

/* "!5@" is five times "@". */
static int add_run(struct buf *out, char sixel, uint32_t n, struct err *e)
{
    const char few[] = { sixel, sixel, sixel };
    return n <= sizeof few ? buf_add(out, few, n, e) : buf_addf(out, e, "!%" PRIu32 "%c", n, sixel);
}

static int add_row(struct buf *out, const unsigned char *bits, uint32_t width, struct err *e)
{
    while (width > 0 && bits[width - 1] == 0)
        width--;
    for (uint32_t x = 0, n; x < width; x += n) {
        for (n = 1; x + n < width && bits[x + n] == bits[x];)
            n++;
        if (add_run(out, (char)('?' + bits[x]), n, e))
            return -1;
    }
    return 0;
}

enum { BAND = 6 }; /* rows of pixels in one row of sixels */

/* A row of sixels is drawn once for each of its colours. */
static int add_band(const struct raster *r, const struct palette *p, uint32_t y0,
                    unsigned char *bits, struct buf *out, struct err *e)
{
    bool used[COLOURS_MAX] = { false };
    for (uint32_t k = 0; k < BAND && y0 + k < r->height; k++) {
        for (uint32_t x = 0; x < r->width; x++) {
            size_t c = p->index[bin_of(&r->rgb[((size_t)(y0 + k) * r->width + x) * 3])];
            if (!used[c])
                memset(bits + c * r->width, 0, r->width);
            used[c] = true;
            bits[c * r->width + x] |= (unsigned char)(1 << k);
        }
    }
    for (size_t c = 0; c < p->n; c++)
        if (used[c] && (buf_addf(out, e, "#%zu", c) ||
                        add_row(out, bits + c * r->width, r->width, e) || buf_add(out, "$", 1, e)))
            return -1;
    return buf_add(out, "-", 1, e);
}

static int percent(uint16_t bin, int channel)
{
    return (level(bin, channel) * 100 + LEVEL_MAX / 2) / LEVEL_MAX;
}

static int encode(const struct raster *r, struct buf *out, struct err *e)
{
    autofree struct palette *p = calloc(1, sizeof *p);
    autofree unsigned char *bits = malloc((size_t)COLOURS_MAX * r->width);
    if (!p || !bits)
        return err_no_memory(e, "an image");
    if (choose_colours(r, p, e) ||
        buf_addf(out, e, "\033P0;1;0q\"1;1;%" PRIu32 ";%" PRIu32, r->width, r->height))
        return -1;
    for (size_t i = 0; i < p->n; i++)
        if (buf_addf(out, e, "#%zu;2;%d;%d;%d", i, percent(p->bin[i], 0), percent(p->bin[i], 1),
                     percent(p->bin[i], 2)))
            return -1;
    for (uint32_t y = 0; y < r->height; y += BAND)
        if (add_band(r, p, y, bits, out, e))
            return -1;
    return buf_add(out, "\033\\", 2, e);
}

int sixel_encode(const struct raster *r, struct buf *out, struct err *e)
{
    struct raster small = { 0 };
    if (r->width == 0 || r->height == 0)
        return err_set(e, ERR_BAD_REQUEST, 0, "the image is empty");
    if (r->width <= SIXEL_SIDE_MAX && r->height <= SIXEL_SIDE_MAX)
        return encode(r, out, e);
    int rc = shrink(r, &small, e) || encode(&small, out, e) ? -1 : 0;
    raster_done(&small);
    return rc;
}
