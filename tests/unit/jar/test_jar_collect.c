/* Collecting the files of a hostile program: only the bytes of regular files come out. */
#include <sys/mman.h>
#include <sys/statvfs.h>

#include "base/array.h"
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
    scoped(buf) b = { 0 };
    struct bundle_entry entry;
    bool more = false;
    size_t pos = 0;
    char *names[] = { (char *)name, NULL };
    autoclose int out = memfd_create("unit-test", MFD_CLOEXEC);
    int before = open_fds();
    CHECK_INT(files_collect(p->fd, -1, names, out, &e), 0);
    CHECK_INT(open_fds(), before);
    CHECK(lseek(out, 0, SEEK_SET) == 0 && fd_read_to_buf(out, SIZE_MAX / 8, &b, &e) == 0);
    struct bundle_head head;
    if (!CHECK(b.len >= sizeof head) || !b.data)
        return OUTPUT_STATUS_COUNT_;
    memcpy(&head, b.data, sizeof head);
    CHECK_INT(b.len, sizeof head + strlen(name) + head.size); /* one answer to one question */
    CHECK(head.status == OUTPUT_OK || head.size == 0);
    if (ret_bytes && CHECK(bundle_next(&b, &pos, &entry, &more, &e) == 0 && more))
        CHECK_INT(buf_add(ret_bytes, entry.bytes, entry.head.size, &e), 0);
    return (enum output_status)head.status;
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
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        scoped(buf) b = { 0 };
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
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        check_status(&p, names[i], OUTPUT_NOT_A_FILE);
    place_done(&p);
}

static void test_what_is_no_file_is_told_at_once(void)
{
    struct place p;
    struct statvfs mount;
    if (!place_init(&p) || !CHECK(fstatvfs(p.fd, &mount) == 0))
        return;
    CHECK_INT(mkfifoat(p.fd, "fifo", 0666), 0); /* opening it to read would wait for a writer */
    CHECK_INT(mkdirat(p.fd, "dir", 0755), 0);
    CHECK_INT(mknodat(p.fd, "socket", S_IFSOCK | 0666, 0), 0);
    check_status(&p, "fifo", OUTPUT_NOT_A_FILE);
    check_status(&p, "dir", OUTPUT_NOT_A_FILE);
    check_status(&p, "socket", OUTPUT_NOT_A_FILE);
    if (geteuid() == 0 && mknodat(p.fd, "zero", S_IFCHR | 0666, 0x105) == 0) /* /tmp may be nodev */
        check_status(&p, "zero", mount.f_flag & ST_NODEV ? OUTPUT_REFUSED : OUTPUT_NOT_A_FILE);
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
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        CHECK(collect_one(&inner, names[i], NULL) != OUTPUT_OK);
    fd_close(&inner.fd);
    place_done(&p);
}

/* The bytes of the first entry of a bundle; its status is in the head. */
static enum output_status read_first(int out, const char *name, struct buf *ret)
{
    struct err e = { 0 };
    scoped(buf) b = { 0 };
    struct bundle_entry entry = { 0 };
    bool more = false;
    size_t pos = 0;
    CHECK(lseek(out, 0, SEEK_SET) == 0 && fd_read_to_buf(out, SIZE_MAX / 8, &b, &e) == 0);
    if (!CHECK(bundle_next_output(&b, &pos, &entry, &more, &e) == 0 && more) ||
        !CHECK(bundle_is_named(&entry, name)))
        return OUTPUT_STATUS_COUNT_;
    CHECK_INT(buf_add(ret, entry.bytes, entry.head.size, &e), 0);
    CHECK_INT(pos, b.len);
    pos = 0; /* a reader that makes files refuses the name */
    CHECK_INT(bundle_next(&b, &pos, &entry, &more, &e), output_is_in_tmp(name) ? -1 : 0);
    return (enum output_status)entry.head.status;
}

static void test_names_below_tmp_come_from_the_other_directory(void)
{
    struct place p;
    if (!place_init(&p))
        return;
    CHECK(mkdirat(p.fd, "sandbox", 0755) == 0 && mkdirat(p.fd, "tmp", 01777) == 0 &&
          mkdirat(p.fd, "tmp/d", 0755) == 0 && mkdirat(p.fd, "sandbox/tmp", 0755) == 0);
    place_file(&p, "sandbox/x", "sandbox", 0644);
    place_file(&p, "sandbox/tmp/x", "other", 0644);
    place_file(&p, "tmp/x", "tmp", 0644);
    place_file(&p, "tmp/d/y", "deep", 0644);
    place_file(&p, "beside", "secret", 0644);
    CHECK(symlinkat("/etc/passwd", p.fd, "tmp/link") == 0 &&
          symlinkat("/etc", p.fd, "tmp/etc") == 0 && symlinkat("..", p.fd, "tmp/up") == 0 &&
          symlinkat("../sandbox/x", p.fd, "tmp/across") == 0 &&
          mkfifoat(p.fd, "tmp/fifo", 0666) == 0 &&
          mknodat(p.fd, "tmp/socket", S_IFSOCK | 0666, 0) == 0 &&
          linkat(p.fd, "tmp/x", p.fd, "tmp/hard", 0) == 0);
    autoclose int dir = openat(p.fd, "sandbox", O_PATH | O_DIRECTORY | O_CLOEXEC);
    autoclose int tmp = openat(p.fd, "tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
    static const struct {
        const char *name;
        enum output_status status;
        const char *text;
    } rows[] = {
        { "x", OUTPUT_OK, "sandbox" },
        { "tmp/x", OUTPUT_OK, "other" },
        { "/tmp/x", OUTPUT_OK, "tmp" },
        { "/tmp/d/y", OUTPUT_OK, "deep" },
        { "/tmp/hard", OUTPUT_OK, "tmp" },
        { "/tmp/link", OUTPUT_NOT_A_FILE, "" },
        { "/tmp/etc/passwd", OUTPUT_NOT_A_FILE, "" },
        { "/tmp/up/beside", OUTPUT_NOT_A_FILE, "" },
        { "/tmp/across", OUTPUT_NOT_A_FILE, "" },
        { "/tmp/fifo", OUTPUT_NOT_A_FILE, "" },
        { "/tmp/socket", OUTPUT_NOT_A_FILE, "" },
        { "/tmp/d", OUTPUT_NOT_A_FILE, "" },
        { "/tmp/none", OUTPUT_MISSING, "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err e = { 0 };
        scoped(buf) bytes = { 0 };
        char *names[] = { (char *)rows[i].name, NULL };
        autoclose int out = memfd_create("unit-test", MFD_CLOEXEC);
        CHECK_INT(files_collect(dir, tmp, names, out, &e), 0);
        if (!CHECK_STR(output_status_word(read_first(out, rows[i].name, &bytes)),
                       output_status_word(rows[i].status)) ||
            !CHECK_STR(buf_str(&bytes), rows[i].text))
            printf("    %s\n", rows[i].name);
    }
    place_done(&p);
}

/* The keeper checks names, but it may be wrong. */
static void test_names_cannot_lead_out_of_tmp(void)
{
    static const char *const names[] = { "/tmp/../beside", "/tmp//etc/passwd",    "/tmp/..",
                                         "/tmp/",          "/tmp/d/../../beside", "/etc/passwd" };
    struct place p;
    if (!place_init(&p))
        return;
    CHECK(mkdirat(p.fd, "tmp", 01777) == 0 && mkdirat(p.fd, "tmp/d", 0755) == 0);
    place_file(&p, "beside", "secret", 0644);
    autoclose int tmp = openat(p.fd, "tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct err e = { 0 };
        struct bundle_head head = { 0 };
        char *list[] = { (char *)names[i], NULL };
        autoclose int out = memfd_create("unit-test", MFD_CLOEXEC);
        CHECK_INT(files_collect(p.fd, tmp, list, out, &e), 0);
        CHECK(pread(out, &head, sizeof head, 0) == sizeof head);
        if (!CHECK(head.status != OUTPUT_OK && head.size == 0))
            printf("    %s\n", names[i]);
    }
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
    sparse(&p, "one-more", (off_t)BUNDLE_MAX_BYTES + 1);
    sparse(&p, "exact", (off_t)BUNDLE_MAX_BYTES);
    check_status(&p, "huge", OUTPUT_TOO_LARGE);
    check_status(&p, "one-more", OUTPUT_TOO_LARGE);
    scoped(buf) b = { 0 };
    CHECK_INT(collect_one(&p, "exact", &b), OUTPUT_OK);
    CHECK_INT(b.len, BUNDLE_MAX_BYTES);
    place_done(&p);
}

static void test_all_files_together_are_bounded(void)
{
    static char *names[] = { (char *)"a", (char *)"b", (char *)"c", (char *)"d",
                             (char *)"e", (char *)"f", NULL };
    struct place p;
    struct err e = { 0 };
    scoped(buf) b = { 0 };
    struct bundle_entry entry;
    bool more = true;
    size_t pos = 0;
    if (!place_init(&p))
        return;
    for (int i = 0; i < 5; i++)
        sparse(&p, names[i], 15 << 20);
    place_file(&p, "f", "small", 0644);
    autoclose int out = memfd_create("unit-test", MFD_CLOEXEC);
    CHECK_INT(files_collect(p.fd, -1, names, out, &e), 0);
    CHECK(lseek(out, 0, SEEK_SET) == 0 && fd_read_to_buf(out, SIZE_MAX / 8, &b, &e) == 0);
    for (int i = 0; i < 6; i++) {
        if (!CHECK(bundle_next(&b, &pos, &entry, &more, &e) == 0 && more))
            break;
        CHECK_INT(entry.name[0], names[i][0]);
        CHECK_INT(entry.head.status,
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
    CHECK_INT(files_collect(p.fd, -1, names, full, &e), -1);
    CHECK(strstr(e.text, "large") != NULL && e.sys == ENOSPC);
    place_done(&p);
}

/* Asks for every file; the answer is in *b, and how many entries there are is returned. */
static int collect_all(const struct place *p, struct buf *b)
{
    struct err e = { 0 };
    struct bundle_entry entry;
    bool more = true;
    int n = 0;
    char *names[] = { (char *)FILES_ALL, (char *)FILES_ALL, NULL };
    autoclose int out = memfd_create("unit-test", MFD_CLOEXEC);
    int before = open_fds();
    CHECK_INT(files_collect(p->fd, -1, names, out, &e), 0);
    CHECK_INT(open_fds(), before);
    CHECK(lseek(out, 0, SEEK_SET) == 0 && fd_read_to_buf(out, SIZE_MAX / 8, b, &e) == 0);
    CHECK(b->len <= BUNDLE_STREAM_MAX);
    for (size_t pos = 0; CHECK_INT(bundle_next(b, &pos, &entry, &more, &e), 0) && more;)
        n++;
    return n;
}

/* The status of one of them and, where it is wanted, its bytes; OUTPUT_STATUS_COUNT_ when it is not
 * among them. */
static enum output_status entry_of(const struct buf *b, const char *name, struct buf *ret_bytes)
{
    struct err e = { 0 };
    struct bundle_entry entry;
    bool more = true;
    for (size_t pos = 0; bundle_next(b, &pos, &entry, &more, &e) == 0 && more;) {
        if (entry.head.name_len != strlen(name) || memcmp(entry.name, name, strlen(name)) != 0)
            continue;
        if (ret_bytes)
            CHECK_INT(buf_add(ret_bytes, entry.bytes, entry.head.size, &e), 0);
        return (enum output_status)entry.head.status;
    }
    return OUTPUT_STATUS_COUNT_;
}

static void test_dot_is_every_file_of_every_directory(void)
{
    static const char *const names[] = { "plain", "a/one",       "a/b/two", "a/b/c/three",
                                         "d/odd", "d/\xFF\nx y", "hard" };
    struct place p;
    scoped(buf) b = { 0 };
    if (!place_init(&p))
        return;
    CHECK(mkdirat(p.fd, "a", 0755) == 0 && mkdirat(p.fd, "a/b", 0755) == 0 &&
          mkdirat(p.fd, "a/b/c", 0755) == 0 && mkdirat(p.fd, "d", 0755) == 0 &&
          mkdirat(p.fd, "empty", 0755) == 0);
    for (int i = 0; i < 6; i++)
        place_file(&p, names[i], names[i], 0644);
    CHECK_INT(linkat(p.fd, "plain", p.fd, "hard", 0), 0);
    CHECK_INT(collect_all(&p, &b), 7);
    for (int i = 0; i < 7; i++) {
        scoped(buf) bytes = { 0 };
        CHECK_INT(entry_of(&b, names[i], &bytes), OUTPUT_OK);
        CHECK_STR(buf_str(&bytes), i == 6 ? "plain" : names[i]);
    }
    place_done(&p);
}

static void test_dot_passes_over_what_is_no_file(void)
{
    struct place p;
    scoped(buf) b = { 0 };
    if (!place_init(&p))
        return;
    CHECK_INT(mkdirat(p.fd, "dir", 0755), 0);
    place_file(&p, "dir/file", "x", 0644);
    CHECK(symlinkat("/etc/passwd", p.fd, "passwd") == 0 && symlinkat("dir", p.fd, "link") == 0 &&
          symlinkat("/etc", p.fd, "dir/etc") == 0 && symlinkat("..", p.fd, "dir/up") == 0 &&
          mkfifoat(p.fd, "fifo", 0666) == 0 &&
          mknodat(p.fd, "dir/socket", S_IFSOCK | 0666, 0) == 0);
    CHECK_INT(collect_all(&p, &b), 1);
    CHECK_INT(entry_of(&b, "dir/file", NULL), OUTPUT_OK);
    place_done(&p);
}

static void test_dot_names_the_directory_below_which_names_are_too_long(void)
{
    struct place p;
    scoped(buf) b = { 0 };
    if (!place_init(&p))
        return;
    autoclose int at = openat(p.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 1000; i++) { /* "a/a/a/…": 512 levels have names of 1,024 bytes */
        CHECK(mkdirat(at, "a", 0755) == 0);
        int below = openat(at, "a", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        fd_close(&at);
        at = below;
        if (i == 99 || i == 999)
            CHECK(mknodat(at, "file", S_IFREG | 0644, 0) == 0);
    }
    CHECK_INT(collect_all(&p, &b), 2);
    char name[BUNDLE_NAME_MAX + 1];
    for (size_t i = 0; i < sizeof name; i++)
        name[i] = i % 2 ? '/' : 'a';
    name[2 * 512 - 1] = '\0';
    CHECK_INT(entry_of(&b, name, NULL), OUTPUT_TOO_LARGE);
    memcpy(name + 200, "file", 5);
    CHECK_INT(entry_of(&b, name, NULL), OUTPUT_OK);
    place_done(&p);
}

static void test_dot_stops_where_there_are_too_many_files(void)
{
    struct place p;
    scoped(buf) b = { 0 };
    if (!place_init(&p))
        return;
    for (int i = 0; i < BUNDLE_FILES_MAX + 50; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "%d", i);
        CHECK_INT(mknodat(p.fd, name, S_IFREG | 0644, 0), 0);
    }
    CHECK_INT(collect_all(&p, &b), BUNDLE_FILES_MAX + 1);
    int cut = 0;
    for (int i = 0; i < BUNDLE_FILES_MAX + 50; i += 1 + i / 100) {
        char name[16];
        (void)snprintf(name, sizeof name, "%d", i);
        enum output_status status = entry_of(&b, name, NULL);
        cut += status == OUTPUT_TOO_LARGE;
        CHECK(status == OUTPUT_OK || status == OUTPUT_TOO_LARGE || status == OUTPUT_STATUS_COUNT_);
    }
    CHECK(cut <= 1);
    place_done(&p);
}

static void test_dot_is_bounded_in_all(void)
{
    static const char *const names[] = { "a", "b", "c", "d", "e" };
    struct place p;
    scoped(buf) b = { 0 };
    int ok = 0, too_large = 0;
    if (!place_init(&p))
        return;
    for (int i = 0; i < 5; i++)
        sparse(&p, names[i], 15 << 20);
    sparse(&p, "huge", (off_t)1 << 40);
    CHECK_INT(collect_all(&p, &b), 6);
    for (int i = 0; i < 5; i++) {
        ok += entry_of(&b, names[i], NULL) == OUTPUT_OK;
        too_large += entry_of(&b, names[i], NULL) == OUTPUT_TOO_LARGE;
    }
    CHECK(ok == 4 && too_large == 1);
    CHECK_INT(entry_of(&b, "huge", NULL), OUTPUT_TOO_LARGE);
    place_done(&p);
}

/* More directories than a walk takes steps, in a place where opening one walks 500 others. */
static void test_dot_stops_in_a_tree_made_to_take_long(void)
{
    struct place p;
    scoped(buf) b = { 0 };
    if (!place_init(&p))
        return;
    autoclose int at = openat(p.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 500; i++) {
        CHECK(mkdirat(at, "a", 0755) == 0);
        int below = openat(at, "a", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        fd_close(&at);
        at = below;
    }
    for (int i = 0; i < 5000; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "%d", i);
        CHECK_INT(mkdirat(at, name, 0755), 0);
        (void)snprintf(name, sizeof name, "%d/f", i);
        if (i % 2 == 0)
            CHECK_INT(mknodat(at, name, S_IFREG | 0644, 0), 0);
    }
    int n = collect_all(&p, &b);
    CHECK(n > 1000 && n < 2000);
    place_done(&p);
}

static void collect_all_locked(void *place)
{
    struct place *p = place;
    scoped(buf) b = { 0 };
    CHECK(become_ordinary());
    CHECK(mkdirat(p->fd, "closed", 0755) == 0 && place_file(p, "closed/file", "x", 0644));
    place_file(p, "locked", "x", 0);
    place_file(p, "open", "x", 0644);
    CHECK_INT(fchmodat(p->fd, "closed", 0, 0), 0);
    CHECK_INT(collect_all(p, &b), 3);
    CHECK_INT(entry_of(&b, "closed", NULL), OUTPUT_REFUSED);
    CHECK_INT(entry_of(&b, "locked", NULL), OUTPUT_REFUSED);
    CHECK_INT(entry_of(&b, "open", NULL), OUTPUT_OK);
    scoped(buf) none = { 0 };
    CHECK_INT(mkdirat(p->fd, "top", 0), 0);
    struct place top = { .fd = openat(p->fd, "top", O_PATH | O_CLOEXEC) };
    CHECK_INT(collect_all(&top, &none), 0); /* no failure of ours: the program did it */
    fd_close(&top.fd);
}

static void test_dot_tells_what_its_maker_locked(void)
{
    struct place p;
    if (!place_init(&p))
        return;
    CHECK_INT(fchmod(p.fd, 0777), 0);
    CHECK_INT(in_child(collect_all_locked, &p), 0);
    place_done(&p);
}

static void test_a_tree_has_its_empty_directories_and_modes(void)
{
    struct place p;
    struct err e = { 0 };
    scoped(buf) b = { 0 };
    struct bundle_entry entry;
    bool more = true;
    int directories = 0, files = 0;
    static char *names[] = { (char *)FILES_TREE, NULL };
    if (!place_init(&p))
        return;
    CHECK(mkdirat(p.fd, "a", 0755) == 0 && mkdirat(p.fd, "a/b", 0700) == 0 &&
          mkdirat(p.fd, "full", 0755) == 0 && mkdirat(p.fd, "links", 0755) == 0);
    place_file(&p, "full/tool", "x", 0751);
    CHECK_INT(symlinkat("/", p.fd, "links/to"), 0);
    autoclose int out = memfd_create("unit-test", MFD_CLOEXEC);
    CHECK_INT(files_collect(p.fd, -1, names, out, &e), 0);
    CHECK(lseek(out, 0, SEEK_SET) == 0 && fd_read_to_buf(out, 1 << 20, &b, &e) == 0);
    for (size_t pos = 0; CHECK_INT(bundle_next(&b, &pos, &entry, &more, &e), 0) && more;) {
        CHECK_INT(entry.head.status, OUTPUT_OK);
        if (bundle_is_directory(&entry)) {
            directories++;
            CHECK(bundle_is_named(&entry, "a/b") || bundle_is_named(&entry, "links"));
        } else {
            files++;
            CHECK(bundle_is_named(&entry, "full/tool") && entry.head.mode == 0751);
        }
    }
    CHECK(directories == 2 && files == 1);
    place_done(&p);
}

static const struct check_test tests[] = {
    TEST(test_a_tree_has_its_empty_directories_and_modes),
    TEST(test_regular_files_come_out_byte_for_byte),
    TEST(test_links_are_never_followed),
    TEST(test_what_is_no_file_is_told_at_once),
    TEST(test_what_is_not_there_is_missing),
    TEST(test_names_cannot_lead_out),
    TEST(test_names_below_tmp_come_from_the_other_directory),
    TEST(test_names_cannot_lead_out_of_tmp),
    TEST(test_file_past_the_bound_is_told_not_read),
    TEST(test_all_files_together_are_bounded),
    TEST(test_file_its_maker_locked_is_refused),
    TEST(test_nobody_to_read_it_is_an_error),
    TEST(test_dot_is_every_file_of_every_directory),
    TEST(test_dot_passes_over_what_is_no_file),
    TEST(test_dot_names_the_directory_below_which_names_are_too_long),
    TEST(test_dot_stops_where_there_are_too_many_files),
    TEST(test_dot_is_bounded_in_all),
    TEST(test_dot_stops_in_a_tree_made_to_take_long),
    TEST(test_dot_tells_what_its_maker_locked),
};
CHECK_MAIN(tests)
