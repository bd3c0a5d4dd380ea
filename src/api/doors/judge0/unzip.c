/* A reader of zip archives from strangers: the central directory names the files, and each file is
 * stored or deflated. Everything else (encryption, zip64, other methods) is refused. zlib inflates. */
#include <string.h>
#include <zlib.h>

#include "api/doors/judge0/judge0.h"
#include "base/auto.h"
#include "base/text.h"
#include "run/json.h"
#include "spec/bundle.h"

enum {
    END_BYTES = 22,     /* of the end record, without its comment */
    CENTRAL_BYTES = 46, /* of an entry of the directory, without its name */
    LOCAL_BYTES = 30,   /* of the head of a file, without its name */
    COMMENT_MAX = 65535,
    STORED = 0,
    DEFLATED = 8,
    ENCRYPTED = 1, /* flag */
    MADE_BY_UNIX = 3,
    MODE_TYPE = 0170000,
    MODE_DIRECTORY = 0040000,
    MODE_FILE = 0100000,
};

struct zip {
    const unsigned char *bytes;
    size_t n;
    size_t total; /* bytes of all files so far */
};

struct zip_file {
    char name[BUNDLE_NAME_MAX + 1];
    unsigned flags, method, mode;
    uint32_t crc, packed, size, head_at;
};

static unsigned u16(const unsigned char *at)
{
    return at[0] | (unsigned)at[1] << 8;
}

static uint32_t u32(const unsigned char *at)
{
    return u16(at) | (uint32_t)u16(at + 2) << 16;
}

static int broken(struct err *e)
{
    return err_set(e, ERR_BAD_REQUEST, 0, "is not a zip archive that can be read");
}

/* The end record is at the end, before a comment of unknown length. */
static const unsigned char *find_end(const struct zip *z)
{
    if (z->n < END_BYTES)
        return NULL;
    for (size_t back = 0; back <= COMMENT_MAX && back <= z->n - END_BYTES; back++) {
        const unsigned char *at = z->bytes + z->n - END_BYTES - back;
        if (memcmp(at, "PK\5\6", 4) == 0 && u16(at + 20) == back)
            return at;
    }
    return NULL;
}

/* Reads the entry of the directory at *at, and moves on. */
static int read_central(const struct zip *z, size_t *at, struct zip_file *f, struct err *e)
{
    const unsigned char *p = z->bytes + *at;
    if (*at > z->n || z->n - *at < CENTRAL_BYTES || memcmp(p, "PK\1\2", 4) != 0)
        return broken(e);
    size_t name = u16(p + 28), rest = (size_t)u16(p + 30) + u16(p + 32);
    if (z->n - *at - CENTRAL_BYTES < name + rest || name > BUNDLE_NAME_MAX)
        return broken(e);
    memcpy(f->name, p + CENTRAL_BYTES, name);
    f->name[name] = '\0';
    f->flags = u16(p + 8);
    f->method = u16(p + 10);
    f->mode = p[5] == MADE_BY_UNIX ? u32(p + 38) >> 16 : MODE_FILE;
    f->crc = u32(p + 16);
    f->packed = u32(p + 20);
    f->size = u32(p + 24);
    f->head_at = u32(p + 42);
    *at += CENTRAL_BYTES + name + rest;
    if (strlen(f->name) != name || !text_is_utf8(f->name, name))
        return err_set(e, ERR_BAD_REQUEST, 0, "has a file whose name is not UTF-8");
    return 0;
}

static int check_file(const struct zip_file *f, struct err *e)
{
    struct err why;
    unsigned type = f->mode & MODE_TYPE;
    if (bundle_name_check(f->name, strlen(f->name), &why))
        return err_set(e, ERR_BAD_REQUEST, 0, "has the file '%s', which cannot be unpacked: %s",
                       QUOTED(f->name), why.text);
    if (type != 0 && type != MODE_FILE)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "has '%s', which is not a plain file: links are not unpacked",
                       QUOTED(f->name));
    if ((f->flags & ENCRYPTED) || (f->method != STORED && f->method != DEFLATED))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "has '%s' in a form that is not read here: stored and deflated files are",
                       QUOTED(f->name));
    return 0;
}

static int inflate_into(const unsigned char *from, const struct zip_file *f, struct buf *b,
                        struct err *e)
{
    z_stream s = { .next_in = (unsigned char *)from,
                   .avail_in = f->packed,
                   .next_out = (unsigned char *)b->data,
                   .avail_out = f->size };
    if (inflateInit2(&s, -MAX_WBITS) != Z_OK) /* no head around the data */
        return err_no_memory(e, "the archive");
    int status = inflate(&s, Z_FINISH);
    b->len = s.total_out;
    (void)inflateEnd(&s);
    return status == Z_STREAM_END && b->len == f->size ? 0 : broken(e);
}

static int read_file(struct zip *z, const struct zip_file *f, struct buf *b, struct err *e)
{
    const unsigned char *head = z->bytes + f->head_at;
    z->total += f->size;
    if (f->size > UNZIP_BYTES_MAX || z->total > UNZIP_BYTES_MAX)
        return err_set(e, ERR_TOO_LARGE, 0, "has more than %d bytes when unpacked: send less",
                       UNZIP_BYTES_MAX);
    if (f->head_at > z->n || z->n - f->head_at < LOCAL_BYTES || memcmp(head, "PK\3\4", 4) != 0)
        return broken(e);
    size_t skip = LOCAL_BYTES + (size_t)u16(head + 26) + u16(head + 28);
    if (z->n - f->head_at < skip || z->n - f->head_at - skip < f->packed)
        return broken(e);
    if (buf_reserve(b, (size_t)f->size + 1, e))
        return -1;
    if (f->method == DEFLATED && inflate_into(head + skip, f, b, e))
        return -1;
    if (f->method == STORED && (f->packed != f->size || buf_add(b, head + skip, f->size, e)))
        return broken(e);
    b->data[b->len] = '\0';
    return crc32(0, (const unsigned char *)buf_str(b), (unsigned)b->len) == f->crc ? 0 : broken(e);
}

static int add_file(struct zip *z, const struct zip_file *f, json_t *files, struct err *e)
{
    scoped(buf) bytes = { 0 };
    scoped(buf) text = { 0 };
    size_t n = strlen(f->name);
    if ((n > 0 && f->name[n - 1] == '/') || (f->mode & MODE_TYPE) == MODE_DIRECTORY)
        return 0;
    if (json_array_size(files) >= UNZIP_FILES_MAX)
        return err_set(e, ERR_TOO_LARGE, 0, "has more than %d files: send fewer", UNZIP_FILES_MAX);
    if (check_file(f, e) || read_file(z, f, &bytes, e) ||
        text_add_base64(&text, buf_str(&bytes), bytes.len, e))
        return -1;
    json_t *o = json_pack("{s:s, s:s, s:s}", "name", f->name, "content", buf_str(&text), "encoding",
                          "base64");
    if (f->mode & 0111)
        json_put(o, "executable", json_true());
    return json_array_append_new(files, o) ? err_no_memory(e, "the files") : 0;
}

int judge0_unzip(const char *bytes, size_t n, json_t *files, struct err *e)
{
    struct zip z = { .bytes = (const unsigned char *)bytes, .n = n };
    const unsigned char *end = find_end(&z);
    if (!end)
        return broken(e);
    size_t at = u32(end + 16);
    for (unsigned left = u16(end + 10); left > 0; left--) {
        struct zip_file f;
        if (read_central(&z, &at, &f, e) || add_file(&z, &f, files, e))
            return -1;
    }
    return 0;
}
