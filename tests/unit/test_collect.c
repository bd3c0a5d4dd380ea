/* Reading back what a hostile program left: nothing but the bytes of regular files comes out. */
#include <sys/mman.h>

#include "check.h"
#include "child.h"
#include "jar/files.h"
#include "place.h"
#include "spec/bundle.h"

/* Asks for one file and reads the answer; its bytes go to *ret_bytes if that is wanted. */
static enum output_status collect_one(const struct place *p, const char *name,
                                      struct buf *ret_bytes)
{
    struct err e = { 0 };
    auto(buf) b = { 0 };
    struct bundle_entry entry;
    bool more = false;
    size_t pos = 0;
    char *names[] = { (char *)name, NULL };
    autoclose int out = memfd_create("unit-test", MFD_CLOEXEC);
    int before = open_fds();
    CHECK_INT(files_collect(p->fd, names, out, &e), 0);
    CHECK_INT(open_fds(), before);
    CHECK(lseek(out, 0, SEEK_SET) == 0 && fd_read_to_buf(out, SIZE_MAX / 8, &b, &e) == 0);
    struct bundle_head head;
    if (!CHECK(b.len >= sizeof head) || !b.data)
        return OUTPUT_STATUS_COUNT_;
    memcpy(&head, b.data, sizeof head);
    CHECK_INT(b.len, sizeof head + strlen(name) + head.size); /* one answer to one question */
    CHECK(head.mode_or_status == OUTPUT_OK || head.size == 0);
    if (ret_bytes && CHECK(bundle_next(&b, &pos, &entry, &more, &e) == 0 && more))
        CHECK_INT(buf_add(ret_bytes, entry.bytes, entry.head.size, &e), 0);
    return (enum output_status)head.mode_or_status;
}

static void check_status(const struct place *p, const char *name, enum output_status expected)
{
    enum output_status got = collect_one(p, name, NULL);
    if (!CHECK_STR(output_status_word(got), output_status_word(expected)))
        printf("    %s\n", name);
}

static void test_regular_files_come_out_byte_for_byte(void)
{
    struct place p;
    if (!place_init(&p))
        return;
    CHECK(mkdirat(p.fd, "a", 0755) == 0 && mkdirat(p.fd, "a/b", 0755) == 0);
    place_file(&p, "plain", "text\n", 0644);
    place_file(&p, "empty", "", 0644);
    place_file(&p, "a/b/nested", "deep", 0644);
    CHECK_INT(linkat(p.fd, "plain", p.fd, "hard", 0), 0); /* as regular as the other name */
    static const struct {
        const char *name, *text;
    } rows[] = {
        { "plain", "text\n" }, { "empty", "" }, { "a/b/nested", "deep" }, { "hard", "text\n" }
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        auto(buf) b = { 0 };
        CHECK_INT(collect_one(&p, rows[i].name, &b), OUTPUT_OK);
        CHECK_STR(buf_str(&b), rows[i].text);
    }
    place_done(&p);
}

static void test_links_are_never_followed(void)
{
    struct place p;
    if (!place_init(&p))
        return;
    CHECK_INT(mkdirat(p.fd, "dir", 0755), 0);
    place_file(&p, "dir/file", "x", 0644);
    CHECK(symlinkat("/etc/passwd", p.fd, "absolute") == 0 &&
          symlinkat("dir/file", p.fd, "inside") == 0 && symlinkat("dir", p.fd, "dirlink") == 0 &&
          symlinkat("nowhere", p.fd, "dangling") == 0 && symlinkat("loop", p.fd, "loop") == 0 &&
          symlinkat("/proc/self/fd/0", p.fd, "magic") == 0 && symlinkat("/", p.fd, "root") == 0 &&
          symlinkat("..", p.fd, "up") == 0);
    static const char *const names[] = { "absolute",     "inside",          "dirlink",
                                         "dirlink/file", "dangling",        "loop",
                                         "magic",        "root/etc/passwd", "up/x" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        check_status(&p, names[i], OUTPUT_NOT_A_FILE);
    place_done(&p);
}

static void test_what_is_no_file_is_told_at_once(void)
{
    struct place p;
    if (!place_init(&p))
        return;
    CHECK_INT(mkfifoat(p.fd, "fifo", 0666), 0); /* opening it to read would wait for a writer */
    CHECK_INT(mkdirat(p.fd, "dir", 0755), 0);
    CHECK_INT(mknodat(p.fd, "socket", S_IFSOCK | 0666, 0), 0);
    check_status(&p, "fifo", OUTPUT_NOT_A_FILE);
    check_status(&p, "dir", OUTPUT_NOT_A_FILE);
    check_status(&p, "socket", OUTPUT_NOT_A_FILE);
    if (geteuid() == 0 && mknodat(p.fd, "zero", S_IFCHR | 0666, 0x105) == 0)
        check_status(&p, "zero", OUTPUT_NOT_A_FILE);
    place_done(&p);
}

static void test_what_is_not_there_is_missing(void)
{
    struct place p;
    if (!place_init(&p))
        return;
    place_file(&p, "file", "x", 0644);
    check_status(&p, "never", OUTPUT_MISSING);
    check_status(&p, "never/made", OUTPUT_MISSING);
    check_status(&p, "file/below", OUTPUT_MISSING);
    place_done(&p);
}

static void test_names_cannot_lead_out(void)
{
    struct place p;
    if (!place_init(&p))
        return;
    CHECK_INT(mkdirat(p.fd, "inner", 0755), 0);
    place_file(&p, "secret", "x", 0644);
    struct place inner = { .fd = openat(p.fd, "inner", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
    static const char *const names[] = { "../secret", "/etc/passwd", "..", "/proc/self/environ" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        CHECK(collect_one(&inner, names[i], NULL) != OUTPUT_OK);
    fd_close(&inner.fd);
    place_done(&p);
}

static bool sparse(const struct place *p, const char *name, off_t size)
{
    autoclose int fd = openat(p->fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    return CHECK(fd >= 0 && ftruncate(fd, size) == 0);
}

static void test_file_past_the_bound_is_told_not_read(void)
{
    struct place p;
    if (!place_init(&p))
        return;
    sparse(&p, "huge", (off_t)1 << 40);
    sparse(&p, "one-more", (off_t)BUNDLE_FILE_MAX_BYTES + 1);
    sparse(&p, "exact", (off_t)BUNDLE_FILE_MAX_BYTES);
    check_status(&p, "huge", OUTPUT_TOO_LARGE);
    check_status(&p, "one-more", OUTPUT_TOO_LARGE);
    auto(buf) b = { 0 };
    CHECK_INT(collect_one(&p, "exact", &b), OUTPUT_OK);
    CHECK_INT(b.len, BUNDLE_FILE_MAX_BYTES);
    place_done(&p);
}

static void test_all_files_together_are_bounded(void)
{
    static char *names[] = { (char *)"a", (char *)"b", (char *)"c", (char *)"d",
                             (char *)"e", (char *)"f", NULL };
    struct place p;
    struct err e = { 0 };
    auto(buf) b = { 0 };
    struct bundle_entry entry;
    bool more = true;
    size_t pos = 0;
    if (!place_init(&p))
        return;
    for (int i = 0; i < 5; i++)
        sparse(&p, names[i], 15 << 20);
    place_file(&p, "f", "small", 0644);
    autoclose int out = memfd_create("unit-test", MFD_CLOEXEC);
    CHECK_INT(files_collect(p.fd, names, out, &e), 0);
    CHECK(lseek(out, 0, SEEK_SET) == 0 && fd_read_to_buf(out, SIZE_MAX / 8, &b, &e) == 0);
    for (int i = 0; i < 6; i++) {
        if (!CHECK(bundle_next(&b, &pos, &entry, &more, &e) == 0 && more))
            break;
        CHECK_INT(entry.name[0], names[i][0]);
        CHECK_INT(entry.head.mode_or_status,
                  i == 4 ? OUTPUT_TOO_LARGE : OUTPUT_OK); /* four fit, and a small one */
    }
    CHECK(b.len < BUNDLE_MAX_BYTES + 1000);
    place_done(&p);
}

static void collect_unreadable(void *place)
{
    struct place *p = place;
    CHECK(become_ordinary());
    place_file(p, "locked", "x", 0);
    CHECK(mkdirat(p->fd, "closed", 0755) == 0 && place_file(p, "closed/file", "x", 0644));
    CHECK_INT(fchmodat(p->fd, "closed", 0, 0), 0);
    check_status(p, "locked", OUTPUT_REFUSED);
    check_status(p, "closed/file", OUTPUT_REFUSED);
}

static void test_file_its_maker_locked_is_refused(void)
{
    struct place p;
    if (!place_init(&p))
        return;
    CHECK_INT(fchmod(p.fd, 0777), 0);
    CHECK_INT(in_child(collect_unreadable, &p), 0);
    place_done(&p);
}

static void test_nobody_to_read_it_is_an_error(void)
{
    struct place p;
    struct err e = { 0 };
    char *names[] = { (char *)"large", NULL };
    if (!place_init(&p))
        return;
    sparse(&p, "large", 1 << 20);
    autoclose int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    CHECK_INT(files_collect(p.fd, names, full, &e), -1);
    CHECK(strstr(e.text, "large") != NULL && e.sys == ENOSPC);
    place_done(&p);
}

static const struct check_test tests[] = {
    TEST(test_regular_files_come_out_byte_for_byte),
    TEST(test_links_are_never_followed),
    TEST(test_what_is_no_file_is_told_at_once),
    TEST(test_what_is_not_there_is_missing),
    TEST(test_names_cannot_lead_out),
    TEST(test_file_past_the_bound_is_told_not_read),
    TEST(test_all_files_together_are_bounded),
    TEST(test_file_its_maker_locked_is_refused),
    TEST(test_nobody_to_read_it_is_an_error),
};
CHECK_MAIN(tests)
