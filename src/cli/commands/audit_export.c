#include "cli/commands/audit_export.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "base/text.h"
#include "run/json.h"

/* ---- the file ---- */

/* Waits with the rights of the caller. A file without an export in it is removed, also if the
 * command was killed. */
static void remove_unless_kept(int wait_fd, const char *path)
{
    char kept;
    ssize_t n;
    do
        n = read(wait_fd, &kept, 1);
    while (n < 0 && errno == EINTR);
    if (n != 1)
        (void)unlink(path);
    _exit(n == 1 ? 0 : 1);
}

int export_file_make(struct export_file *f, const char *path, struct err *e)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_set(e, ERR_KERNEL, errno, "make a pipe");
    autoclose int wait_fd = ends[0];
    f->keep_fd = ends[1];
    f->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (f->fd < 0)
        return err_set(e, ERR_BAD_REQUEST, errno, "make '%s': name a file that does not exist",
                       QUOTED(path));
    pid_t pid = fork();
    if (pid == 0) {
        fd_close(&f->keep_fd);
        remove_unless_kept(wait_fd, path);
    }
    if (pid < 0) {
        (void)unlink(path);
        return err_set(e, ERR_KERNEL, errno, "start a process that removes '%s'", QUOTED(path));
    }
    f->remover = pid;
    return 0;
}

int export_file_keep(struct export_file *f, struct err *e)
{
    if (fsync(f->fd) < 0 && errno != EINVAL && errno != EROFS)
        return err_set(e, ERR_KERNEL, errno, "write the export");
    if (write(f->keep_fd, "k", 1) != 1)
        return err_set(e, ERR_KERNEL, errno, "keep the export");
    return 0;
}

void export_file_done(struct export_file *f)
{
    fd_close(&f->fd);
    fd_close(&f->keep_fd);
    while (f->remover > 0 && waitpid(f->remover, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* ---- writing ---- */

struct export
{
    struct buf out;
    int64_t next, last;
    struct err err;
};

static void export_done(struct export *x)
{
    buf_done(&x->out);
}

static int put_line(struct export *x, json_t *line)
{
    autofree char *text = json_dumps(line, JSON_COMPACT);
    json_decref(line);
    if (!text)
        return err_no_memory(&x->err, "the export");
    return buf_addf(&x->out, &x->err, "%s\n", text);
}

/* The service may remove records after the log was checked. */
static int expect(struct export *x, int64_t seq)
{
    if (seq == x->next++)
        return 0;
    return err_set(&x->err, ERR_UNAVAILABLE, 0,
                   "record %" PRId64 " was removed in this moment: export again", x->next - 1);
}

static int put_record(void *context, const struct audit_record *r)
{
    struct export *x = context;
    return expect(x, r->seq) ||
           put_line(x, json_pack("{s:I, s:I, s:s, s:s, s:s, s:s, s:s}", "seq", (json_int_t)r->seq,
                                 "time_ms", (json_int_t)r->time_ms, "kind", r->kind, "subject",
                                 r->subject, "actor", r->actor, "detail", r->detail, "hash",
                                 r->hash)) ||
           r->seq >= x->last;
}

static int put_before(void *context, const struct audit_record *r)
{
    struct export *x = context;
    return expect(x, r->seq) ||
           put_line(x, json_pack("{s:i, s:s}", "belljar_audit", 1, "before", r->hash)) || 1;
}

static int put_seal(struct export *x, const struct audit_seal *s)
{
    char line[AUDIT_SEAL_LINE];
    audit_seal_format(s, line);
    return put_line(x, json_pack("{s:s}", "seals", line));
}

static int put_seals(struct export *x, const struct audit_seals *seals, int64_t to, struct err *e)
{
    char line[AUDIT_SEAL_LINE];
    size_t n = 0;
    while (n < seals->n && seals->at[n].seq < to)
        n++;
    if (n == seals->n)
        return err_set(e, ERR_NOT_FOUND, 0, "record %" PRId64 " is not sealed yet", to);
    x->last = seals->at[n].seq;
    uint64_t epoch = seals->at[n].epoch;
    /* The seals before the first block have no line that proves them. Of the blocks, the last one
     * is enough. */
    size_t blocks = 0, at = 0;
    while (blocks < seals->n_blocks && seals->blocks[blocks].epoch <= epoch)
        blocks++;
    int failed = put_line(x, json_pack("{s:s+}", "seals", "key ", seals->first));
    for (; at <= n && !failed && (!blocks || seals->at[at].epoch < seals->blocks[0].epoch); at++)
        failed = put_seal(x, &seals->at[at]);
    for (size_t i = 0; i < blocks && !failed; i++) {
        audit_block_format(&seals->blocks[i], line);
        failed = put_line(x, json_pack("{s:s}", "seals", line));
    }
    for (; at <= n && !failed; at++)
        if (seals->at[at].epoch >= seals->blocks[blocks - 1].epoch)
            failed = put_seal(x, &seals->at[at]);
    return failed;
}

int audit_export(struct db *db, const struct audit_seals *seals, const struct audit_check *log,
                 int64_t from, int64_t to, int fd, struct err *e)
{
    scoped(export) x = { .next = from - 1 };
    struct audit_record removed = { .seq = log->removal.to, .hash = log->before };
    int64_t first = log->removal.to + 1;
    if (from > first && audit_each(db, from - 2, 1, put_before, &x, e))
        return -1;
    if (from == first)
        (void)put_before(&x, &removed);
    if (x.err.code == ERR_NONE && put_seals(&x, seals, to, e)) {
        if (x.err.code == ERR_NONE)
            return -1;
    } else if (x.err.code == ERR_NONE && audit_each(db, from - 1, UINT32_MAX, put_record, &x, e)) {
        return -1;
    }
    if (x.err.code != ERR_NONE) {
        *e = x.err;
        return -1;
    }
    if (fd_write_all(fd, buf_str(&x.out), x.out.len))
        return err_set(e, ERR_KERNEL, errno, "write the export");
    return 0;
}

/* ---- checking ---- */

enum { EXPORT_MAX_BYTES = 1 << 30 };

struct reading {
    uint8_t hash[DIGEST_BYTES];
    bool has_before;
    struct buf seals;
    int64_t first, last;
};

static void reading_done(struct reading *r)
{
    buf_done(&r->seals);
}

/* False if the line does not follow. */
static bool take_record(struct reading *r, const json_t *o)
{
    struct audit_record a = { .seq = json_integer_value(json_object_get(o, "seq")),
                              .time_ms = json_integer_value(json_object_get(o, "time_ms")),
                              .kind = json_get_text(o, "kind"),
                              .subject = json_get_text(o, "subject"),
                              .actor = json_get_text(o, "actor"),
                              .detail = json_get_text(o, "detail") };
    char hex[AUDIT_HASH_HEX];
    if (r->last && a.seq != r->last + 1)
        return false;
    audit_next_hash(&a, r->hash);
    r->first = r->first ? r->first : a.seq;
    r->last = a.seq;
    return strcmp(sodium_bin2hex(hex, sizeof hex, r->hash, sizeof r->hash),
                  json_get_text(o, "hash")) == 0;
}

static bool take_line(struct reading *r, const char *line, size_t n)
{
    struct err e;
    size_t got;
    json_auto_t *o = json_loadb(line, n, 0, NULL);
    const char *seal = json_string_value(json_object_get(o, "seals"));
    const char *before = json_string_value(json_object_get(o, "before"));
    if (seal)
        return !r->first && buf_addf(&r->seals, &e, "%s\n", seal) == 0;
    if (!before)
        return o && r->has_before && take_record(r, o);
    r->has_before = !r->has_before &&
                    sodium_hex2bin(r->hash, sizeof r->hash, before, strlen(before), NULL, &got,
                                   NULL) == 0 &&
                    got == sizeof r->hash;
    return r->has_before;
}

static int judge(const struct reading *r, const char *key, char *ret_text, size_t size)
{
    scoped(audit_seals) seals = { 0 };
    struct err e;
    if (audit_seals_parse(&seals, &r->seals, &e))
        return snprintf(ret_text, size, "%s", e.text), 1;
    if (key && strcasecmp(key, seals.first) != 0)
        return snprintf(ret_text, size, "the seals begin with key %s, not with %s", seals.first,
                        key),
               1;
    const struct audit_seal *last = seals.n ? &seals.at[seals.n - 1] : NULL;
    if (!last || last->seq != r->last || memcmp(last->head, r->hash, sizeof r->hash) != 0)
        return snprintf(ret_text, size, "record %" PRId64 " is not the one that was sealed",
                        r->last),
               1;
    (void)snprintf(ret_text, size,
                   "records %" PRId64 " to %" PRId64 " are as they were sealed, key %s", r->first,
                   r->last, seals.first);
    return 0;
}

int audit_export_check(int fd, const char *key, char *ret_text, size_t size, struct err *e)
{
    scoped(buf) text = { 0 };
    scoped(reading) r = { 0 };
    if (fd_read_to_buf(fd, EXPORT_MAX_BYTES, &text, e))
        return -1;
    size_t line = 1;
    for (const char *at = buf_str(&text), *end = at + text.len; at < end; line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t n = newline ? (size_t)(newline - at) : (size_t)(end - at);
        if (!take_line(&r, at, n))
            return snprintf(ret_text, size, "line %zu does not follow from the lines before it",
                            line),
                   1;
        at += n + 1;
    }
    return judge(&r, key, ret_text, size);
}
