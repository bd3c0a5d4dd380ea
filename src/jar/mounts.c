#include "jar/mounts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/directory.h"
#include "base/strv.h"
#include "base/text.h"
#include "jar/mount_ops.h"

#define SEALED (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

enum { DEPTH_MAX = 48, ENTRIES_MAX = 200000, SECRETS_MAX = 2000, PATH_SIZE = 4096 };

/* ---- the roots ---- */

void mounts_open_roots(struct mounts_roots *r, char *const *paths)
{
    struct err left_out;
    for (size_t i = 0; paths && paths[i] && i < MOUNT_ROOTS_MAX; i++)
        if (directory_open(AT_FDCWD, paths[i], 0, paths[i], &r->fds[i], &left_out))
            r->fds[i] = 0;
}

void mounts_roots_done(struct mounts_roots *r)
{
    for (size_t i = 0; i < MOUNT_ROOTS_MAX; i++)
        if (r->fds[i] > 0)
            fd_close(&r->fds[i]);
}

int mounts_attach_roots(const struct mounts_roots *r, struct err *e)
{
    if (mkdir("roots", 0755) < 0 || mkdir("masks", 0755) < 0)
        return err_set(e, ERR_KERNEL, errno, "make directories for mounts");
    for (size_t i = 0; i < MOUNT_ROOTS_MAX; i++) {
        char at[32];
        autoclose int tree = -1;
        if (r->fds[i] <= 0)
            continue;
        (void)snprintf(at, sizeof at, "roots/%zu", i);
        if (mkdir(at, 0755) < 0)
            return err_set(e, ERR_KERNEL, errno, "make a directory for mounts");
        /* with the mounts beneath it, so that they are noticed */
        if (mount_copy_opened(r->fds[i], at, &tree, e) || mount_seal(tree, SEALED, at, e) ||
            mount_attach(tree, AT_FDCWD, at, e))
            return -1;
    }
    return 0;
}

/* ---- secrets ---- */

/* A name without a slash is that of a file or directory anywhere. */
static const char *const secrets[] = {
    ".env",       ".env.*", "*.pem",     "*.key",   "*.p12",   "*.pfx",     "*.jks",
    "*.keystore", "*.kdbx", "*.tfstate", "id_rsa",  "id_dsa",  "id_ecdsa",  "id_ed25519",
    ".netrc",     "_netrc", ".npmrc",    ".pypirc", ".pgpass", ".htpasswd", ".git-credentials",
    ".dockercfg", ".ssh",   ".gnupg",    ".aws",    ".kube",   ".docker",
};
/* Samples of secrets, which projects keep beside their code. */
static const char *const harmless[] = { ".env.example", ".env.sample", ".env.template", "*.pub" };

static bool matches(const char *const *patterns, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (fnmatch(patterns[i], name, FNM_CASEFOLD) == 0)
            return true;
    return false;
}

/* The URL of a remote can have a password; so can those of submodules (.git/modules/NAME/config). */
static bool is_git_config(const char *path, const char *name)
{
    const char *git = strstr(path, ".git/");
    return strcmp(name, "config") == 0 && git && (git == path || git[-1] == '/');
}

bool mounts_is_secret(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return is_git_config(path, name) || (matches(secrets, ARRAY_LEN(secrets), name) &&
                                         !matches(harmless, ARRAY_LEN(harmless), name));
}

struct search {
    int masks_fd;
    const char *from; /* for errors */
    unsigned entries, found;
    size_t len;
    char path[PATH_SIZE]; /* of the current entry */
};

/* A whiteout is a device 0:0, which every user may make. */
static int hide(struct search *s, struct err *e)
{
    char parent[PATH_SIZE];
    for (const char *slash = strchr(s->path, '/'); slash; slash = strchr(slash + 1, '/')) {
        (void)snprintf(parent, sizeof parent, "%.*s", (int)(slash - s->path), s->path);
        if (mkdirat(s->masks_fd, parent, 0755) < 0 && errno != EEXIST)
            return err_set(e, ERR_KERNEL, errno, "hide a file of a mount");
    }
    if (mknodat(s->masks_fd, s->path, S_IFCHR, 0) < 0)
        return err_set(e, ERR_KERNEL, errno, "hide a file of a mount");
    s->found++;
    return 0;
}

static int too_much(const struct search *s, struct err *e)
{
    return err_set(
        e, ERR_TOO_LARGE, 0,
        "'%s' has too many files to look for secrets (%d files, %d secrets, %d levels are "
        "accepted): mount a smaller directory, or ask for the secrets too",
        QUOTED(s->from), ENTRIES_MAX, SECRETS_MAX, DEPTH_MAX);
}

static bool push_name(struct search *s, const char *name)
{
    size_t n = strlen(name);
    if (s->len + n + 2 > PATH_SIZE)
        return false;
    if (s->len > 0)
        s->path[s->len++] = '/';
    memcpy(s->path + s->len, name, n + 1);
    s->len += n;
    return true;
}

/* A directory that may be entered and not listed: its files can be opened by guessed names. */
static int hide_guesses(struct search *s, int dir_fd, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(secrets); i++) {
        struct stat st;
        size_t before = s->len;
        if (strpbrk(secrets[i], "*?[") ||
            fstatat(dir_fd, secrets[i], &st, AT_SYMLINK_NOFOLLOW) < 0 || !push_name(s, secrets[i]))
            continue;
        if (hide(s, e))
            return -1;
        s->len = before;
        s->path[before] = '\0';
    }
    return 0;
}

static int search(struct search *s, int at_fd, const char *name, unsigned depth, struct err *e);

static int look_at(struct search *s, DIR *dir, const struct dirent *entry, unsigned depth,
                   struct err *e)
{
    struct stat st;
    size_t before = s->len;
    const char *name = entry->d_name;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return 0;
    if (++s->entries > ENTRIES_MAX || s->found >= SECRETS_MAX || !push_name(s, name))
        return too_much(s, e);
    bool is_dir = entry->d_type == DT_DIR ||
                  (entry->d_type == DT_UNKNOWN &&
                   fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode));
    int rc = mounts_is_secret(s->path) ? hide(s, e)
             : is_dir                  ? search(s, dirfd(dir), name, depth + 1, e)
                                       : 0;
    s->len = before;
    s->path[before] = '\0';
    return rc;
}

/* A directory that vanishes meanwhile has no secrets. */
static int search(struct search *s, int at_fd, const char *name, unsigned depth, struct err *e)
{
    if (depth > DEPTH_MAX)
        return too_much(s, e);
    int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == EACCES) {
        autoclose int entered = openat(at_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return entered < 0 ? 0 : hide_guesses(s, entered, e);
    }
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == ELOOP
                   ? 0
                   : err_set(e, ERR_KERNEL, errno, "look for secrets in '%s'", QUOTED(s->from));
    autodir DIR *dir = fdopendir(fd);
    if (!dir) {
        fd_close(&fd);
        return err_no_memory(e, "a mount");
    }
    for (struct dirent *entry; (entry = readdir(dir));)
        if (look_at(s, dir, entry, depth, e))
            return -1;
    return 0;
}

/* ---- the mounts of a job ---- */

static int open_source(const struct mounts_request *q, const struct mount_view *m, int *ret_fd,
                       struct err *e)
{
    char at[32];
    const char *path = q->roots ? mount_beneath(q->roots[m->root], m->from) : NULL;
    autoclose int root = -1;
    if (!path)
        return err_set(e, ERR_BAD_REQUEST, 0, "'%s' is beneath no root of mounts", QUOTED(m->from));
    (void)snprintf(at, sizeof at, "/roots/%u", m->root);
    if (directory_open(AT_FDCWD, at, 0, q->roots[m->root], &root, e))
        return err_wrap(e, "the root of a mount");
    return directory_open(root, path[0] ? path : ".", RESOLVE_BENEATH | RESOLVE_NO_XDEV, m->from,
                          ret_fd, e);
}

/* Two layers, the upper one first. By descriptors: a name could have a colon. */
static int overlay(int upper_fd, int lower_fd, const struct mount_view *m, bool noexec, int *ret_fd,
                   struct err *e)
{
    char layers[96];
    (void)snprintf(layers, sizeof layers, "/proc/self/fd/%d:/proc/self/fd/%d", upper_fd, lower_fd);
    /* Attributes of the directory that overlays read mean nothing here. */
    const struct mount_option options[] = { { "lowerdir", layers },
                                            { "redirect_dir", "nofollow" },
                                            { "metacopy", "off" } };
    if (mount_new("overlay", options, ARRAY_LEN(options), SEALED | (noexec ? MOUNT_ATTR_NOEXEC : 0),
                  ret_fd, e) == 0)
        return 0;
    if (e->sys == EINVAL)
        return err_set(
            e, ERR_BAD_REQUEST, 0,
            "another file system is mounted beneath '%s', or its own cannot be shown: name "
            "a directory without one",
            QUOTED(m->from));
    return err_wrap(e, "mount '%s'", QUOTED(m->from));
}

static int show(const struct mounts_request *q, size_t i, int mnt_fd, bool noexec, struct err *e)
{
    char mask[32];
    struct mount_view m;
    autoclose int source = -1, masks = -1, view = -1;
    if (mount_at(q->list, i, &m, e) || open_source(q, &m, &source, e))
        return -1;
    (void)snprintf(mask, sizeof mask, "/masks/%zu", i);
    if (mkdir(mask, 0755) < 0)
        return err_set(e, ERR_KERNEL, errno, "make a layer of a mount");
    if (mount_open_plain(AT_FDCWD, mask, &masks, e))
        return -1;
    struct search s = { .masks_fd = masks, .from = m.from };
    if ((!m.secrets && search(&s, source, ".", 0, e)) ||
        overlay(masks, source, &m, noexec, &view, e))
        return -1;
    if (mkdirat(mnt_fd, m.name, 0755) < 0)
        return err_set(e, ERR_KERNEL, errno, "make " MOUNT_PLACE "/%s", m.name);
    return mount_attach(view, mnt_fd, m.name, e);
}

int mounts_show(const struct mounts_request *q, bool noexec, struct err *e)
{
    static const struct mount_option options[] = { { "size", "4m" }, { "mode", "755" } };
    const unsigned plain = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
    autoclose int masks = -1, mnt = -1;
    size_t n = mount_count(q->list);
    if (n == 0)
        return 0;
    if (mounts_check(q->list, q->roots ? strv_len(q->roots) : 0, e) ||
        mount_new("tmpfs", options, 2, plain, &masks, e) ||
        mount_attach(masks, AT_FDCWD, "/masks", e) ||
        mount_new("tmpfs", options, 2, plain, &mnt, e) ||
        mount_attach(mnt, AT_FDCWD, MOUNT_PLACE + 1, e))
        return -1;
    for (size_t i = 0; i < n; i++)
        if (show(q, i, mnt, noexec, e))
            return -1;
    struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };
    if (mount_setattr(mnt, "", AT_EMPTY_PATH, &attr, sizeof attr) < 0)
        return err_set(e, ERR_KERNEL, errno, "make " MOUNT_PLACE " read-only");
    return 0;
}
