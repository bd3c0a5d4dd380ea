/* `belljar backup`: a copy of the state of a service, also while it runs. The copy is a state
 * directory itself, so that `history` and `audit` read it. */
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
#include "base/fdio.h"
#include "base/text.h"
#include "base/tree.h"
#include "cli/cli.h"
#include "cli/commands/owner_child.h"
#include "cli/commands/service_db.h"
#include "service/state_copy.h"
#include "store/audit_log.h"
#include "store/audit_sealer.h"
#include "store/backup.h"

struct backup_options {
    const char *state;
};

static const struct arg_row rows[] = {
    { "state", "DIR", .offset = offsetof(struct backup_options, state),
      .values.kind = VALUES_DIRECTORY, .help = "state directory of the service" },
};

/* The descriptors are opened with the rights of the caller. */
struct backup {
    const char *state; /* its path */
    char partial[STATE_PATH_MAX + 16];
    int state_fd, to_fd, seals_fd, data_fd;
    bool seals_exist, log_holds;
    uint64_t missing; /* files that rows name */
    struct copied sum;
};

static void backup_done(struct backup *b)
{
    int *const fds[] = { &b->state_fd, &b->to_fd, &b->seals_fd, &b->data_fd };
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fd_close(fds[i]);
}

/* ---- as the owner of the data ---- */

static int make_folders(const struct backup *b, struct err *e)
{
    static const char *const names[] = { "output", "images" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (tree_remove(b->data_fd, names[i], e))
            return -1;
        else if (mkdirat(b->data_fd, names[i], 0700) < 0)
            return err_set(e, ERR_KERNEL, errno, "make a directory in '%s'", QUOTED(b->partial));
    return 0;
}

static int copy_seals(struct backup *b, struct err *e)
{
    autoclose int fd = openat(b->state_fd, AUDIT_SEALS_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    b->seals_exist = fd >= 0;
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 || ftruncate(b->seals_fd, 0) < 0 || lseek(b->seals_fd, 0, SEEK_SET) < 0 ||
        fd_copy(fd, b->seals_fd) || fsync(b->seals_fd) < 0)
        return err_set(e, ERR_KERNEL, errno, "copy STATE/" AUDIT_SEALS_FILE);
    return 0;
}

static int copy_row_file(void *context, const char *dir, const char *name, bool optional,
                         struct err *e)
{
    struct backup *b = context;
    char path[64];
    (void)snprintf(path, sizeof path, "data/%s", dir);
    autoclose int from = openat(b->state_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    autoclose int to = openat(b->data_fd, dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (to < 0)
        return err_set(e, ERR_KERNEL, errno, "open '%s/data/%s'", QUOTED(b->partial), dir);
    if (copy_file(from, name, to, &b->sum, e) == 0)
        return 0;
    if (from >= 0 && e->code != ERR_NOT_FOUND)
        return -1;
    b->missing += !optional;
    return 0;
}

/* One state of the database, with its files. *ret_whole is false if a file went, or records were
 * removed, between the steps. */
static int copy_once(struct backup *b, struct db *db, bool *ret_whole, struct err *e)
{
    scoped(audit_seals) seals = { 0 };
    struct audit_check c = { 0 };
    b->missing = 0;
    b->sum = (struct copied){ 0 };
    if (make_folders(b, e) || copy_seals(b, e))
        return -1;
    (void)unlinkat(b->data_fd, "belljar.db", 0);
    autoclose int fd = openat(b->data_fd, "belljar.db",
                              O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "make '%s/data/belljar.db'", QUOTED(b->partial));
    if (db_begin(db, e))
        return -1;
    struct err bad = { 0 };
    bool genuine = !b->seals_exist || audit_seals_read(&seals, b->to_fd, &bad) == 0;
    int rc = db_copy(db, fd, e) || db_each_file(db, copy_row_file, b, e) ||
                     audit_verify(db, b->seals_exist && genuine ? &seals : NULL, &c, e)
                 ? -1
                 : 0;
    db_rollback(db);
    b->log_holds = genuine && c.broken_seq == 0;
    *ret_whole = b->missing == 0 && b->log_holds;
    return rc;
}

static int copy_rest(struct backup *b, struct err *e)
{
    autoclose int data = openat(b->state_fd, "data", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (copy_file(data, "e2b.key", b->data_fd, &b->sum, e) && e->code != ERR_NOT_FOUND)
        return -1;
    autoclose int work = openat(b->state_fd, "execute",
                                O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (work < 0)
        return 0; /* a setting names another directory, or nobody used /execute */
    return copy_tree(b->state_fd, "execute", b->data_fd, &b->sum, e);
}

/* Exit status: the copy is complete, and the state itself is damaged. */
enum { NOT_WHOLE = 1 };

static void report(const struct backup *b)
{
    (void)printf("%" PRIu64 " files, %" PRIu64 " bytes beside the database\n", b->sum.files,
                 b->sum.bytes);
    (void)fflush(stdout);
    if (b->missing)
        (void)fprintf(stderr,
                      "belljar: %" PRIu64 " files that the database names are not in the state\n",
                      b->missing);
    if (!b->log_holds)
        (void)fprintf(stderr, "belljar: the audit log does not hold, here and in the backup: see "
                              "'belljar audit verify'\n");
}

static int fill(void *context, struct err *e)
{
    enum { TRIES = 5 };
    struct backup *b = context;
    scoped(service_db) h = { 0 };
    bool whole = false;
    if (service_db_open(&h, b->state, DB_READ, e))
        return -1;
    for (int i = 0; i < TRIES && !whole; i++)
        if (copy_once(b, h.db, &whole, e))
            return -1;
    if (copy_rest(b, e))
        return -1;
    report(b);
    return whole ? 0 : NOT_WHOLE;
}

/* ---- as the caller ---- */

static int copy_key(const struct backup *b, struct err *e)
{
    autoclose int fd = openat(b->to_fd, "audit.key",
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(e, ERR_KERNEL, errno, "write to '%s'", QUOTED(b->partial));
    if (audit_key_copy(b->state_fd, fd, e) == 0)
        return 0;
    if (e->code != ERR_NOT_FOUND)
        return -1;
    return unlinkat(b->to_fd, "audit.key", 0);
}

/* As a state directory: passable for the keeper, and everything in it is closed. */
static int prepare(struct backup *b, struct err *e)
{
    struct stat st;
    b->state_fd = open(b->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (b->state_fd < 0 || fstatat(b->state_fd, "data", &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        !S_ISDIR(st.st_mode))
        return err_set(e, ERR_NOT_FOUND, 0,
                       "there is no state of a service at '%s': --state names another directory",
                       QUOTED(b->state));
    if (mkdir(b->partial, 0711) < 0)
        return err_set(e, ERR_KERNEL, errno, "make '%s'", QUOTED(b->partial));
    b->to_fd = open(b->partial, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (b->to_fd < 0 || fchmod(b->to_fd, 0711) < 0 || mkdirat(b->to_fd, "data", 0700) < 0)
        return err_set(e, ERR_KERNEL, errno, "write to '%s'", QUOTED(b->partial));
    b->data_fd = openat(b->to_fd, "data", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    b->seals_fd = openat(b->to_fd, AUDIT_SEALS_FILE,
                         O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (b->data_fd < 0 || b->seals_fd < 0 || fchmod(b->seals_fd, 0644) < 0 ||
        (st.st_uid != geteuid() && fchown(b->data_fd, st.st_uid, st.st_gid) < 0))
        return err_set(e, ERR_KERNEL, errno, "write to '%s'", QUOTED(b->partial));
    return copy_key(b, e);
}

/* The owner of the data put the files of /execute beside the database. An empty file of seals would
 * look like a damaged one. */
static int finish(const struct backup *b, const char *to, struct err *e)
{
    struct stat st;
    if (renameat(b->data_fd, "execute", b->to_fd, "execute") < 0 && errno != ENOENT)
        return err_set(e, ERR_KERNEL, errno, "write to '%s'", QUOTED(b->partial));
    if (fstat(b->seals_fd, &st) == 0 && st.st_size == 0)
        (void)unlinkat(b->to_fd, AUDIT_SEALS_FILE, 0);
    if (fsync(b->data_fd) < 0 || fsync(b->to_fd) < 0 ||
        renameat2(AT_FDCWD, b->partial, AT_FDCWD, to, RENAME_NOREPLACE) < 0)
        return err_set(e, ERR_KERNEL, errno, "complete '%s'", QUOTED(to));
    return 0;
}

static int backup(void *options, int argc, char **argv, struct err *e)
{
    const struct backup_options *o = options;
    char state[STATE_PATH_MAX];
    struct stat st;
    if (argc == 0)
        return err_set(e, ERR_USAGE, 0, "name a new directory: 'belljar backup DIR'");
    scoped(backup)
        b = { .state = state, .state_fd = -1, .to_fd = -1, .seals_fd = -1, .data_fd = -1 };
    if (state_choose(o->state, state, sizeof state, e))
        return -1;
    size_t n = strlen(argv[0]);
    while (n > 1 && argv[0][n - 1] == '/')
        argv[0][--n] = '\0';
    if (n == 0 || n >= STATE_PATH_MAX)
        return err_set(e, ERR_BAD_REQUEST, 0, "DIR: expected a path of 1 to %d bytes",
                       STATE_PATH_MAX - 1);
    if (lstat(argv[0], &st) == 0)
        return err_set(e, ERR_CONFLICT, 0, "'%s' exists: name a new directory", QUOTED(argv[0]));
    (void)snprintf(b.partial, sizeof b.partial, "%s.partial", argv[0]);
    if (lstat(b.partial, &st) == 0)
        return err_set(e, ERR_CONFLICT, 0,
                       "'%s' exists: another backup writes to it, or was killed; then remove it",
                       QUOTED(b.partial));
    struct err ignored = { 0 };
    int status = prepare(&b, e) ? -1 : owner_child(fill, &b, e);
    if ((status == 0 || status == NOT_WHOLE) && finish(&b, argv[0], e) == 0)
        return status;
    if (b.to_fd >= 0)
        (void)!tree_remove(AT_FDCWD, b.partial, &ignored);
    return status ? status : -1;
}

const struct cli_command backup_command = {
    .name = "backup",
    .summary = "copy the state of the service, also while it runs",
    .usage = (const char *const[]){ "[--state DIR] DIR", NULL },
    .description =
        "Copies the history, outputs, artifacts, approvals, keys, the audit log with its seals, "
        "images of sessions and the files of /execute to a new directory. The service goes on "
        "meanwhile. 'belljar audit verify --state DIR' checks the copy, and 'belljar restore DIR' "
        "puts it in place.\n\n"
        "Settings, and the key that encrypts images, are files of the operator, and are not in it. "
        "Programs that run are not in it, either: sessions that sleep are.\n\n"
        "The directory is as secret as the state: it has the hashes of keys, the programs of "
        "clients, and the key of the next seal.",
    .rows = rows,
    .n_rows = ARRAY_LEN(rows),
    .max_operands = 1,
    .values.kind = VALUES_DIRECTORY,
    .examples = (const char *const[]){ "Copy the state of the machine's service:",
                                       "belljar backup /var/backups/belljar-monday", NULL },
    .options_size = sizeof(struct backup_options),
    .run = backup,
};
