#include "api/runs/mount_request.h"

#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/strv.h"
#include "base/text.h"
#include "run/json.h"
#include "spec/mount.h"

const struct api_field mount_fields[] = {
    { "from", FIELD_STRING, .required = true, .min = 1, .max = 4000,
      .help = "a directory of the machine, beneath a root of the setting mounts.roots",
      .also = "source,src,host,path" },
    { "to", FIELD_STRING, .min = 1, .max = 80,
      .help = "its name in /mnt; the last part of from, if absent", .also = "target,dst,name" },
    { "secrets", FIELD_BOOL,
      .help = "show files that look like secrets, too; needs the setting mounts.secrets" },
    { 0 },
};

static int find_root(char *const *roots, const char *from, unsigned *ret, struct err *e)
{
    if (mount_find_root(roots, from, ret))
        return 0;
    return roots ? err_set(e, ERR_DENIED, 0,
                           "from '%s' is outside the directories that may be mounted: the setting "
                           "mounts.roots lists them",
                           QUOTED(from))
                 : err_set(
                       e, ERR_DENIED, 0,
                       "from '%s' is not mounted, because no directory may be: the operator lists "
                       "directories in the setting mounts.roots",
                       QUOTED(from));
}

static const char *name_of(const json_t *value, const char *from)
{
    static const char place[] = MOUNT_PLACE "/";
    const char *to = json_string_value(json_object_get(value, "to"));
    if (!to)
        return strrchr(from, '/') + 1;
    return strncmp(to, place, sizeof place - 1) == 0 ? to + sizeof place - 1 : to;
}

static int take_mount(const struct settings *settings, char *const *roots, const json_t *value,
                      char ***list, const char **ret_part, struct err *e)
{
    struct mount_view m = { .from = json_string_value(json_object_get(value, "from")),
                            .secrets = json_is_true(json_object_get(value, "secrets")) };
    *ret_part = "from";
    if (mount_path_check(m.from, e) || find_root(roots, m.from, &m.root, e))
        return -1;
    *ret_part = "secrets";
    if (m.secrets && !settings->mount_secrets)
        return err_set(e, ERR_DENIED, 0,
                       "files that look like secrets are not shown here: the operator allows them "
                       "with the setting mounts.secrets");
    *ret_part = "to";
    m.name = name_of(value, m.from);
    return mount_name_check(m.name, e) || mount_add(list, &m, e) ||
                   mounts_check(*list, MOUNT_ROOTS_MAX, e)
               ? -1
               : 0;
}

int mounts_from_json(const struct settings *settings, const json_t *value, char ***ret,
                     char *ret_field, size_t field_size, struct err *e)
{
    char **roots = NULL, **list = NULL;
    const char *part = "from";
    int rc = 0;
    *ret = NULL;
    if (json_array_size(value) == 0)
        return 0;
    (void)snprintf(ret_field, field_size, "mounts");
    if (settings_mount_roots(settings, &roots, e))
        return -1;
    for (size_t i = 0; rc == 0 && i < json_array_size(value); i++) {
        rc = take_mount(settings, roots, json_array_get(value, i), &list, &part, e);
        if (rc)
            (void)snprintf(ret_field, field_size, "mounts[%zu].%s", i, part);
    }
    strv_free(roots);
    if (rc)
        strv_free(list);
    else
        *ret = list;
    return rc;
}

json_t *mounts_to_json(char *const *mounts)
{
    json_t *list = json_array();
    for (size_t i = 0; i < mount_count(mounts); i++) {
        struct mount_view m;
        struct err e;
        if (mount_at(mounts, i, &m, &e) == 0)
            (void)json_array_append_new(list, json_pack("{s:s, s:s, s:b}", "from", m.from, "to",
                                                        m.name, "secrets", m.secrets));
    }
    return list;
}
