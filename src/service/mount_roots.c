#include "service/mount_roots.h"

#include <fcntl.h>

#include "base/auto.h"
#include "base/directory.h"
#include "base/strv.h"

int mount_roots_open(const struct settings *s, char ***ret, struct err *e)
{
    char **roots = NULL;
    if (settings_mount_roots(s, &roots, e))
        return -1;
    for (size_t i = 0; roots && roots[i]; i++) {
        autoclose int fd = -1;
        if (directory_open(AT_FDCWD, roots[i], 0, roots[i], &fd, e)) {
            strv_free(roots);
            return err_wrap(e, "mounts.roots");
        }
    }
    *ret = roots;
    return 0;
}
