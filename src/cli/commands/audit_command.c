/* `belljar audit`: verifies and prints the audit log of the service. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/commands/audit_export.h"
#include "cli/commands/service_db.h"
#include "store/audit_log.h"

enum { SHOW_DEFAULT = 50, SHOW_MAX = 1000000, BROKEN_STATUS = 1 };

struct audit_options {
    const char *state, *head, *key, *file;
    unsigned number, from, to;
};

static int set_head(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    struct audit_options *o = options;
    *(strcmp(row->name, "key") == 0 ? &o->key : &o->head) = value;
    if (strlen(value) == AUDIT_HASH_HEX - 1 &&
        strspn(value, "0123456789abcdefABCDEF") == AUDIT_HASH_HEX - 1)
        return 0;
    return err_set(e, ERR_BAD_REQUEST, 0, "--%s '%s' is not accepted: it has %d hex digits",
                   row->name, QUOTED(value), AUDIT_HASH_HEX - 1);
}

static int set_number(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    return args_count(row, value, SHOW_MAX, &((struct audit_options *)options)->number, e);
}

static int set_from(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    return args_count(row, value, UINT_MAX, &((struct audit_options *)options)->from, e);
}

static int set_to(void *options, const struct arg_row *row, const char *value, struct err *e)
{
    return args_count(row, value, UINT_MAX, &((struct audit_options *)options)->to, e);
}

static const struct arg_row rows[] = {
    { "file", "FILE", .offset = offsetof(struct audit_options, file), .values.kind = VALUES_FILE,
      .help = "verify: an export in place of the log of a service" },
    { "from", "N", .apply = set_from, .default_text = "1", .help = "export: the first record" },
    { "head", "HASH", .apply = set_head,
      .help = "verify: a record must have this hash, which was noted elsewhere earlier" },
    { "key", "KEY", .apply = set_head,
      .help = "verify: the seals must begin with this key, which was noted elsewhere" },
    { "to", "N", .apply = set_to,
      .help = "export: the last record; the last sealed one if absent" },
    { "number", "N", .letter = 'n', .apply = set_number, .default_text = "50",
      .help = "show: the last N records" },
    { "state", "DIR", .offset = offsetof(struct audit_options, state),
      .values.kind = VALUES_DIRECTORY, .help = "state directory of the service" },
};

struct hash_search {
    const char *hash;
    int64_t seq; /* 0: no record has the hash */
};

static int compare_hash(void *context, const struct audit_record *r)
{
    struct hash_search *s = context;
    if (strcasecmp(r->hash, s->hash) != 0)
        return 0;
    s->seq = r->seq;
    return 1;
}

/* 1, and a sentence: the seals are not genuine. */
static int read_seals(const struct audit_options *o, struct audit_seals *ret, bool *ret_found,
                      struct err *e)
{
    char path[STATE_PATH_MAX];
    if (state_choose(o->state, path, sizeof path, e))
        return -1;
    autoclose int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return err_set(e, ERR_NOT_FOUND, errno, "open the state directory '%s'", QUOTED(path));
    if (audit_seals_read(ret, dir, e)) {
        *ret_found = false;
        if (e->code != ERR_NOT_FOUND && e->code != ERR_CONFLICT)
            return -1;
        if (e->code == ERR_NOT_FOUND && !o->key)
            return 0; /* the check of the log says whether there must be some */
        (void)printf("%s\n", e->text);
        return 1;
    }
    if (!o->key || strcasecmp(o->key, ret->first) == 0)
        return 0;
    (void)printf("the seals begin with key %s, not with key %s: they are not those of this log\n",
                 ret->first, o->key);
    return 1;
}

/* The records of an export. */
static int choose_range(const struct audit_options *o, const struct audit_seals *seals,
                        const struct audit_check *c, int64_t *ret_from, int64_t *ret_to,
                        struct err *e)
{
    int64_t first = c->removal.to + 1, sealed = seals->n ? seals->at[seals->n - 1].seq : 0;
    int64_t from = o->from ? o->from : first, to = o->to ? o->to : sealed;
    if (from < first)
        return err_set(e, ERR_NOT_FOUND, 0,
                       "record %" PRId64 " was removed: the log begins with record %" PRId64, from,
                       first);
    if (from > sealed || to > sealed)
        return err_set(e, ERR_NOT_FOUND, 0,
                       "record %" PRId64 " is not sealed yet: records %" PRId64 " to %" PRId64
                       " can be exported",
                       from > sealed ? from : to, first, sealed);
    if (from > to)
        return err_set(e, ERR_BAD_REQUEST, 0, "--from %" PRId64 " is behind --to %" PRId64, from,
                       to);
    *ret_from = from;
    *ret_to = to;
    return 0;
}

/* The seals are read first: a service that runs may seal records that come after this reading. It
 * may then remove records, too; so a log that does not hold is read anew. Returns as read_seals(). */
static int check_log(const struct audit_options *o, struct service_db *h, struct audit_seals *seals,
                     bool *ret_found, struct audit_check *c, struct err *e)
{
    enum { READINGS = 3 };
    for (int i = 0; i < READINGS && (i == 0 || c->broken_seq != 0); i++) {
        *ret_found = true;
        audit_seals_done(seals);
        int forged = read_seals(o, seals, ret_found, e);
        if (forged)
            return forged;
        if ((!h->db && service_db_open(h, o->state, DB_READ, e)) ||
            audit_verify(h->db, *ret_found ? seals : NULL, c, e))
            return -1;
    }
    return 0;
}

static int verify_file(const struct audit_options *o, struct err *e)
{
    char said[400];
    autoclose int fd = open(o->file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, ERR_BAD_REQUEST, errno, "open '%s'", QUOTED(o->file));
    int status = audit_export_check(fd, o->key, said, sizeof said, e);
    if (status < 0)
        return -1;
    (void)printf("%s\n", said);
    return status ? BROKEN_STATUS : 0;
}

static int export(void *options, int argc, char **argv, struct err *e)
{
    const struct audit_options *o = options;
    scoped(service_db) h = { 0 };
    scoped(audit_seals) seals = { 0 };
    scoped(export_file) file = EXPORT_FILE_INIT;
    struct audit_check c = { 0 };
    bool has_seals = true;
    (void)argc;
    /* before service_db_open(), which gives up the rights of root */
    if (export_file_make(&file, argv[0], e))
        return -1;
    int forged = check_log(o, &h, &seals, &has_seals, &c, e);
    if (forged)
        return forged < 0 ? -1 : BROKEN_STATUS;
    if (c.broken_seq != 0)
        return err_set(e, ERR_CONFLICT, 0, "the log does not hold: see 'belljar audit verify'");
    int64_t from = 0, to = 0;
    if (choose_range(o, &seals, &c, &from, &to, e))
        return -1;
    return audit_export(h.db, &seals, &c, from, to, file.fd, e) || export_file_keep(&file, e) ? -1
                                                                                              : 0;
}
static void print_removal(const struct audit_removal *m)
{
    char time[32];
    if (m->to == 0)
        return;
    (void)printf("records 1 to %" PRId64 " were removed, the last of them at %s: record %" PRId64
                 " says that ",
                 m->to, service_db_time(m->time_ms, time, sizeof time), m->seq);
    if (m->max_age_ms)
        (void)printf("they were older than audit.max_age=%" PRId64 "ms\n", m->max_age_ms);
    else
        (void)printf("the log exceeded audit.max_bytes=%" PRId64 "\n", m->max_bytes);
}

static void print_seals(const struct audit_seals *seals, const struct audit_check *c, bool exist)
{
    (void)printf("%zu seals hold, %" PRId64 " records after the last seal, key %s\n", seals->n,
                 c->unsealed, exist ? seals->first : "none");
    if (seals->dropped > 0)
        (void)printf("%" PRIu64 " seals of records 1 to %" PRId64
                     " were dropped with these records\n",
                     seals->dropped, seals->dropped_seq);
}

/* Exit status, or -1. A hash that was once the head stays in the chain until its record is
 * removed. */
static int verify(void *options, int argc, char **argv, struct err *e)
{
    const struct audit_options *o = options;
    (void)argc;
    (void)argv;
    scoped(service_db) h = { 0 };
    scoped(audit_seals) seals = { 0 };
    struct audit_check c = { 0 };
    struct hash_search noted = { .hash = o->head };
    bool has_seals = true;
    if (o->file)
        return verify_file(o, e);
    int forged = check_log(o, &h, &seals, &has_seals, &c, e);
    if (forged > 0)
        return BROKEN_STATUS;
    if (forged < 0 || (o->head && audit_each(h.db, 0, UINT_MAX, compare_hash, &noted, e)))
        return -1;
    if (c.broken_seq != 0) {
        (void)printf("record %" PRId64 " %s: %s\n", c.broken_seq,
                     c.is_row ? "does not match the history" : "breaks the chain", c.problem);
        return BROKEN_STATUS;
    }
    if (o->head && noted.seq == 0) {
        (void)printf("%" PRId64 " records, and the chain holds, but no record has the hash %s: "
                     "the end of the log is missing, or this is another log\n",
                     c.records, o->head);
        print_removal(&c.removal); /* or it is among these */
        return BROKEN_STATUS;
    }
    (void)printf("%" PRId64 " records, chain holds, %" PRId64 " rows match, head %s\n", c.records,
                 c.rows, c.head);
    print_seals(&seals, &c, has_seals);
    print_removal(&c.removal);
    return 0;
}

static int print_record(void *context, const struct audit_record *r)
{
    char time[32];
    (void)context;
    (void)printf("%6" PRId64 "  %s  %-18s %-20s %-31s %s\n", r->seq,
                 service_db_time(r->time_ms, time, sizeof time), r->kind, r->actor, r->subject,
                 r->detail);
    return 0;
}

static int show(void *options, int argc, char **argv, struct err *e)
{
    const struct audit_options *o = options;
    (void)argc;
    (void)argv;
    scoped(service_db) h = { 0 };
    struct audit_head head;
    unsigned n = o->number ? o->number : SHOW_DEFAULT;
    if (service_db_open(&h, o->state, DB_READ, e) || audit_head(h.db, &head, e))
        return -1;
    int64_t after = head.seq > n ? head.seq - n : 0; /* records are numbered from 1 on */
    return audit_each(h.db, after, n, print_record, NULL, e);
}

static const struct verb verbs[] = {
    { "verify", "",
      "checks that no record of the log was changed, removed or inserted, that every row is as its "
      "newest record says, and that every sealed record is there. With --key, a user with all "
      "rights cannot have replaced the seals",
      .run = verify },
    { "export", "[--from N] [--to N] FILE",
      "writes records up to a sealed one into a file, which 'verify --file' checks on any machine",
      1, 1, .run = export },
    { "show", "", "prints the last records", .run = show },
};

const struct cli_command audit_command = {
    .name = "audit",
    .summary = "verify and show the audit log of the service",
    .usage = (const char *const[]){ "verify [--key KEY] [--head HASH] [--state DIR]",
                                    "verify --file FILE [--key KEY]",
                                    "export [--from N] [--to N] [--state DIR] FILE",
                                    "show [-n N] [--state DIR]", NULL },
    .description = "The service writes every run, key, approval and rule into an audit log. Each "
                   "record contains the hash of the record before it, so a changed record breaks "
                   "the chain. The service seals the end of the log with keys that it forgets, so "
                   "the log cannot be rewritten or cut off later.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .verbs = verbs,
    .n_verbs = ARRAY_LEN(verbs),
    .statuses =
        (const char *const[]){ "0", "the chain holds", "1",
                               "the first record, row or seal that is named is not as it was",
                               NULL },
    .options_size = sizeof(struct audit_options),
};
