#include "base/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"

static const char *const places[] = { "", "../lib/belljar/" };

int place_find(const char *name, char *out, size_t size, struct err *e)
{
    char dir[4096];
    ssize_t n = readlink("/proc/self/exe", dir, sizeof dir - 1);
    char *slash = n > 0 ? memrchr(dir, '/', (size_t)n) : NULL;
    if (!slash)
        return err_set(e, ERR_UNAVAILABLE, errno, "find our own program");
    *slash = '\0';
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        char path[sizeof dir + 256];
        int len = snprintf(path, sizeof path, "%s/%s%s", dir, places[i], name);
        autofree char *real = len > 0 && (size_t)len < sizeof path ? realpath(path, NULL) : NULL;
        if (real && strlen(real) < size) {
            (void)snprintf(out, size, "%s", real);
            return 0;
        }
    }
    return err_set(e, ERR_UNAVAILABLE, 0, "%s is neither beside belljar nor in ../lib/belljar",
                   name);
}
