#include "spec/mount.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strv.h"
#include "base/text.h"
#include "spec/bundle.h"

int mount_add(char ***list, const struct mount_view *m, struct err *e)
{
    char head[16];
    (void)snprintf(head, sizeof head, "%u%s", m->root, m->secrets ? "s" : "");
    return strv_add(list, head, e) || strv_add(list, m->from, e) || strv_add(list, m->name, e) ? -1
                                                                                               : 0;
}

size_t mount_count(char *const *list)
{
    return list ? strv_len(list) / MOUNT_STRINGS : 0;
}

int mount_at(char *const *list, size_t i, struct mount_view *ret, struct err *e)
{
    char *const *at = list + i * MOUNT_STRINGS;
    char *end;
    unsigned long root = strtoul(at[0], &end, 10);
    if (at[0][0] < '0' || at[0][0] > '9' || root >= MOUNT_ROOTS_MAX ||
        (*end && strcmp(end, "s") != 0))
        return err_set(e, ERR_PROTOCOL, 0, "a mount has no root");
    *ret = (struct mount_view){
        .root = (unsigned)root, .secrets = *end == 's', .from = at[1], .name = at[2]
    };
    return 0;
}

int mount_name_check(const char *name, struct err *e)
{
    size_t n = strlen(name);
    if (n == 0 || n > MOUNT_NAME_MAX || strchr(name, '/') || name[0] == '.')
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "mount name '%s' is not accepted: a name of up to %d bytes without a slash, "
                       "and without a dot in front, is the directory in " MOUNT_PLACE,
                       QUOTED(name), MOUNT_NAME_MAX);
    return 0;
}

int mount_path_check(const char *path, struct err *e)
{
    struct err ignored;
    if (strcmp(path, "/") == 0)
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'/' is not mounted as a whole: name a directory below it");
    if (path[0] != '/' || bundle_name_check(path + 1, strlen(path + 1), &ignored))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "'%s' is not accepted: an absolute path without '.', '..' and a slash at "
                       "its end, such as /srv/project",
                       QUOTED(path));
    return 0;
}

const char *mount_beneath(const char *root, const char *path)
{
    size_t n = strlen(root);
    if (strncmp(root, path, n) != 0 || (path[n] && path[n] != '/'))
        return NULL;
    return path[n] ? path + n + 1 : path + n;
}

bool mount_find_root(char *const *roots, const char *path, unsigned *ret)
{
    size_t best = 0;
    for (unsigned i = 0; roots && roots[i]; i++) {
        size_t n = strlen(roots[i]);
        if (!mount_beneath(roots[i], path) || n <= best)
            continue;
        best = n;
        *ret = i;
    }
    return best > 0;
}

int mounts_check(char *const *list, size_t n_roots, struct err *e)
{
    size_t n = mount_count(list);
    if (!list)
        return 0;
    if (strv_len(list) % MOUNT_STRINGS || n > MOUNTS_MAX)
        return err_set(e, ERR_PROTOCOL, 0, "the list of mounts is malformed");
    for (size_t i = 0; i < n; i++) {
        struct mount_view m, other;
        if (mount_at(list, i, &m, e) || mount_name_check(m.name, e) || mount_path_check(m.from, e))
            return -1;
        if (m.root >= n_roots)
            return err_set(e, ERR_BAD_REQUEST, 0, "'%s' is beneath no root of mounts",
                           QUOTED(m.from));
        for (size_t k = 0; k < i; k++)
            if (mount_at(list, k, &other, e) || strcmp(other.name, m.name) == 0)
                return err_set(e, ERR_BAD_REQUEST, 0,
                               "mount name '%s' is given twice: choose another", QUOTED(m.name));
    }
    return 0;
}
