/* The parts of a machine that a root shows: a made-up machine with secrets beside the files that
 * programs need. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "check.h"
#include "jar/skeleton.h"
#include "place.h"

static const char *const host_dirs[] = {
    "host",
    "host/usr",
    "host/etc",
    "host/etc/R",
    "host/etc/php",
    "host/etc/php/8.2",
    "host/etc/php/8.2/cli",
    "host/etc/php/8.2/fpm",
    "host/etc/php/8.2/fpm/pool.d",
    "host/etc/php/8.2/mods-available",
    "host/etc/java-17-openjdk",
    "host/etc/java-secret",
    "root",
};
static const char *const host_files[] = {
    "host/etc/R/Renviron",
    "host/etc/R/ldpaths",
    "host/etc/R/Renviron.site",
    "host/etc/R/Rprofile.site",
    "host/etc/php/8.2/fpm/pool.d/www.conf",
    "host/etc/shadow",
    "host/etc/php/8.2/secret",
};

static bool make_machine(const struct place *p)
{
    for (size_t i = 0; i < ARRAY_LEN(host_dirs); i++)
        if (mkdirat(p->fd, host_dirs[i], 0755) < 0)
            return false;
    for (size_t i = 0; i < ARRAY_LEN(host_files); i++) {
        autoclose int fd = openat(p->fd, host_files[i], O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
        if (fd < 0)
            return false;
    }
    return true;
}

static void test_settings_come_in_by_name_and_secrets_beside_them_do_not(void)
{
    static const char *const shown[] = { "usr", "etc/java-17-openjdk", "etc/php/8.2/cli",
                                         "etc/php/8.2/mods-available" };
    static const char *const there[] = { "root/etc/R/Renviron", "root/etc/R/ldpaths",
                                         "root/etc/php/8.2/cli", "root/etc/passwd" };
    static const char *const absent[] = { "root/etc/R/Renviron.site", "root/etc/R/Rprofile.site",
                                          "root/etc/php/8.2/fpm",     "root/etc/php/8.2/secret",
                                          "root/etc/shadow",          "root/etc/java-secret" };
    struct place p;
    struct err e = { 0 };
    struct stat st;
    struct skeleton_binds found;
    if (!place_init(&p) || !CHECK(make_machine(&p)))
        return;
    autoclose int host = openat(p.fd, "host", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    autoclose int root = openat(p.fd, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_INT(skeleton_build(host, root, &e), 0);
    skeleton_find_binds(host, &found);
    CHECK_INT(found.n, ARRAY_LEN(shown));
    for (size_t i = 0; i < found.n && i < ARRAY_LEN(shown); i++)
        CHECK_STR(found.paths[i], shown[i]);
    for (size_t i = 0; i < ARRAY_LEN(there); i++)
        CHECK(fstatat(p.fd, there[i], &st, 0) == 0);
    for (size_t i = 0; i < ARRAY_LEN(absent); i++)
        CHECK(fstatat(p.fd, absent[i], &st, 0) < 0);
    place_done(&p);
}

static const struct check_test tests[] = {
    TEST(test_settings_come_in_by_name_and_secrets_beside_them_do_not),
};
CHECK_MAIN(tests)
