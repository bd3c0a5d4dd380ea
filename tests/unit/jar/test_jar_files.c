#include "jar/files.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>

#include "base/array.h"
#include "check.h"
#include "child.h"
#include "place.h"
#include "spec/bundle.h"

static int memory_with(const struct buf *b)
{
    struct err e = { 0 };
    int fd = -1;
    CHECK_INT(fd_sealed_memory("unit-test", b, &fd, &e), 0);
    return fd;
}

static int unpack(const struct place *p, const struct buf *b, struct err *e)
{
    autoclose int fd = memory_with(b);
    int before = open_fds(), rc = files_unpack(fd, p->fd, e);
    CHECK_INT(open_fds(), before);
    return rc;
}

static void add(struct buf *b, const char *name, uint32_t mode, const char *text)
{
    struct err e = { 0 };
    CHECK_INT(bundle_add(b, name, mode, text, strlen(text), &e), 0);
}

static void check_file(const struct place *p, const char *name, mode_t mode, const char *text)
{
    struct stat st;
    char got[64] = "";
    CHECK(fstatat(p->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode));
    CHECK_INT(st.st_mode & 07777, mode);
    CHECK_INT(fd_read_file(p->fd, name, got, sizeof got), strlen(text));
    CHECK_STR(got, text);
}

static void test_files_arrive_with_their_directories_and_modes(void)
{
    struct place p;
    struct err e = { 0 };
    scoped(buf) b = { 0 };
    if (!place_init(&p))
        return;
    mode_t before = umask(0);
    add(&b, "main.py", 0644, "print(1)\n");
    add(&b, "data/deep/er/in.csv", 0400, "1,2\n");
    add(&b, "data/deep/other", 0755, "");
    add(&b, "-odd\n\xFF name", 0600, "x");
    add(&b, "setuid", 07777, "x"); /* nothing but permissions is taken over */
    CHECK_INT(unpack(&p, &b, &e), 0);
    check_file(&p, "main.py", 0644, "print(1)\n");
    check_file(&p, "data/deep/er/in.csv", 0400, "1,2\n");
    check_file(&p, "data/deep/other", 0755, "");
    check_file(&p, "-odd\n\xFF name", 0600, "x");
    check_file(&p, "setuid", 0777, "x");
    CHECK_INT(entries(p.fd, "data/deep"), 2);
    (void)umask(before);
    place_done(&p);
}

static void test_no_files_is_no_error(void)
{
    struct place p;
    struct err e = { 0 };
    struct buf none = { 0 };
    if (!place_init(&p))
        return;
    CHECK_INT(unpack(&p, &none, &e), 0);
    CHECK_INT(entries(p.fd, "."), 0);
    CHECK_INT(files_unpack(-1, p.fd, &e), -1);
    place_done(&p);
}

static void test_name_given_twice_is_refused_by_name(void)
{
    struct place p;
    struct err e = { 0 };
    scoped(buf) b = { 0 };
    if (!place_init(&p))
        return;
    add(&b, "data.csv", 0644, "first");
    add(&b, "data.csv", 0644, "second");
    CHECK_INT(unpack(&p, &b, &e), -1);
    CHECK_INT(e.code, ERR_BAD_REQUEST);
    CHECK(strstr(e.text, "data.csv") && strstr(e.text, "twice"));
    check_file(&p, "data.csv", 0644, "first");
    place_done(&p);
}

static void test_file_and_directory_of_one_name_are_refused(void)
{
    static const char *const orders[][2] = { { "a", "a/b" }, { "a/b", "a" } };
    for (int i = 0; i < 2; i++) {
        struct place p;
        struct err e = { 0 };
        scoped(buf) b = { 0 };
        if (!place_init(&p))
            return;
        add(&b, orders[i][0], 0644, "x");
        add(&b, orders[i][1], 0644, "x");
        CHECK_INT(unpack(&p, &b, &e), -1);
        CHECK(strchr(e.text, 'a') != NULL);
        place_done(&p);
    }
}

static void test_link_that_is_already_there_is_not_followed(void)
{
    struct place p;
    struct err e = { 0 };
    scoped(buf) b = { 0 };
    if (!place_init(&p))
        return;
    CHECK_INT(mkdirat(p.fd, "target", 0755), 0);
    CHECK_INT(symlinkat("target/file", p.fd, "link"), 0);
    add(&b, "link", 0644, "x");
    CHECK_INT(unpack(&p, &b, &e), -1);
    CHECK_INT(entries(p.fd, "target"), 0);
    place_done(&p);
}

static void test_malformed_bundle_is_an_error_wherever_it_is_cut(void)
{
    scoped(buf) b = { 0 };
    add(&b, "one", 0644, "1");
    size_t first = b.len;
    add(&b, "dir/two", 0644, "22");
    for (size_t n = 1; n < b.len; n++) {
        struct place p;
        struct err e = { 0 };
        struct buf cut = { .data = b.data, .len = n };
        if (!place_init(&p))
            return;
        CHECK_INT(unpack(&p, &cut, &e), n == first ? 0 : -1);
        CHECK_INT(entries(p.fd, "."), n < first ? 0 : 1);
        place_done(&p);
    }
}

static void test_names_that_lead_out_write_nothing(void)
{
    static const char *const bad[] = { "../evil", "a/../../evil", "/tmp/unit-test-evil", "." };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct place p;
        struct err e = { 0 };
        scoped(buf) b = { 0 };
        if (!place_init(&p))
            return;
        CHECK_INT(mkdirat(p.fd, "inner", 0755), 0);
        struct place inner = { .fd = openat(p.fd, "inner", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
        add(&b, bad[i], 0644, "x");
        CHECK_INT(unpack(&inner, &b, &e), -1);
        CHECK(!place_has(&p, "evil") && entries(inner.fd, ".") == 0);
        fd_close(&inner.fd);
        place_done(&p);
    }
}

static void test_bundle_past_the_bound_is_refused_unread(void)
{
    struct place p;
    struct err e = { 0 };
    autoclose int fd = memfd_create("unit-test", MFD_CLOEXEC);
    if (!place_init(&p))
        return;
    CHECK_INT(ftruncate(fd, (off_t)1 << 40), 0);
    CHECK_INT(files_unpack(fd, p.fd, &e), -1);
    CHECK_INT(e.code, ERR_TOO_LARGE);
    CHECK(strstr(e.text, "67108864") != NULL);
    CHECK_INT(entries(p.fd, "."), 0);
    place_done(&p);
}

/* A file system that is full after 64 KiB or eight files. */
static void unpack_on_little_room(void *place)
{
    struct place *p = place;
    static char large[256 << 10];
    if (!CHECK(unshare(CLONE_NEWNS) == 0 &&
               mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0) ||
        !CHECK(mount("none", p->path, "tmpfs", 0, "size=64k,nr_inodes=8") == 0))
        return;
    struct place small = { .fd = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
    struct err e = { 0 };
    scoped(buf) bytes = { 0 }, files = { 0 }, dirs = { 0 };
    memset(large, 'x', sizeof large - 1);
    add(&bytes, "fits", 0644, "x");
    add(&bytes, "large.bin", 0644, large);
    CHECK_INT(unpack(&small, &bytes, &e), -1);
    CHECK_INT(e.code, ERR_BAD_REQUEST); /* the caller's doing, not the machine's */
    CHECK(strstr(e.text, "do not fit") && strstr(e.text, "large.bin") && strstr(e.text, "disk"));
    CHECK(unlinkat(small.fd, "fits", 0) == 0 && unlinkat(small.fd, "large.bin", 0) == 0);
    for (char name[] = "f0"; name[1] <= '9'; name[1]++)
        add(&files, name, 0644, "");
    CHECK_INT(unpack(&small, &files, &e), -1);
    CHECK(strstr(e.text, "files limit") != NULL);
    add(&dirs, "d/e", 0644, ""); /* not even the directory */
    CHECK_INT(unpack(&small, &dirs, &e), -1);
    CHECK(strstr(e.text, "files limit") != NULL);
}

static void test_files_that_do_not_fit_are_refused_with_the_limits_names(void)
{
    struct place p;
    if (geteuid() != 0)
        return SKIP("only root can mount a small file system");
    if (!place_init(&p))
        return;
    CHECK_INT(in_child(unpack_on_little_room, &p), 0);
    place_done(&p);
}

static const struct check_test tests[] = {
    TEST(test_files_arrive_with_their_directories_and_modes),
    TEST(test_no_files_is_no_error),
    TEST(test_name_given_twice_is_refused_by_name),
    TEST(test_file_and_directory_of_one_name_are_refused),
    TEST(test_link_that_is_already_there_is_not_followed),
    TEST(test_malformed_bundle_is_an_error_wherever_it_is_cut),
    TEST(test_names_that_lead_out_write_nothing),
    TEST(test_bundle_past_the_bound_is_refused_unread),
    TEST(test_files_that_do_not_fit_are_refused_with_the_limits_names),
};
CHECK_MAIN(tests)
