/* api/runs/mount_request.h — the field "mounts" of a request. Runs in: keeper. Pure functions: the
 * keeper cannot look at the directories. The init of the jar opens them (jar/mounts.h).
 *
 * MOUNT_REQUEST-1 A mount is beneath a root of the setting mounts.roots, by its name. */
#pragma once

#include "api/kernel/api.h"
#include "spec/mount.h"

extern const struct api_field mount_fields[];
#define MOUNTS_FIELD                                                             \
    {                                                                            \
        "mounts", FIELD_OBJECTS,                                                 \
            .fields = mount_fields, .max = MOUNTS_MAX,                           \
            .help = "directories of the machine that the program reads in /mnt", \
            .also = "mount,volumes,binds"                                        \
    }

/* value NULL: none, and *ret is NULL. ret_field gets the field of an error. */
[[nodiscard]] int mounts_from_json(const struct settings *settings, const json_t *value,
                                   char ***ret, char *ret_field, size_t field_size, struct err *e);
/* In the form of a request. */
json_t *mounts_to_json(char *const *mounts);
