/* `belljar audit`: whether the log of decisions is whole, and what is in it. */
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/commands/history_db.h"
#include "store/audit_log.h"

enum { SHOW_DEFAULT = 50, SHOW_MAX = 1000000, BROKEN_STATUS = 1 };

static const struct arg_row rows[] = {
    { "head", "HASH", 'H', "verify: a record must have this hash, noted earlier elsewhere" },
    { "number", "N", 'n', "show: the last N records (50)" },
    { "state", "DIR", 's', "the service's state directory" },
    { "help", NULL, ARG_HELP, "show this" },
};

static const struct arg_table table = {
    "audit",
    "Usage: belljar audit verify|show [OPTION]...\n\n"
    "'verify' checks that no record of the audit log was changed, removed or inserted: 0 when the\n"
    "chain holds, 1 when it does not. A tail that was cut off shows with --head alone.\n"
    "'show' prints the last records.\n",
    rows,
    ARRAY_LEN(rows),
};

struct audit_options {
    const char *state, *head;
    unsigned number;
    bool help;
};

static int apply(void *context, int key, char *value, struct err *e)
{
    struct audit_options *o = context;
    switch (key) {
    case 'H':
        o->head = value;
        if (strlen(value) != AUDIT_HASH_HEX - 1 ||
            strspn(value, "0123456789abcdefABCDEF") != AUDIT_HASH_HEX - 1)
            return err_set(e, ERR_BAD_REQUEST, 0, "--head '%s' is no hash: %d hex digits are",
                           QUOTED(value), AUDIT_HASH_HEX - 1);
        return 0;
    case 'n':
        return args_count("-n", value, SHOW_MAX, &o->number, e);
    case 's':
        o->state = value;
        return 0;
    default:
        o->help = true;
        return 0;
    }
}

struct sought {
    const char *hash;
    int64_t seq; /* 0: no record has it */
};

static int compare_hash(void *context, const struct audit_record *r)
{
    struct sought *s = context;
    if (strcasecmp(r->hash, s->hash) != 0)
        return 0;
    s->seq = r->seq;
    return 1;
}

/* A head noted earlier is in the chain for ever, however much was added since. Exit status, or -1. */
static int verify(const struct audit_options *o, struct err *e)
{
    scoped(history_db) h = { 0 };
    struct audit_check c = { 0 };
    struct sought noted = { .hash = o->head };
    if (history_db_open(&h, o->state, DB_READ, e) || audit_verify(h.db, &c, e) ||
        (o->head && audit_each(h.db, 0, UINT_MAX, compare_hash, &noted, e)))
        return -1;
    if (c.broken_seq != 0) {
        (void)printf("record %" PRId64 " breaks the chain: %s\n", c.broken_seq, c.problem);
        return BROKEN_STATUS;
    }
    if (o->head && noted.seq == 0) {
        (void)printf("%" PRId64 " records, and the chain holds, but none has the hash %s: the end "
                     "was cut off, or this is another log\n",
                     c.records, o->head);
        return BROKEN_STATUS;
    }
    (void)printf("%" PRId64 " records, chain holds, head %s\n", c.records, c.head);
    return 0;
}

static int print_record(void *context, const struct audit_record *r)
{
    char time[32];
    (void)context;
    (void)printf("%6" PRId64 "  %s  %-18s %-20s %-31s %s\n", r->seq,
                 history_db_time(r->time_ms, time, sizeof time), r->kind, r->actor, r->subject,
                 r->detail);
    return 0;
}

static int show(const struct audit_options *o, struct err *e)
{
    scoped(history_db) h = { 0 };
    struct audit_check c = { 0 };
    unsigned n = o->number ? o->number : SHOW_DEFAULT;
    if (history_db_open(&h, o->state, DB_READ, e) || audit_verify(h.db, &c, e))
        return -1;
    int64_t after = c.records > n ? c.records - n : 0; /* records are numbered from 1 on */
    return audit_each(h.db, after, n, print_record, NULL, e);
}

int cmd_audit(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(const struct audit_options *o, struct err *e);
    } verbs[] = { { "verify", verify }, { "show", show } };
    struct audit_options o = { 0 };
    struct err e = { 0 };
    int first;
    if (args_parse(&table, argc, argv, apply, &o, &first, &e))
        return cli_fail(&e);
    if (o.help) {
        args_help(&table);
        return 0;
    }
    const char *verb = first < argc ? argv[first] : "";
    int rc = err_set(&e, ERR_USAGE, 0, "audit '%s': verify and show are accepted", QUOTED(verb));
    if (first + 1 < argc)
        rc = args_refuse_operand(&table, argv[first + 1], &e);
    else
        for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
            if (strcmp(verbs[i].name, verb) == 0)
                rc = verbs[i].run(&o, &e);
    return rc < 0 ? cli_fail(&e) : rc;
}
