/* GET /v1/sessions/{id}/image and POST /v1/sessions?from=image: a session as a file.
 *
 *   0   16 bytes   MAGIC
 *   16  u32        version, least significant byte first
 *   20  u32        length of the JSON
 *   24             JSON: {"session": a body of POST /v1/sessions, "cells", "bytes", "digest",
 *                  "compression": "zstd" or absent}
 *   ..             the image, opaque; bytes and digest are those of the uncompressed one
 *
 * An imported file is a stranger's. Its JSON is read as a request is, with all bounds of this
 * service; its image reaches only the jar of the new session. */
#include "api/sessions/image_routes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/kernel/json_in.h"
#include "api/kernel/storage.h"
#include "api/sessions/session_find.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "run/json.h"

#define MAGIC       "BELLJAR SESSION\n"
#define COMPRESSION "zstd"
enum {
    MAGIC_BYTES = sizeof MAGIC - 1,
    FRONT_BYTES = MAGIC_BYTES + 8,
    FILE_VERSION = 1,
    JSON_BYTES_MAX = 1 << 20,
    PIECE = 256 << 10,
    QUEUED_MOST = 1 << 20,
};

static void put_u32(char *to, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        to[i] = (char)(v >> (8 * i));
}

static uint32_t get_u32(const char *from)
{
    uint32_t v = 0;
    for (int i = 0; i < 4; i++)
        v |= (uint32_t)(unsigned char)from[i] << (8 * i);
    return v;
}

/* ---- GET image ---- */

struct export_call {
    struct session_export export;
    struct api_call *call;
    struct buf front;
    bool compress;
    struct fold_reader *reader;
    char *piece;
    ssize_t n; /* bytes in it; fewer than PIECE: the last ones */
    uv_work_t work;
    bool reading, over;
};

static json_t *limits_json(const struct limits *l, bool of_cells)
{
    json_t *o = json_object();
    for (int i = 0; i < LIMIT_COUNT; i++) {
        bool is_cell = i == LIMIT_WALL_MS || i == LIMIT_CPU_MS || i == LIMIT_OUTPUT;
        if (is_cell == of_cells)
            json_put(o, limit_defs[i].key, json_integer((json_int_t)l->v[i]));
    }
    return o;
}

static json_t *env_json(char *const *env)
{
    json_t *o = json_object();
    for (; env && *env; env++) {
        const char *equals = strchr(*env, '=');
        char name[256];
        if (!equals || (size_t)(equals - *env) >= sizeof name)
            continue;
        (void)snprintf(name, sizeof name, "%.*s", (int)(equals - *env), *env);
        json_put(o, name, json_string(equals + 1));
    }
    return o;
}

/* The request that would make such a session. */
static json_t *session_json(const struct session *s)
{
    json_t *o = json_pack("{s:s, s:f, s:f, s:s, s:o, s:o, s:o}", "language", s->spec.language->name,
                          "ttl_s", (double)s->spec.limits.v[LIMIT_WALL_MS] / 1000, "idle_s",
                          (double)s->spec.idle_ms / 1000, "idle",
                          session_idle_words[s->spec.idle_sleeps], "limits",
                          limits_json(&s->spec.limits, false), "cell_limits",
                          limits_json(&s->spec.cell_limits, true), "env", env_json(s->spec.env));
    if (s->spec.undo > 0)
        json_put(o, "undo", json_integer((json_int_t)s->spec.undo));
    if (s->spec.name)
        json_put(o, "name", json_string(s->spec.name));
    if (s->spec.metadata)
        (void)json_object_set(o, "metadata", s->spec.metadata);
    return o;
}

static int make_front(struct export_call *l, const struct session *s, struct err *e)
{
    char front[FRONT_BYTES], digest[2 * DIGEST_BYTES + 1];
    (void)sodium_bin2hex(digest, sizeof digest, l->export.digest, sizeof l->export.digest);
    autofree char *text = json_line(json_pack("{s:o, s:i, s:I, s:s, s:s*}", "session",
                                              session_json(s), "cells", (int)s->cells, "bytes",
                                              (json_int_t)l->export.bytes, "digest", digest,
                                              "compression", l->compress ? COMPRESSION : NULL));
    if (!text)
        return err_no_memory(e, "an export");
    if (strlen(text) > JSON_BYTES_MAX)
        return err_set(e, ERR_TOO_LARGE, 0,
                       "the metadata and environment of the session have more than %d bytes: make "
                       "its metadata smaller",
                       JSON_BYTES_MAX);
    memcpy(front, MAGIC, MAGIC_BYTES);
    put_u32(front + MAGIC_BYTES, FILE_VERSION);
    put_u32(front + MAGIC_BYTES + 4, (uint32_t)strlen(text));
    return buf_add(&l->front, front, sizeof front, e) || buf_add(&l->front, text, strlen(text), e)
               ? -1
               : 0;
}

static void export_free(struct export_call *l)
{
    fold_reader_free(l->reader);
    fd_close(&l->export.fd);
    buf_done(&l->front);
    free(l->piece);
    free(l);
}

static void end_export(struct export_call *l)
{
    struct api_call *c = l->call;
    export_free(l);
    api_stream_end(c);
}

static void read_work(uv_work_t *work)
{
    struct export_call *l = work->data;
    struct err e = { 0 };
    l->n = fold_reader_next(l->reader, l->piece, PIECE, &e);
}

static void on_read(uv_work_t *work, int status);

/* A thread reads and compresses: the loop only passes pieces on. */
static void read_more(struct export_call *l)
{
    if (l->reading)
        return;
    if (l->over || !l->call->http) {
        end_export(l);
        return;
    }
    if (api_stream_queued(l->call) >= QUEUED_MOST)
        return; /* on_drain() follows */
    l->reading = true;
    l->work.data = l;
    if (uv_queue_work(l->call->api->loop, &l->work, read_work, on_read) != 0) {
        l->reading = false;
        end_export(l);
    }
}

/* If the bytes cannot be read, the answer ends early and the digest tells. */
static void on_read(uv_work_t *work, int status)
{
    struct export_call *l = work->data;
    bool failed = status < 0 || l->n < 0;
    l->over = failed || l->n < PIECE;
    if (!failed && l->call->http)
        api_stream_write(l->call, l->piece, (size_t)l->n);
    l->reading = false;
    read_more(l);
}

static void on_drain(struct api_call *c)
{
    read_more(c->user);
}

static void on_gone(struct api_call *c)
{
    read_more(c->user);
}

static int open_reader(struct export_call *l, struct err *e)
{
    l->piece = malloc(PIECE);
    return l->piece ? fold_reader_new(&l->reader, l->export.fd, 0, l->export.bytes, l->compress, e)
                    : err_no_memory(e, "an export");
}

static void on_exported(struct session_export *x, struct session *s, const struct err *e)
{
    struct export_call *l = (struct export_call *)x;
    struct api_call *c = l->call;
    struct err failed = { 0 };
    if (e || make_front(l, s, &failed) || open_reader(l, &failed)) {
        api_fail(c, e ? e : &failed, NULL);
        export_free(l);
        return;
    }
    c->user = l;
    c->on_drain = on_drain;
    c->on_gone = on_gone;
    l->reading = true; /* until the head is sent */
    api_stream_begin(c, "application/octet-stream");
    if (c->http)
        api_stream_write(c, l->front.data, l->front.len);
    l->reading = false;
    read_more(l);
}

static void get_image(struct api_call *c)
{
    struct err e = { 0 };
    char text[8];
    const char *compress;
    if (api_query(c, "compress", text, sizeof text, &compress, &e)) {
        api_fail(c, &e, "compress");
        return;
    }
    struct session *s = session_to_change(c);
    if (!s || ((s->state != SESSION_SLEEPING || s->sleep) && !(s = session_to_use(c))))
        return;
    struct export_call *l = calloc(1, sizeof *l);
    if (!l) {
        api_fail_no_memory(c);
        return;
    }
    *l = (struct export_call){
        .export = { .on_done = on_exported, .actor = c->who.name, .fd = -1 },
        .call = c,
        .compress = compress && (strcmp(compress, "true") == 0 || strcmp(compress, "1") == 0),
    };
    if (session_export(s, &l->export, &e)) {
        export_free(l);
        api_fail(c, &e, NULL);
    }
}

/* ---- POST /v1/sessions?from=image ---- */

static void upload_over(void *room)
{
    images_give_room(room);
}

int session_file_receive(const struct api *api, const struct api_identity *who,
                         struct http_request *q, size_t *body_max, struct err *e)
{
    char text[32];
    const char *from, *type = http_request_header(q, "Content-Type");
    const char *length = http_request_header(q, "Content-Length");
    struct image_room *room;
    if (http_query_get(q, "from", text, sizeof text, &from, e))
        return -1;
    if (!from)
        return 0;
    if (strcmp(from, "image") != 0)
        return err_set(e, ERR_BAD_REQUEST, 0, "from '%s' is not known: 'image' is accepted",
                       QUOTED(from));
    if (!type || strcasecmp(type, "application/octet-stream") != 0)
        return err_set(e, ERR_MEDIA_TYPE, 0,
                       "an exported session is 'Content-Type: application/octet-stream'");
    if (!q->has_body || !length)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "send an exported session as the body, with Content-Length");
    size_t bytes = strtoull(length, NULL, 10); /* http has checked its digits */
    if (sessions_receive(api->sessions, who->key, bytes, &room, &q->body_fd, e))
        return -1;
    q->body_in_file = true;
    q->body_over = upload_over;
    q->body_context = room;
    *body_max = bytes;
    return 1;
}

static int read_json(int fd, size_t n, json_t **ret, struct err *e)
{
    autofree char *text = malloc(n + 1);
    if (!text)
        return err_no_memory(e, "an import");
    if (pread(fd, text, n, FRONT_BYTES) != (ssize_t)n)
        return err_set(e, ERR_BAD_REQUEST, 0, "the exported session is cut short");
    text[n] = '\0';
    if (json_in_object(text, n, ret, e))
        return err_wrap(e, "the head of the exported session");
    return 0;
}

static int read_front(int fd, uint64_t bytes, json_t **ret, uint64_t *ret_from, struct err *e)
{
    char front[FRONT_BYTES];
    if (bytes < sizeof front || pread(fd, front, sizeof front, 0) != sizeof front ||
        memcmp(front, MAGIC, MAGIC_BYTES) != 0)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the body is no exported session: GET /v1/sessions/{id}/image makes one");
    uint32_t version = get_u32(front + MAGIC_BYTES), n = get_u32(front + MAGIC_BYTES + 4);
    if (version != FILE_VERSION)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the exported session has version %u, and this service reads %d", version,
                       FILE_VERSION);
    if (n > JSON_BYTES_MAX || n >= bytes - sizeof front)
        return err_set(e, ERR_BAD_REQUEST, 0, "the exported session is cut short");
    *ret_from = sizeof front + n;
    return read_json(fd, n, ret, e);
}

/* The size that is announced bounds the unfolding, and counts for the quotas before it. */
static int check_compression(const json_t *o, uint64_t stored, struct session_import *i,
                             struct err *e)
{
    const json_t *compression = json_object_get(o, "compression");
    json_int_t bytes = json_integer_value(json_object_get(o, "bytes"));
    if (compression &&
        (!json_is_string(compression) || strcmp(json_string_value(compression), COMPRESSION) != 0))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the compression of the exported session is not known: '" COMPRESSION
                       "' is accepted");
    if (bytes <= 0 || (!compression && (uint64_t)bytes != stored))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "the exported session is cut short: its image has %llu bytes in place of "
                       "%lld",
                       (unsigned long long)stored, (long long)bytes);
    i->compressed = compression != NULL;
    i->bytes = (uint64_t)bytes;
    return 0;
}

static int check_front(const json_t *o, uint64_t stored, struct session_import *i, struct err *e)
{
    const char *digest = json_string_value(json_object_get(o, "digest"));
    size_t n;
    if (!digest ||
        sodium_hex2bin(i->digest, sizeof i->digest, digest, strlen(digest), NULL, &n, NULL) != 0 ||
        n != sizeof i->digest)
        return err_set(e, ERR_BAD_REQUEST, 0, "the exported session has no digest");
    return check_compression(o, stored, i, e);
}

struct import_call {
    struct session_import import;
    struct session_watch watch;
    struct api_call *call;
};

static void on_session(struct session_watch *watch, struct session *s, enum session_event event)
{
    struct import_call *l = (struct import_call *)((char *)watch -
                                                   offsetof(struct import_call, watch));
    struct err e = { 0 };
    if (s->state == SESSION_STARTING || (s->state == SESSION_ENDED && event != SESSION_EVENT_ENDED))
        return;
    if (s->state == SESSION_ENDED) {
        (void)!err_set(&e, ERR_CONFLICT, 0, "the session did not start: %s", s->reason);
        api_fail(l->call, &e, NULL);
    } else {
        api_reply(l->call, 201, session_object(s));
    }
    session_watch_remove(s, watch);
    free(l);
}

static void on_imported(struct session_import *i, const struct err *e)
{
    struct import_call *l = (struct import_call *)i;
    if (!e)
        return; /* on_session() follows */
    api_fail(l->call, e, NULL);
    free(l);
}

/* Takes over the file. */
static int import(struct api_call *c, struct import_call *l, int file, char *field, size_t size,
                  struct err *e)
{
    autoclose int fd = file;
    struct stat st;
    uint64_t from = 0;
    json_auto_t *o = NULL;
    if (fstat(fd, &st) < 0)
        return err_set(e, ERR_KERNEL, errno, "look at an exported session");
    if (read_front(fd, (uint64_t)st.st_size, &o, &from, e) ||
        check_front(o, (uint64_t)st.st_size - from, &l->import, e))
        return -1;
    json_t *session = json_object_get(o, "session");
    if (!json_is_object(session))
        return err_set(e, ERR_BAD_REQUEST, 0, "the exported session has no 'session'");
    if (api_validate(session, c->route->body, false, field, size, e))
        return -1;
    api_drop_nulls(session, c->route->body);
    if (session_spec_of_import(c, session, &l->import.spec, field, size, e))
        return -1;
    if (!l->import.spec.language->forks) {
        (void)!err_set(e, ERR_BAD_REQUEST, 0, "sessions of '%s' have no images",
                       l->import.spec.language->name);
        session_spec_done(&l->import.spec);
        return -1;
    }
    return session_import(c->api->sessions, &l->import, fd_take(&fd), from,
                          (uint64_t)st.st_size - from, e);
}

void session_file_import(struct api_call *c)
{
    struct http_request *q = &c->http->request;
    struct err e = { 0 };
    char field[128] = "";
    struct import_call *l = calloc(1, sizeof *l);
    if (!l) {
        api_fail_no_memory(c);
        return;
    }
    *l = (struct import_call){ .import = { .on_done = on_imported, .watch = &l->watch },
                               .watch.on_event = on_session,
                               .call = c };
    int file = q->body_fd;
    q->body_in_file = false;       /* the file is ours */
    q->body_over(q->body_context); /* images_save() counts it from here on */
    q->body_over = NULL;
    if (storage_check(c->api, &e)) {
        fd_close(&file);
    } else if (import(c, l, file, field, sizeof field, &e) == 0) {
        return;
    }
    free(l);
    api_fail(c, &e, field[0] ? field : NULL);
}

static const struct api_field image_query[] = {
    { "compress", FIELD_BOOL, .help = "true: the image in the file is compressed" },
    { 0 },
};

const struct api_route session_image_routes[] = {
    { METHOD_GET, "/v1/sessions/{id}/image", SCOPE_RUN, .query = image_query, .handle = get_image,
      .summary = "A session as a file, for POST /v1/sessions?from=image",
      .replies = REPLIES({ 200, .content_type = "application/octet-stream" }) },
    { 0 },
};
