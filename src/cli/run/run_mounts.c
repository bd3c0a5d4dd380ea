#include "cli/run/run_mounts.h"

#include <fcntl.h>
#include <string.h>

#include "base/auto.h"
#include "base/directory.h"
#include "base/strv.h"
#include "base/text.h"
#include "spec/mount.h"

int run_mount_read(const struct arg_row *row, const char *value, char ***dirs, char ***names,
                   struct err *e)
{
    char path[4096];
    autoclose int fd = -1;
    const char *colon = strrchr(value, ':');
    autofree char *dir = strndup(value, colon ? (size_t)(colon - value) : strlen(value));
    if (!dir)
        return err_no_memory(e, "the options");
    if (*dirs && strv_len(*dirs) >= MOUNTS_MAX)
        return err_set(e, ERR_BAD_REQUEST, 0, "--%s '%s' is one too many: up to %d are accepted",
                       row->name, QUOTED(value), MOUNTS_MAX);
    if (directory_open(AT_FDCWD, dir, 0, dir, &fd, e) || directory_path(fd, path, sizeof path, e))
        return err_wrap(e, "--%s", row->name);
    const char *name = colon ? colon + 1 : strrchr(path, '/') + 1;
    return mount_name_check(name, e) || strv_add(dirs, path, e) || strv_add(names, name, e) ? -1
                                                                                            : 0;
}

int run_mounts_add(void *arguments, const struct arg_row *row, const char *value, struct err *e)
{
    struct run_arguments *o = arguments;
    return run_mount_read(row, value, &o->mount_roots, &o->mount_names, e);
}

int run_mounts_check(struct run_arguments *o, struct err *e)
{
    if (o->mount_secrets && !o->mount_roots)
        return err_set(e, ERR_USAGE, 0,
                       "--mount-secrets is given without --mount: name a directory");
    strv_free(o->mounts); /* two programs share their options */
    o->mounts = NULL;
    for (unsigned i = 0; o->mount_roots && o->mount_roots[i]; i++) {
        const struct mount_view m = { .root = i,
                                      .secrets = o->mount_secrets,
                                      .from = o->mount_roots[i],
                                      .name = o->mount_names[i] };
        if (mount_add(&o->mounts, &m, e))
            return -1;
    }
    return mounts_check(o->mounts, MOUNTS_MAX, e) ? err_wrap(e, "--mount") : 0;
}
