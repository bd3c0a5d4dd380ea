#include "cli/commands/service_db.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void service_db_done(struct service_db *h)
{
    if (h->db)
        db_close(h->db);
    h->db = NULL;
}

static int become(uid_t uid, gid_t gid, struct err *e)
{
    if (geteuid() != 0 || uid == 0)
        return 0;
    if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
        return err_set(e, ERR_KERNEL, errno, "become uid %u, the owner of the history", uid);
    return 0;
}

int service_db_become_owner(const char *state, struct err *e)
{
    char path[STATE_PATH_MAX], data[STATE_PATH_MAX + 8];
    struct stat st;
    if (state_choose(state, path, sizeof path, e))
        return -1;
    (void)snprintf(data, sizeof data, "%s/data", path);
    if (stat(data, &st) < 0)
        return err_set(e, ERR_KERNEL, errno, "look at '%s'", data);
    return become(st.st_uid, st.st_gid, e);
}

int service_db_open(struct service_db *ret, const char *state, enum db_mode mode, struct err *e)
{
    struct service_db h = { 0 };
    char path[STATE_PATH_MAX];
    struct stat st;
    if (state_choose(state, path, sizeof path, e))
        return -1;
    (void)snprintf(h.data_dir, sizeof h.data_dir, "%s/data", path);
    /* Only the owner of the directory counts: it can put links to the files of any user there. */
    if (lstat(h.data_dir, &st) < 0 || !S_ISDIR(st.st_mode))
        return err_set(e, ERR_NOT_FOUND, errno == ENOENT ? 0 : errno,
                       "there is no history at '%s': 'belljar serve' makes it, and --state "
                       "names another directory",
                       h.data_dir);
    if (become(st.st_uid, st.st_gid, e) || db_open(&h.db, h.data_dir, mode, e))
        return -1;
    *ret = h;
    return 0;
}

const char *service_db_time(int64_t ms, char *out, size_t size)
{
    time_t s = (time_t)(ms / 1000);
    struct tm utc;
    if (!gmtime_r(&s, &utc) || strftime(out, size, "%Y-%m-%d %H:%M:%S", &utc) == 0)
        (void)snprintf(out, size, "%lld", (long long)ms);
    return out;
}
