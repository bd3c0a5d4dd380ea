#include "image/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/fdio.h"
#include "check.h"
#include "image/format.h"
#include "place.h"

enum { HEAD = 25, ROOM = 8 << 20 };

struct losses {
    struct image_losses base; /* the first member */
    char text[8192];
};

static void add_loss(struct image_losses *base, const char *name)
{
    struct losses *l = (struct losses *)base;
    size_t n = strlen(l->text);
    (void)snprintf(l->text + n, sizeof l->text - n, "%s\n", name);
}

static char why[IMAGE_WHY];

/* A folder that is packed, with an image of its own. */
struct box {
    struct place place;
    const char *places[2];
    struct losses losses;
    int image;
    uint64_t end;
    struct image_bases *bases; /* NULL: none */
};

static bool box_init(struct box *b)
{
    *b = (struct box){ .losses.base.add = add_loss,
                       .image = memfd_create("unit-test", MFD_CLOEXEC) };
    if (!place_init(&b->place))
        return false;
    b->places[0] = b->place.path;
    return CHECK(b->image >= 0);
}

static void box_done(struct box *b)
{
    fd_close(&b->image);
    place_done(&b->place);
}

static int pack(struct box *b, uint64_t room)
{
    b->losses.text[0] = '\0';
    return image_files_pack(b->image, b->bases, b->places, room, &b->losses.base, &b->end, why);
}

static int unpack(struct box *b)
{
    return image_files_unpack(b->image, b->bases, b->places, why);
}

static void put(const struct box *b, const char *name, const char *text, mode_t mode)
{
    autoclose int fd = openat(b->place.fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
          fchmod(fd, mode) == 0);
}

static void check_file(const struct box *b, const char *name, const char *text, mode_t mode)
{
    char got[64] = "";
    struct stat st = { 0 };
    CHECK(fstatat(b->place.fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0);
    CHECK_INT(st.st_mode & 07777, mode);
    CHECK(fd_read_file(b->place.fd, name, got, sizeof got) >= 0);
    CHECK_STR(got, text);
}

static void test_files_come_back_as_they_were(void)
{
    struct box b;
    char target[64] = "";
    struct stat st = { 0 };
    const struct timespec times[] = { { 5, 6 }, { 1000000007, 123456789 } };
    if (!box_init(&b))
        return;
    CHECK(mkdirat(b.place.fd, "sub", 0700) == 0 && mkdirat(b.place.fd, "sub/deep", 0700) == 0);
    put(&b, "sub/deep/a", "first", 0640);
    put(&b, "empty", "", 0600);
    put(&b, "sub/sealed", "read only", 0400);
    put(&b, "odd\n\xFF name", "odd", 0600);
    CHECK(symlinkat("../nowhere", b.place.fd, "sub/link") == 0);
    CHECK(mkfifoat(b.place.fd, "fifo", 0600) == 0 && fchmodat(b.place.fd, "fifo", 0620, 0) == 0);
    CHECK(fchmodat(b.place.fd, "sub/deep", 0500, 0) == 0);
    CHECK(utimensat(b.place.fd, "sub/deep/a", times, 0) == 0);
    CHECK(utimensat(b.place.fd, "sub/deep", times, 0) == 0);
    CHECK_INT(pack(&b, ROOM), 0);
    CHECK_STR(b.losses.text, "");
    /* The places of the process that unpacks have other things in them. */
    put(&b, "sub/deep/a", "changed", 0640);
    put(&b, "later", "later", 0600);
    CHECK(mkdirat(b.place.fd, "shut", 0700) == 0);
    put(&b, "shut/in", "x", 0600);
    CHECK(fchmodat(b.place.fd, "shut", 0, 0) == 0);
    CHECK_INT(unpack(&b), 0);
    check_file(&b, "sub/deep/a", "first", 0640);
    check_file(&b, "empty", "", 0600);
    check_file(&b, "sub/sealed", "read only", 0400);
    check_file(&b, "odd\n\xFF name", "odd", 0600);
    CHECK(readlinkat(b.place.fd, "sub/link", target, sizeof target - 1) > 0);
    CHECK_STR(target, "../nowhere");
    CHECK(fstatat(b.place.fd, "fifo", &st, 0) == 0 && S_ISFIFO(st.st_mode));
    CHECK_INT(st.st_mode & 07777, 0620);
    CHECK(!place_has(&b.place, "later") && !place_has(&b.place, "shut"));
    CHECK(fstatat(b.place.fd, "sub/deep/a", &st, 0) == 0);
    CHECK(st.st_mtim.tv_sec == 1000000007 && st.st_mtim.tv_nsec == 123456789);
    CHECK(fstatat(b.place.fd, "sub/deep", &st, 0) == 0 && st.st_mtim.tv_sec == 1000000007);
    CHECK_INT(st.st_mode & 07777, 0500);
    CHECK(fchmodat(b.place.fd, "sub/deep", 0700, 0) == 0);
    box_done(&b);
}

static void test_the_layout_is_the_documented_one(void)
{
    static const unsigned char head[HEAD] = { 1, 0xA0, 1 };
    struct box b;
    unsigned char got[HEAD] = { 0 }, end[HEAD];
    char name[PATH_MAX + 8] = "", want[PATH_MAX + 8];
    if (!box_init(&b))
        return;
    put(&b, "f", "text", 0640);
    CHECK_INT(pack(&b, ROOM), 0);
    size_t n = strlen(b.place.path) + 2;
    CHECK_INT(b.end, IMAGE_FRONT + HEAD + n + 4 + HEAD);
    CHECK(pread(b.image, got, sizeof got, IMAGE_FRONT) == HEAD);
    CHECK(memcmp(got, head, 5) == 0 && got[13] == 4 && got[21] == n);
    CHECK(pread(b.image, name, n + 4, IMAGE_FRONT + HEAD) == (ssize_t)n + 4);
    (void)snprintf(want, sizeof want, "%s/ftext", b.place.path);
    CHECK_STR(name, want);
    CHECK(pread(b.image, end, HEAD, (off_t)(b.end - HEAD)) == HEAD);
    CHECK(end[0] == 0);
    box_done(&b);
}

static void test_large_files_and_many_files_are_whole(void)
{
    enum { LARGE = (3 << 20) + 17, FILES = 3000 };
    struct box b;
    struct stat st = { 0 };
    char name[32];
    if (!box_init(&b))
        return;
    autofree char *bytes = malloc(LARGE), *got = malloc(LARGE);
    if (!CHECK(bytes && got))
        return;
    for (size_t i = 0; i < LARGE; i++)
        bytes[i] = (char)(i * 31 >> 3);
    autoclose int fd = openat(b.place.fd, "large", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(write(fd, bytes, LARGE) == LARGE);
    for (int i = 0; i < FILES; i++) {
        (void)snprintf(name, sizeof name, "file-%d", i);
        put(&b, name, name, 0600);
    }
    CHECK_INT(pack(&b, ROOM), 0);
    CHECK_INT(unpack(&b), 0);
    autoclose int again = openat(b.place.fd, "large", O_RDONLY | O_CLOEXEC);
    CHECK(fstat(again, &st) == 0 && st.st_size == LARGE);
    CHECK(read(again, got, LARGE) == LARGE && memcmp(bytes, got, LARGE) == 0);
    check_file(&b, "file-2999", "file-2999", 0600);
    box_done(&b);
}

static void test_things_that_cannot_be_carried_are_named(void)
{
    struct box b;
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (!box_init(&b))
        return;
    (void)snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/s", b.place.fd);
    autoclose int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(s, (struct sockaddr *)&address, sizeof address) == 0);
    put(&b, "kept", "kept", 0600);
    CHECK_INT(pack(&b, ROOM), 0);
    char want[PATH_MAX + 32];
    (void)snprintf(want, sizeof want, "the socket %s/s\n", b.place.path);
    CHECK_STR(b.losses.text, want);
    CHECK_INT(unpack(&b), 0);
    check_file(&b, "kept", "kept", 0600);
    CHECK(!place_has(&b.place, "s"));
    box_done(&b);
}

static void test_no_more_than_the_room_is_written(void)
{
    struct box b;
    struct stat st = { 0 };
    if (!box_init(&b))
        return;
    put(&b, "f", "text", 0640);
    CHECK_INT(pack(&b, ROOM), 0);
    uint64_t least = b.end;
    CHECK_INT(pack(&b, least), 0);
    CHECK_INT(pack(&b, least - 1), -1);
    CHECK(strstr(why, "that an image may have") != NULL);
    CHECK_INT(pack(&b, 0), -1);
    /* A file of a terabyte without a byte in it. */
    autoclose int fd = openat(b.place.fd, "vast", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(ftruncate(fd, INT64_C(1) << 40) == 0);
    CHECK_INT(ftruncate(b.image, 0), 0);
    CHECK_INT(pack(&b, ROOM), -1);
    CHECK(fstat(b.image, &st) == 0 && st.st_size <= ROOM);
    box_done(&b);
}

/* An image is a guest's bytes: each cut is refused, and no altered byte does more than make other
 * files. */
static void test_files_that_are_cut_or_altered_are_refused(void)
{
    struct box b;
    if (!box_init(&b))
        return;
    put(&b, "f", "text", 0640);
    CHECK(symlinkat("there", b.place.fd, "link") == 0);
    CHECK_INT(pack(&b, ROOM), 0);
    uint64_t end = b.end;
    for (uint64_t size = IMAGE_FRONT; size < end; size++) {
        CHECK_INT(ftruncate(b.image, (off_t)size), 0);
        CHECK_INT(unpack(&b), -1);
        CHECK_STR(why, "the files of the image are cut short");
        CHECK_INT(ftruncate(b.image, 0), 0);
        put(&b, "f", "text", 0640);
        if (!place_has(&b.place, "link"))
            CHECK(symlinkat("there", b.place.fd, "link") == 0);
        CHECK_INT(pack(&b, ROOM), 0);
    }
    static const struct {
        off_t at;
        size_t n;
        const char *reason;
    } wrong[] = {
        { IMAGE_FRONT, 1, "of an unknown kind" },
        { IMAGE_FRONT + 13, 8, "the files of the image are cut short" },
        { IMAGE_FRONT + 21, 4, "too long a name" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        static const unsigned char ones[] = { 255, 255, 255, 127, 255, 255, 255, 127 };
        CHECK_INT(ftruncate(b.image, 0), 0);
        CHECK_INT(pack(&b, ROOM), 0);
        CHECK(pwrite(b.image, ones, wrong[i].n, wrong[i].at) == (ssize_t)wrong[i].n);
        CHECK_INT(unpack(&b), -1);
        CHECK(strstr(why, wrong[i].reason) != NULL);
        put(&b, "f", "text", 0640);
    }
    box_done(&b);
}

/* ---- earlier images ---- */

enum { LONG_TEXT = 5000, SHARED_ENTRY = HEAD + sizeof(struct image_id) + 8 };

/* Packs into a new image, and makes that a base of the next ones. */
static void pack_next(struct box *b, struct image_bases *bases)
{
    fd_close(&b->image);
    b->image = memfd_create("unit-test", MFD_CLOEXEC);
    bases->used = 0;
    b->bases = bases;
    CHECK_INT(pack(b, ROOM), 0);
    struct image_front front = { IMAGE_MAGIC, image_whole_pages(b->end), b->end, { { 0 } } };
    front.id.bytes[0] = (uint8_t)(bases->n + 1);
    CHECK(pwrite(b->image, &front, sizeof front, 0) == (ssize_t)sizeof front);
}

static void push_base(struct image_bases *bases, int fd)
{
    memmove(bases->fds + 1, bases->fds, sizeof bases->fds - sizeof bases->fds[0]);
    bases->fds[0] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    bases->n++;
}

static void put_long(const struct box *b, const char *name, char letter)
{
    char text[LONG_TEXT + 1];
    memset(text, letter, LONG_TEXT);
    text[LONG_TEXT] = '\0';
    put(b, name, text, 0600);
}

static char letter_of(const struct box *b, const char *name)
{
    char text[LONG_TEXT + 1] = "";
    return fd_read_file(b->place.fd, name, text, sizeof text) == LONG_TEXT ? text[LONG_TEXT - 1]
                                                                           : '?';
}

static const char *const long_names[] = { "a/x", "a/y", "a-b", "a.c", "a\x01", "a0", "\xFF" };
enum { LONG_NAMES = sizeof long_names / sizeof long_names[0] };

static void bases_done(struct image_bases *bases)
{
    for (size_t i = 0; i < bases->n; i++)
        fd_close(&bases->fds[i]);
}

static void test_unchanged_files_are_stored_once(void)
{
    struct box b;
    struct image_bases bases = { 0 };
    if (!box_init(&b))
        return;
    CHECK(mkdirat(b.place.fd, "a", 0700) == 0);
    for (size_t i = 0; i < LONG_NAMES; i++)
        put_long(&b, long_names[i], 'a');
    pack_next(&b, &bases);
    uint64_t whole = b.end;
    push_base(&bases, b.image);
    /* Two that differ, one by its bytes and one by its name. */
    put_long(&b, "a.c", 'b');
    put_long(&b, "new", 'n');
    pack_next(&b, &bases);
    CHECK_INT(bases.used, 1);
    CHECK(b.end < whole - (size_t)(LONG_NAMES - 2) * LONG_TEXT + (size_t)LONG_NAMES * SHARED_ENTRY);
    push_base(&bases, b.image);
    /* The bytes are in the file that has them, not in the one between. */
    pack_next(&b, &bases);
    CHECK_INT(bases.used, 3);
    CHECK(b.end < whole - (size_t)LONG_NAMES * LONG_TEXT + (size_t)2 * LONG_NAMES * SHARED_ENTRY);
    CHECK_INT(unlinkat(b.place.fd, "a0", 0), 0);
    CHECK_INT(unpack(&b), 0);
    for (size_t i = 0; i < LONG_NAMES; i++)
        CHECK_INT(letter_of(&b, long_names[i]), i == 3 ? 'b' : 'a');
    CHECK_INT(letter_of(&b, "new"), 'n');
    bases_done(&bases);
    box_done(&b);
}

/* A write to mapped memory changes neither the size nor, in some file systems, the times. */
static void test_a_file_that_changed_without_its_times_is_stored(void)
{
    struct box b;
    struct image_bases bases = { 0 };
    struct stat st = { 0 };
    if (!box_init(&b))
        return;
    put_long(&b, "f", 'a');
    CHECK(fstatat(b.place.fd, "f", &st, 0) == 0);
    pack_next(&b, &bases);
    push_base(&bases, b.image);
    autoclose int fd = openat(b.place.fd, "f", O_WRONLY | O_CLOEXEC);
    CHECK(pwrite(fd, "b", 1, LONG_TEXT - 1) == 1);
    const struct timespec times[] = { st.st_atim, st.st_mtim };
    CHECK_INT(futimens(fd, times), 0);
    pack_next(&b, &bases);
    CHECK_INT(bases.used, 0);
    CHECK_INT(unpack(&b), 0);
    CHECK_INT(letter_of(&b, "f"), 'b');
    bases_done(&bases);
    box_done(&b);
}

static void test_names_of_one_file_stay_names_of_one_file(void)
{
    struct box b;
    struct stat st = { 0 }, other = { 0 };
    if (!box_init(&b))
        return;
    CHECK(mkdirat(b.place.fd, "sub", 0700) == 0);
    put(&b, "z", "first", 0640);
    put(&b, "alone", "first", 0640);
    CHECK(linkat(b.place.fd, "z", b.place.fd, "sub/a", 0) == 0);
    CHECK(linkat(b.place.fd, "z", b.place.fd, "b", 0) == 0);
    CHECK_INT(pack(&b, ROOM), 0);
    CHECK_STR(b.losses.text, "");
    CHECK_INT(unpack(&b), 0);
    check_file(&b, "sub/a", "first", 0640);
    CHECK(fstatat(b.place.fd, "z", &st, 0) == 0 && st.st_nlink == 3);
    CHECK(fstatat(b.place.fd, "sub/a", &other, 0) == 0 && st.st_ino == other.st_ino);
    CHECK(fstatat(b.place.fd, "b", &other, 0) == 0 && st.st_ino == other.st_ino);
    CHECK(fstatat(b.place.fd, "alone", &other, 0) == 0 && other.st_nlink == 1);
    /* A base with such names is read as any other. */
    struct image_bases bases = { 0 };
    put_long(&b, "zz", 'a');
    pack_next(&b, &bases);
    push_base(&bases, b.image);
    pack_next(&b, &bases);
    CHECK_INT(bases.used, 1);
    CHECK_INT(unpack(&b), 0);
    CHECK(fstatat(b.place.fd, "sub/a", &other, 0) == 0 && other.st_nlink == 3);
    bases_done(&bases);
    box_done(&b);
}

static void test_holes_stay_holes(void)
{
    enum { LARGE = 6 << 20 };
    struct box b;
    struct stat st = { 0 };
    char byte = 0;
    if (!box_init(&b))
        return;
    autoclose int fd = openat(b.place.fd, "f", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && ftruncate(fd, LARGE) == 0 && pwrite(fd, "x", 1, LARGE / 2) == 1);
    CHECK_INT(pack(&b, ROOM), 0);
    CHECK_STR(b.losses.text, "");
    CHECK_INT(unpack(&b), 0);
    autoclose int got = openat(b.place.fd, "f", O_RDONLY | O_CLOEXEC);
    CHECK(fstat(got, &st) == 0 && st.st_size == LARGE && st.st_blocks < LARGE / 512 / 8);
    CHECK_INT(st.st_mode & 07777, 0600);
    CHECK(pread(got, &byte, 1, LARGE / 2) == 1 && byte == 'x');
    CHECK(pread(got, &byte, 1, LARGE - 1) == 1 && byte == 0);
    box_done(&b);
}

static void test_files_in_a_base_that_is_missing_or_broken(void)
{
    struct box b;
    struct image_bases bases = { 0 };
    if (!box_init(&b))
        return;
    put_long(&b, "f", 'a');
    pack_next(&b, &bases);
    push_base(&bases, b.image);
    pack_next(&b, &bases);
    CHECK_INT(bases.used, 1);
    b.bases = NULL;
    CHECK_INT(unpack(&b), -1);
    CHECK_STR(why, "an earlier image that it needs is missing");
    b.bases = &bases;
    CHECK(pwrite(bases.fds[0], "\x09", 1, 24) == 1); /* its id */
    CHECK_INT(unpack(&b), -1);
    CHECK_STR(why, "an earlier image that it needs is missing");
    /* Each byte of the entries of a base may be wrong: the file is stored, or the bytes are there. */
    for (off_t at = IMAGE_FRONT; at < IMAGE_FRONT + 2 * HEAD; at++) {
        unsigned char was, wrong;
        put_long(&b, "f", 'a');
        CHECK(pread(bases.fds[0], &was, 1, at) == 1);
        wrong = was ^ 0x85;
        CHECK(pwrite(bases.fds[0], &wrong, 1, at) == 1);
        pack_next(&b, &bases);
        CHECK_INT(unpack(&b), 0);
        CHECK_INT(letter_of(&b, "f"), 'a');
        CHECK(pwrite(bases.fds[0], &was, 1, at) == 1);
    }
    bases_done(&bases);
    box_done(&b);
}

static const struct check_test tests[] = {
    TEST(test_files_come_back_as_they_were),
    TEST(test_names_of_one_file_stay_names_of_one_file),
    TEST(test_holes_stay_holes),
    TEST(test_the_layout_is_the_documented_one),
    TEST(test_large_files_and_many_files_are_whole),
    TEST(test_things_that_cannot_be_carried_are_named),
    TEST(test_no_more_than_the_room_is_written),
    TEST(test_files_that_are_cut_or_altered_are_refused),
    TEST(test_unchanged_files_are_stored_once),
    TEST(test_a_file_that_changed_without_its_times_is_stored),
    TEST(test_files_in_a_base_that_is_missing_or_broken),
};
CHECK_MAIN(tests)
