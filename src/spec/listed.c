#include "spec/listed.h"

#include <stddef.h>
#include <string.h>

#include "base/array.h"

/* The directories with programs and libraries that jar/skeleton.c binds. */
static const char *const homes[] = { "/usr/",   "/bin/",   "/sbin/",  "/lib/",
                                     "/lib32/", "/lib64/", "/libx32/" };

static bool is_plain(const char *path)
{
    for (const char *at = path; *at; at += strcspn(at, "/")) {
        size_t n = strcspn(++at, "/");
        if (n == 0 || (n == 1 && at[0] == '.') || (n == 2 && at[0] == '.' && at[1] == '.'))
            return false;
    }
    return true;
}

bool listed_path(const char *path)
{
    bool home = false;
    for (size_t i = 0; i < ARRAY_LEN(homes); i++)
        home = home || strncmp(path, homes[i], strlen(homes[i])) == 0;
    return home && strlen(path) < LISTED_PATH_MAX && is_plain(path);
}

int listed_check(char *const *executes, char *const *reads, struct err *e)
{
    char *const *const lists[] = { executes, reads };
    size_t n = 0, bytes = 0;
    for (int i = 0; i < 2; i++) {
        for (char *const *path = lists[i]; path && *path; path++) {
            if (!listed_path(*path))
                return err_set(e, ERR_BAD_REQUEST, 0,
                               "'%.100s' cannot be listed: a path in /usr without links is "
                               "accepted",
                               *path);
            n++;
            bytes += strlen(*path) + 1;
        }
    }
    if (n > LISTED_MAX || bytes > LISTED_TEXT)
        return err_set(
            e, ERR_TOO_LARGE, 0,
            "the commands need %zu files: up to %d, with names of %d bytes together, are "
            "accepted; list fewer",
            n, LISTED_MAX, LISTED_TEXT);
    return 0;
}
