/* The parts of images of session programs in C that need no database and no shell. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fdio.h"
#include "guests/session/descriptors.h"
#include "guests/sql/pg_state.h"

#include "base/array.h"
#include "check.h"
#include "edge.h"

/* ---- the state of PostgreSQL ---- */

static void test_statements_come_back_in_order(void)
{
    static const char *const statements[] = { "SET a = 1", "", "SELECT 'x'" };
    scoped(buf) state = { 0 };
    struct err e;
    size_t at = 0, n;
    const char *text;
    for (size_t i = 0; i < ARRAY_LEN(statements); i++)
        CHECK(pg_state_add(&state, statements[i], &e) == 0);
    for (size_t i = 0; i < ARRAY_LEN(statements); i++) {
        CHECK(pg_state_next(&state, &at, &text, &n) == 1);
        CHECK(n == strlen(statements[i]) && memcmp(text, statements[i], n) == 0);
    }
    CHECK(pg_state_next(&state, &at, &text, &n) == 0);
}

/* Any bytes: no read beyond them, and an end. */
static void test_a_state_that_is_cut_or_altered_is_read_within_its_bytes(void)
{
    scoped(buf) whole = { 0 };
    struct err e;
    CHECK(pg_state_add(&whole, "SET a = 1", &e) == 0 && pg_state_add(&whole, "SELECT 2", &e) == 0);
    for (size_t cut = 0; cut <= whole.len; cut++)
        for (size_t byte = 0; byte < cut; byte++)
            for (unsigned bit = 0; bit < 9; bit++) {
                size_t at = 0, n, steps = 0;
                const char *text;
                scoped(buf) changed = { 0 };
                CHECK(buf_add(&changed, whole.data, cut, &e) == 0);
                changed.data[byte] = (char)(changed.data[byte] ^ (bit < 8 ? 1 << bit : 0));
                const char *edge = edge_copy(changed.data, cut);
                /* NOLINTNEXTLINE(performance-no-int-to-ptr): only to drop `const` */
                struct buf state = { .data = (char *)(uintptr_t)edge, .len = cut };
                int more;
                while ((more = pg_state_next(&state, &at, &text, &n)) > 0 && ++steps <= cut)
                    CHECK(text >= edge && n <= (size_t)(edge + cut - text));
                CHECK(steps <= cut && at <= cut);
                CHECK(bit < 8 || (more == 0) == (cut == 0 || cut == 13 || cut == whole.len));
            }
}

static void test_a_front_page_that_lies_is_no_image(void)
{
    const struct pg_front good = { PG_FRONT_MAGIC, 8192, 100, 8292, 3, 0 };
    CHECK(pg_front_is_whole(&good, 8292));
    CHECK(!pg_front_is_whole(&good, 8291) && !pg_front_is_whole(&good, 8293));
    for (size_t byte = 0; byte < sizeof good; byte++) {
        struct pg_front f = good;
        ((unsigned char *)&f)[byte] ^= 0x10;
        bool counted = byte >= offsetof(struct pg_front, count) &&
                       byte < offsetof(struct pg_front, zero);
        CHECK(pg_front_is_whole(&f, 8292) == counted);
    }
    struct pg_front early = good;
    early.state_at = 8;
    early.state_bytes = 8284;
    CHECK(!pg_front_is_whole(&early, 8292));
}

static void test_names_of_settings_are_kept_once(void)
{
    static const char *const statements[] = {
        "SET app.name = 'x'",
        "  set session  App.Name to 'y'",
        "SELECT set_config('b.c', 'v', false), SET_CONFIG('d.e_1', 'v', true)",
        "SET search_path = a.b",
        "SET",
        "SELECT 'SET x.y = 1'",
        "SET\nz.w=1",
    };
    scoped(buf) settings = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(statements); i++)
        pg_state_see(&settings, statements[i]);
    static const char expected[] = "app.name\0b.c\0d.e_1\0z.w";
    CHECK(settings.len == sizeof expected && memcmp(settings.data, expected, sizeof expected) == 0);
}

/* ---- descriptors ---- */

struct names {
    struct image_losses losses;
    char text[512];
};

static void keep_name(struct image_losses *l, const char *name)
{
    struct names *n = (struct names *)l;
    size_t used = strlen(n->text);
    (void)snprintf(n->text + used, sizeof n->text - used, "%s;", name);
}

enum { SHARED = 50, TWIN, APART, DELETED, PIPE_END, CHANNEL, HIDDEN };

static void move_to(int fd, int number)
{
    if (fd < 0 || dup2(fd, number) < 0)
        _exit(2);
    (void)close(fd);
}

static void open_things(const char *dir)
{
    int ends[2];
    char path[256];
    (void)snprintf(path, sizeof path, "%s/kept", dir);
    move_to(open(path, O_RDWR | O_CREAT | O_APPEND, 0600), SHARED);
    if (write(SHARED, "hello world", 11) != 11 || lseek(SHARED, 6, SEEK_SET) != 6 ||
        dup3(SHARED, TWIN, O_CLOEXEC) < 0)
        _exit(3);
    move_to(open(path, O_RDWR | O_APPEND), APART);
    (void)lseek(APART, 6, SEEK_SET); /* the same place, but not the same offset */
    (void)snprintf(path, sizeof path, "%s/gone", dir);
    move_to(open(path, O_RDWR | O_CREAT, 0640), DELETED);
    if (write(DELETED, "lost and found", 14) != 14 || lseek(DELETED, 5, SEEK_SET) != 5 ||
        unlink(path) < 0 || pipe(ends) < 0)
        _exit(4);
    move_to(ends[0], PIPE_END);
    move_to(ends[1], HIDDEN);
}

/* In a child, because it closes everything. Returns a number that names the first difference. */
static int carry_descriptors(const char *dir)
{
    struct descriptor_plan plan;
    struct names lost = { .losses.add = keep_name };
    char why[IMAGE_WHY], bytes[64] = "";
    uint64_t at = IMAGE_FRONT;
    int image = memfd_create("image", MFD_CLOEXEC);
    open_things(dir);
    if (chdir(dir) < 0 || dup2(image, CHANNEL) < 0)
        return 5;
    struct descriptor_roles roles = { 1, { descriptor_identity_of(CHANNEL) } };
    const int skipped[] = { HIDDEN };
    if (descriptor_plan_make(&plan, &roles, skipped, 1, &lost.losses, why))
        return 6;
    if (!strstr(lost.text, "a pipe (descriptor 54);") || strstr(lost.text, "descriptor 56"))
        return 7;
    if (descriptor_plan_store(&plan, image, &at, IMAGE_FRONT + 13, why) == 0)
        return 8; /* no room */
    at = IMAGE_FRONT;
    if (descriptor_plan_store(&plan, image, &at, 1 << 20, why) || at != IMAGE_FRONT + 14)
        return 9;
    int fresh = open("/dev/null", O_RDWR | O_CLOEXEC), moved = dup(image);
    for (int i = SHARED; i <= HIDDEN; i++)
        (void)close(i);
    if (chdir("/") < 0)
        return 10;
    descriptor_plan_restore(&plan, &fresh, 1, moved);
    if (lseek(TWIN, 0, SEEK_CUR) != 6 || read(SHARED, bytes, 2) != 2 ||
        lseek(TWIN, 0, SEEK_CUR) != 8 || lseek(APART, 0, SEEK_CUR) != 6)
        return 11;
    if (!(fcntl(TWIN, F_GETFD) & FD_CLOEXEC) || fcntl(SHARED, F_GETFD) & FD_CLOEXEC ||
        !(fcntl(SHARED, F_GETFL) & O_APPEND))
        return 12;
    if (read(DELETED, bytes, sizeof bytes) != 9 || memcmp(bytes, "and found", 9) != 0)
        return 13;
    if (read(PIPE_END, bytes, 1) != 0 || fcntl(HIDDEN, F_GETFD) >= 0)
        return 14;
    autofree char *here = getcwd(NULL, 0);
    return here && strcmp(here, plan.folder) == 0 ? 0 : 15;
}

static void test_descriptors_come_back_with_their_offsets(void)
{
    char dir[] = "/tmp/belljar-descriptors-XXXXXX", path[300];
    int status = 0;
    CHECK(mkdtemp(dir));
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        _exit(carry_descriptors(dir));
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK_INT(WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status), 0);
    (void)snprintf(path, sizeof path, "%s/kept", dir);
    (void)unlink(path);
    CHECK(rmdir(dir) == 0);
}

static const struct check_test tests[] = {
    TEST(test_statements_come_back_in_order),
    TEST(test_a_state_that_is_cut_or_altered_is_read_within_its_bytes),
    TEST(test_a_front_page_that_lies_is_no_image),
    TEST(test_names_of_settings_are_kept_once),
    TEST(test_descriptors_come_back_with_their_offsets),
};
CHECK_MAIN(tests)
