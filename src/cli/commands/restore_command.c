/* `belljar restore`: a backup becomes the state of a service that does not run. It is checked before
 * anything moves, and an earlier state is set aside, never removed. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/tree.h"
#include "cli/cli.h"
#include "cli/commands/owner_child.h"
#include "cli/commands/service_db.h"
#include "service/hand_over.h"
#include "service/state_copy.h"
#include "store/audit_log.h"
#include "store/backup.h"

struct restore_options {
    const char *state;
    bool replace;
};

static const struct arg_row rows[] = {
    { "replace", .offset = offsetof(struct restore_options, replace),
      .help = "set the current state aside, in STATE/replaced-TIME" },
    { "state", "DIR", .offset = offsetof(struct restore_options, state),
      .values.kind = VALUES_DIRECTORY, .help = "state directory of the service" },
};

static const char partial[] = "restore.partial";
/* Directories belong to the keeper, files to the operator. */
static const struct part {
    const char *name;
    bool is_dir;
} parts[] = {
    { "audit.key", false }, { AUDIT_SEALS_FILE, false }, { "execute", true }, { "data", true }
};

struct restore {
    const char *from;
    struct state state;
    int from_fd, new_fd;
    char actor[32], path[STATE_PATH_MAX + 32];
};

static void restore_done(struct restore *r)
{
    state_done(&r->state);
    fd_close(&r->from_fd);
    fd_close(&r->new_fd);
}

/* ---- the copy ---- */

/* The keeper passes through these directories, and through nothing else of root. */
static int copy_parts(struct restore *r, struct err *e)
{
    struct copied sum = { 0 };
    if (tree_remove(r->state.dir_fd, partial, e))
        return -1;
    if (mkdirat(r->state.dir_fd, partial, 0711) < 0)
        return err_set(e, ERR_KERNEL, errno, "make '%s'", QUOTED(r->path));
    r->new_fd = openat(r->state.dir_fd, partial, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (r->new_fd < 0 || fchmod(r->new_fd, 0711) < 0)
        return err_set(e, ERR_KERNEL, errno, "open '%s'", QUOTED(r->path));
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        int rc = parts[i].is_dir ? copy_tree(r->from_fd, parts[i].name, r->new_fd, &sum, e)
                                 : copy_file(r->from_fd, parts[i].name, r->new_fd, &sum, e);
        if (rc && e->code != ERR_NOT_FOUND)
            return err_wrap(e, "copy '%s'", QUOTED(r->from));
    }
    if (fchmodat(r->new_fd, AUDIT_SEALS_FILE, 0644, 0) < 0 && errno != ENOENT)
        return err_set(e, ERR_KERNEL, errno, "open %s to readers", AUDIT_SEALS_FILE);
    return 0;
}

static int give_parts(const struct restore *r, struct err *e)
{
    uid_t owner;
    size_t left;
    if (state_owner(&r->state, &owner, e))
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(parts) && owner != geteuid(); i++) {
        autoclose int fd = parts[i].is_dir ? openat(r->new_fd, parts[i].name,
                                                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                                           : -1;
        if (fd >= 0 && hand_over(fd, geteuid(), owner, &left, e))
            return -1;
    }
    return 0;
}

/* ---- as the owner of the data ---- */

static int check_log(const struct restore *r, struct db *db, struct audit_check *ret, struct err *e)
{
    scoped(audit_seals) seals = { 0 };
    bool sealed = audit_seals_read(&seals, r->new_fd, e) == 0;
    if (!sealed && e->code != ERR_NOT_FOUND)
        return -1;
    /* Early versions made no seals. If somebody removed the seals, the key of the new ones tells it:
     * it is not the one that the operator noted. */
    if (!sealed)
        (void)fprintf(stderr, "belljar: the backup has no seals: its audit log is checked by its "
                              "chain alone, and new seals begin\n");
    if (sealed ? audit_verify(db, &seals, ret, e) : audit_verify_chain(db, ret, e))
        return -1;
    if (ret->broken_seq == 0)
        return 0;
    return err_set(e, ERR_CONFLICT, 0, "the audit log does not hold: %s", ret->problem);
}

/* The audit log goes on, and says that it was restored. DB_WRITE brings a backup of an older version
 * up to date. */
static int check(void *context, struct err *e)
{
    const struct restore *r = context;
    scoped(service_db) h = { 0 };
    struct audit_check c = { 0 };
    struct audit_record record = { .time_ms = clock_unix_ms(),
                                   .kind = "state.restored",
                                   .subject = "",
                                   .actor = r->actor,
                                   .detail = "{}" };
    if (service_db_open(&h, r->path, DB_WRITE, e) || db_check(h.db, e) ||
        check_log(r, h.db, &c, e) || db_begin(h.db, e))
        return err_wrap(e, "nothing was restored from '%s'", QUOTED(r->from));
    if (audit_append(h.db, &record, e) || db_commit(h.db, e)) {
        db_rollback(h.db);
        return -1;
    }
    (void)printf("%" PRId64 " records of the audit log hold, %" PRId64 " rows match\n", c.records,
                 c.rows);
    return 0;
}

/* ---- the move ---- */

static bool has(int dir_fd, const char *name)
{
    struct stat st;
    return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static int set_aside(const struct restore *r, struct err *e)
{
    char name[64];
    int any = 0;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        any |= has(r->state.dir_fd, parts[i].name);
    if (!any)
        return 0;
    (void)snprintf(name, sizeof name, "replaced-%" PRId64, clock_unix_ms());
    autoclose int fd = mkdirat(r->state.dir_fd, name, 0711) < 0
                           ? -1
                           : openat(r->state.dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "make '%s/%s'", r->state.path, name);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (renameat(r->state.dir_fd, parts[i].name, fd, parts[i].name) < 0 && errno != ENOENT)
            return err_set(e, ERR_KERNEL, errno, "move '%s/%s' to %s", r->state.path, parts[i].name,
                           name);
    (void)printf("the earlier state is in %s/%s\n", r->state.path, name);
    return 0;
}

static int move_in(const struct restore *r, struct err *e)
{
    if (set_aside(r, e))
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (renameat(r->new_fd, parts[i].name, r->state.dir_fd, parts[i].name) < 0 &&
            errno != ENOENT)
            return err_set(e, ERR_KERNEL, errno, "move '%s/%s' to its place", QUOTED(r->path),
                           parts[i].name);
    (void)unlinkat(r->state.dir_fd, partial, AT_REMOVEDIR);
    (void)fsync(r->state.dir_fd);
    (void)printf("%s has the state of '%s'; 'belljar serve' goes on with it\n", r->state.path,
                 QUOTED(r->from));
    return 0;
}

/* ---- */

static int open_both(struct restore *r, const struct restore_options *o, struct err *e)
{
    char path[STATE_PATH_MAX];
    r->from_fd = open(r->from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r->from_fd < 0 || !has(r->from_fd, "data/belljar.db"))
        return err_set(e, ERR_NOT_FOUND, 0, "'%s' is no backup: 'belljar backup DIR' makes one",
                       QUOTED(r->from));
    (void)umask(022);
    int rc = state_choose(o->state, path, sizeof path, e) || state_open(&r->state, path, e) ||
                     state_lock(&r->state, e)
                 ? -1
                 : 0;
    (void)umask(077);
    if (rc)
        return -1;
    (void)snprintf(r->path, sizeof r->path, "%s/%s", r->state.path, partial);
    if (has(r->state.dir_fd, "data") && !o->replace)
        return err_set(e, ERR_CONFLICT, 0, "'%s' has a history already: --replace sets it aside",
                       r->state.path);
    return 0;
}

static int restore(void *options, int argc, char **argv, struct err *e)
{
    if (argc == 0)
        return err_set(e, ERR_USAGE, 0, "name a backup: 'belljar restore DIR'");
    scoped(restore) r = { .from = argv[0], .state = STATE_INIT, .from_fd = -1, .new_fd = -1 };
    (void)snprintf(r.actor, sizeof r.actor, "unix:%u", getuid());
    if (open_both(&r, options, e))
        return -1;
    int status = copy_parts(&r, e) || give_parts(&r, e) ? -1 : owner_child(check, &r, e);
    if (status == 0)
        return move_in(&r, e);
    struct err ignored = { 0 };
    (void)!tree_remove(r.state.dir_fd, partial, &ignored);
    return status;
}

const struct cli_command restore_command = {
    .name = "restore",
    .summary = "put a backup of the service in place",
    .usage = (const char *const[]){ "[--replace] [--state DIR] DIR", NULL },
    .description = "Makes a directory of 'belljar backup' the state of a service that does not "
                   "run. The database, the audit log and its seals are checked first; if one does "
                   "not hold, nothing changes. A backup of an older version is brought up to date. "
                   "Runs that were going on are marked as interrupted.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .max_operands = 1,
    .values.kind = VALUES_DIRECTORY,
    .examples = (const char *const[]){ "Put a backup in the place of the current state:",
                                       "belljar restore --replace /var/backups/belljar-monday",
                                       NULL },
    .options_size = sizeof(struct restore_options),
    .run = restore,
};
