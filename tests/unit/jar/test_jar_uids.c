/* In a mount namespace whose /run is empty: no other process's locks are seen, and none of ours
 * disturbs one. */
#include "jar/uids.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>

#include "base/array.h"
#include "check.h"
#include "child.h"
#include "place.h"

static bool own_run(void)
{
    return CHECK(unshare(CLONE_NEWNS) == 0) &&
           CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0) &&
           CHECK(mount("none", "/run", "tmpfs", 0, "size=1m") == 0);
}

static void with_own_run(void (*f)(void *))
{
    if (geteuid() != 0)
        return SKIP("only root has uids to give");
    CHECK_INT(in_child(f, NULL), 0);
}

static void two_pools(void *unused)
{
    (void)unused;
    struct err e = { 0 };
    static struct uids a, b, again;
    if (!own_run())
        return;
    CHECK_INT(uids_open(&a, &e), 0);
    CHECK_INT(uids_open(&b, &e), 0);
    CHECK_INT(a.base, UIDS_FIRST);
    CHECK_INT(b.base, UIDS_FIRST + UIDS_PER_BLOCK);
    uids_done(&a);
    CHECK_INT(a.lock_fd, -1);
    CHECK_INT(uids_open(&again, &e), 0);
    CHECK_INT(again.base, UIDS_FIRST); /* given back, it can be had again */
    uids_done(&again);
    uids_done(&b);
    uids_done(&b);
}

static void test_two_pools_never_share_a_uid(void)
{
    with_own_run(two_pools);
}

static void holder_dies(void *unused)
{
    (void)unused;
    struct err e = { 0 };
    static struct uids mine, theirs;
    int ready[2];
    char byte;
    if (!own_run() || !CHECK(fd_pipe(ready, &e) == 0))
        return;
    pid_t pid = fork();
    if (pid == 0) {
        byte = uids_open(&theirs, &e) == 0 && theirs.base == UIDS_FIRST;
        (void)!write(ready[1], &byte, 1);
        (void)pause();
        _exit(0);
    }
    CHECK(read(ready[0], &byte, 1) == 1 && byte);
    CHECK_INT(uids_open(&mine, &e), 0);
    CHECK_INT(mine.base, UIDS_FIRST + UIDS_PER_BLOCK);
    uids_done(&mine);
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK_INT(child_wait(pid), 128 + SIGKILL);
    CHECK_INT(uids_open(&mine, &e), 0);
    CHECK_INT(mine.base, UIDS_FIRST);
}

static void test_block_of_a_killed_process_is_free_again(void)
{
    with_own_run(holder_dies);
}

static void all_blocks(void *unused)
{
    (void)unused;
    struct err e = { 0 };
    static struct uids pool[UIDS_BLOCKS], one_more;
    if (!own_run())
        return;
    for (uint32_t i = 0; i < UIDS_BLOCKS; i++) {
        CHECK_INT(uids_open(&pool[i], &e), 0);
        CHECK_INT(pool[i].base, UIDS_FIRST + i * UIDS_PER_BLOCK);
    }
    CHECK(pool[UIDS_BLOCKS - 1].base + UIDS_PER_BLOCK - 1 < 0x7FFFFFFF); /* below the sign bit */
    CHECK_INT(uids_open(&one_more, &e), -1);
    CHECK_INT(e.code, ERR_UNAVAILABLE);
    CHECK(strstr(e.text, "256") != NULL);
}

static void test_when_every_block_is_taken_it_says_so(void)
{
    with_own_run(all_blocks);
}

/* No file is touched by the tests of a pool's inside. */
static struct uids bare_pool(void)
{
    return (struct uids){ .lock_fd = -1, .base = UIDS_FIRST };
}

static void test_every_uid_of_a_pool_is_given_once_and_then_none(void)
{
    struct err e = { 0 };
    static struct uids u;
    static bool seen[UIDS_PER_BLOCK];
    uint32_t uid = 7;
    u = bare_pool();
    for (int i = 0; i < UIDS_PER_BLOCK; i++) {
        if (!CHECK(uids_take(&u, &uid, &e) == 0) ||
            !CHECK(uid >= UIDS_FIRST && uid < UIDS_FIRST + UIDS_PER_BLOCK &&
                   !seen[uid - UIDS_FIRST]))
            return;
        seen[uid - UIDS_FIRST] = true;
    }
    uid = 7;
    CHECK_INT(uids_take(&u, &uid, &e), -1);
    CHECK_INT(uid, 7);
    CHECK_INT(e.code, ERR_UNAVAILABLE);
    uids_give_back(&u, UIDS_FIRST + 1234);
    CHECK_INT(uids_take(&u, &uid, &e), 0);
    CHECK_INT(uid, UIDS_FIRST + 1234);
    CHECK_INT(uids_take(&u, &uid, &e), -1);
}

static void test_uid_rests_before_it_is_given_again(void)
{
    struct err e = { 0 };
    static struct uids u;
    uint32_t first = 0, next = 0;
    u = bare_pool();
    CHECK_INT(uids_take(&u, &first, &e), 0);
    uids_give_back(&u, first);
    for (int i = 1; i < UIDS_PER_BLOCK; i++) {
        CHECK_INT(uids_take(&u, &next, &e), 0);
        CHECK(next != first);
        uids_give_back(&u, next);
    }
    CHECK_INT(uids_take(&u, &next, &e), 0);
    CHECK_INT(next, first);
}

static void test_uid_of_nobody_given_back_changes_nothing(void)
{
    static struct uids u, before;
    struct err e = { 0 };
    uint32_t uid;
    u = bare_pool();
    CHECK_INT(uids_take(&u, &uid, &e), 0);
    before = u;
    uids_give_back(&u, 0);
    uids_give_back(&u, UIDS_FIRST - 1);
    uids_give_back(&u, UIDS_FIRST + UIDS_PER_BLOCK);
    uids_give_back(&u, UINT32_MAX);
    CHECK(memcmp(u.used, before.used, sizeof u.used) == 0 && u.next == before.next);
}

static void strange_directory(void *unused)
{
    (void)unused;
    static const struct {
        mode_t mode;
        uid_t owner;
    } rows[] = { { 0777, 0 }, { 0770, 0 }, { 0702, 0 }, { 0700, 1000 } };
    static struct uids u;
    if (!own_run() || !CHECK(mkdir("/run/belljar", 0700) == 0))
        return;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err e = { 0 };
        CHECK(chmod("/run/belljar", rows[i].mode) == 0 &&
              chown("/run/belljar", rows[i].owner, 0) == 0);
        CHECK_INT(uids_open(&u, &e), -1);
        CHECK(strstr(e.text, "/run/belljar") != NULL);
    }
    struct err e = { 0 };
    CHECK(rmdir("/run/belljar") == 0 && mkdir("/run/elsewhere", 0700) == 0);
    CHECK_INT(symlink("/run/elsewhere", "/run/belljar"), 0);
    CHECK_INT(uids_open(&u, &e), -1);
    CHECK_INT(entries(AT_FDCWD, "/run/elsewhere"), 0);
}

static void test_directory_that_others_could_write_is_not_trusted(void)
{
    with_own_run(strange_directory);
}

static void few_uids(void *unused)
{
    (void)unused;
    struct err e = { 0 };
    CHECK(uids_exist());
    if (!CHECK(unshare(CLONE_NEWUSER) == 0))
        return;
    CHECK(!uids_exist()); /* nobody has a uid here yet */
    CHECK_INT(fd_write_file(AT_FDCWD, "/proc/self/uid_map", "0 0 1", &e), 0);
    CHECK(!uids_exist());
}

static void test_container_without_these_uids_is_known(void)
{
    with_own_run(few_uids);
}

static const struct check_test tests[] = {
    TEST(test_two_pools_never_share_a_uid),
    TEST(test_block_of_a_killed_process_is_free_again),
    TEST(test_when_every_block_is_taken_it_says_so),
    TEST(test_every_uid_of_a_pool_is_given_once_and_then_none),
    TEST(test_uid_rests_before_it_is_given_again),
    TEST(test_uid_of_nobody_given_back_changes_nothing),
    TEST(test_directory_that_others_could_write_is_not_trusted),
    TEST(test_container_without_these_uids_is_known),
};
CHECK_MAIN(tests)
