#include "base/tree.h"

#include <sys/resource.h>

#include "base/array.h"
#include "check.h"
#include "child.h"
#include "place.h"

static void check_removed(const struct place *p, const char *name)
{
    struct err e = { 0 };
    int before = open_fds();
    if (!CHECK_INT(tree_remove(p->fd, name, &e), 0))
        printf("    %s\n", e.text);
    CHECK(!place_has(p, name));
    CHECK_INT(open_fds(), before);
}

/* name/d/d/d..., made downwards with one descriptor at a time. */
static bool make_deep(const struct place *p, const char *name, int levels)
{
    int at = dup(p->fd);
    for (int i = 0; at >= 0 && i < levels; i++) {
        const char *part = i == 0 ? name : "d";
        int next = -1;
        if (mkdirat(at, part, 0755) == 0)
            next = openat(at, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        (void)close(at);
        at = next;
    }
    bool made = CHECK(at >= 0);
    fd_close(&at);
    return made;
}

static void remove_deep_with_few_descriptors(void *place)
{
    struct rlimit few = { 16, 16 };
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &few), 0);
    check_removed(place, "deep");
}

static void test_tree_of_twenty_thousand_levels_goes(void)
{
    struct place p;
    if (!place_init(&p))
        return;
    if (make_deep(&p, "deep", 20000))
        CHECK_INT(in_child(remove_deep_with_few_descriptors, &p), 0);
    CHECK_INT(entries(p.fd, "."), 0);
    place_done(&p);
}

static void test_wide_and_deep_tree_goes(void)
{
    struct place p;
    char name[64];
    if (!place_init(&p))
        return;
    CHECK_INT(mkdirat(p.fd, "wide", 0755), 0);
    for (int i = 0; i < 30; i++) {
        (void)snprintf(name, sizeof name, "wide/dir%d", i);
        make_deep(&p, name, 1 + i);
        for (int k = 0; k < 10; k++) {
            (void)snprintf(name, sizeof name, "wide/dir%d/file%d", i, k);
            place_file(&p, name, "x", 0600);
        }
    }
    check_removed(&p, "wide");
    CHECK_INT(entries(p.fd, "."), 0);
    place_done(&p);
}

static void remove_locked_tree(void *place)
{
    struct place *p = place;
    CHECK(become_ordinary());
    CHECK_INT(mkdirat(p->fd, "locked", 0755), 0);
    CHECK_INT(mkdirat(p->fd, "locked/a", 0755), 0);
    CHECK_INT(mkdirat(p->fd, "locked/a/b", 0755), 0);
    place_file(p, "locked/a/b/file", "x", 0);
    CHECK_INT(mkdirat(p->fd, "locked/empty", 0), 0);
    CHECK_INT(mkdirat(p->fd, "locked/unreadable", 0300), 0);
    CHECK_INT(mkdirat(p->fd, "locked/unwritable", 0755), 0);
    place_file(p, "locked/unwritable/file", "x", 0400);
    CHECK_INT(fchmodat(p->fd, "locked/unwritable", 0500, 0), 0);
    CHECK_INT(fchmodat(p->fd, "locked/a/b", 0, 0), 0);
    CHECK_INT(fchmodat(p->fd, "locked/a", 0, 0), 0);
    CHECK_INT(fchmodat(p->fd, "locked", 0, 0), 0);
    check_removed(p, "locked");
    CHECK_INT(entries(p->fd, "."), 0);
}

static void test_directories_without_any_permission_go(void)
{
    struct place p;
    if (!place_init(&p))
        return;
    CHECK_INT(fchmod(p.fd, 0777), 0);
    CHECK_INT(in_child(remove_locked_tree, &p), 0);
    place_done(&p);
}

static void test_symbolic_links_are_removed_and_not_followed(void)
{
    struct place p;
    char outside[300];
    if (!place_init(&p))
        return;
    CHECK_INT(mkdirat(p.fd, "outside", 0755), 0);
    CHECK_INT(mkdirat(p.fd, "outside/kept", 0755), 0);
    place_file(&p, "outside/kept/file", "x", 0644);
    CHECK_INT(fchmodat(p.fd, "outside", 0500, 0), 0);
    place_file(&p, "single", "x", 0644);
    CHECK_INT(mkdirat(p.fd, "tree", 0755), 0);
    CHECK_INT(mkdirat(p.fd, "tree/sub", 0755), 0);
    (void)snprintf(outside, sizeof outside, "%s/outside", p.path);
    CHECK_INT(symlinkat(outside, p.fd, "tree/absolute"), 0);
    CHECK_INT(symlinkat("../outside", p.fd, "tree/relative"), 0);
    CHECK_INT(symlinkat("../../outside/kept", p.fd, "tree/sub/deeper"), 0);
    CHECK_INT(symlinkat("../single", p.fd, "tree/file"), 0);
    CHECK_INT(symlinkat("nowhere", p.fd, "tree/dangling"), 0);
    CHECK_INT(symlinkat("loop", p.fd, "tree/loop"), 0);
    CHECK_INT(symlinkat("..", p.fd, "tree/up"), 0);
    CHECK_INT(linkat(p.fd, "single", p.fd, "tree/hard", 0), 0);
    check_removed(&p, "tree");
    struct stat st;
    CHECK(place_has(&p, "outside/kept/file") && place_has(&p, "single"));
    CHECK(fstatat(p.fd, "outside", &st, 0) == 0 && (st.st_mode & 0777) == 0500);
    place_done(&p);
}

/* The call may fail or not; the target of the link must stay. */
static void test_tree_that_is_a_link_leaves_its_target_alone(void)
{
    struct place p;
    struct err e = { 0 };
    if (!place_init(&p))
        return;
    CHECK_INT(mkdirat(p.fd, "outside", 0755), 0);
    place_file(&p, "outside/file", "x", 0644);
    CHECK_INT(symlinkat("../outside", p.fd, "work"), 0); /* from where it is moved to, too */
    (void)!tree_remove(p.fd, "work", &e);
    CHECK(place_has(&p, "outside/file"));
    place_done(&p);
}

static void test_names_do_not_matter(void)
{
    /* the removal itself uses numbers as names */
    static const char *const names[] = {
        "0",    "1",        "2",
        "3",    "00",       "18446744073709551615",
        "-",    "-rf",      "...",
        " ",    "\n",       "a\nb",
        "\xFF", "\xC0\xAF", "\x1B[2J",
        "*",    "$(x)",     "removing",
        "\x01", "tree",     "tree.removing",
    };
    struct place p;
    char path[600];
    if (!place_init(&p))
        return;
    CHECK_INT(mkdirat(p.fd, "tree", 0755), 0);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        (void)snprintf(path, sizeof path, "tree/%s", names[i]);
        CHECK_INT(mkdirat(p.fd, path, 0755), 0);
        for (size_t k = 0; k < ARRAY_LEN(names); k++) {
            (void)snprintf(path, sizeof path, "tree/%s/%s", names[i], names[k]);
            CHECK_INT(mkdirat(p.fd, path, 0755), 0);
            (void)snprintf(path, sizeof path, "tree/%s/%s/0", names[i], names[k]);
            place_file(&p, path, "x", 0644);
        }
    }
    check_removed(&p, "tree");
    CHECK_INT(entries(p.fd, "."), 0);
    place_done(&p);
}

static void test_longest_names_go(void)
{
    struct place p;
    char name[256], inner[520];
    memset(name, 'n', 255);
    name[255] = '\0';
    if (!place_init(&p))
        return;
    CHECK_INT(mkdirat(p.fd, name, 0755), 0);
    (void)snprintf(inner, sizeof inner, "%s/%s", name, name);
    CHECK_INT(mkdirat(p.fd, inner, 0755), 0);
    check_removed(&p, name);
    CHECK_INT(entries(p.fd, "."), 0);
    place_done(&p);
}

static void test_every_kind_of_file_goes(void)
{
    struct place p;
    if (!place_init(&p))
        return;
    CHECK_INT(mkdirat(p.fd, "kinds", 0755), 0);
    CHECK_INT(mkfifoat(p.fd, "kinds/fifo", 0), 0);
    CHECK_INT(mknodat(p.fd, "kinds/socket", S_IFSOCK, 0), 0);
    place_file(&p, "kinds/no-mode", "x", 0);
    place_file(&p, "kinds/setuid", "x", 04755);
    check_removed(&p, "kinds");
    place_done(&p);
}

static void test_missing_and_empty_trees_are_success(void)
{
    struct place p;
    if (!place_init(&p))
        return;
    check_removed(&p, "never-made");
    CHECK_INT(mkdirat(p.fd, "empty", 0755), 0);
    check_removed(&p, "empty");
    CHECK_INT(entries(p.fd, "."), 0);
    place_done(&p);
}

static void test_removal_that_was_interrupted_is_taken_up_again(void)
{
    struct place p;
    if (!place_init(&p))
        return;
    CHECK(mkdirat(p.fd, "work", 0755) == 0 && mkdirat(p.fd, "work/d", 0755) == 0);
    CHECK(mkdirat(p.fd, "work.removing", 0755) == 0 && mkdirat(p.fd, "work.removing/0", 0755) == 0);
    place_file(&p, "work.removing/0/left", "x", 0644);
    check_removed(&p, "work");
    CHECK_INT(entries(p.fd, "."), 0);
    CHECK(mkdirat(p.fd, "gone.removing", 0755) == 0 && mkdirat(p.fd, "gone.removing/7", 0755) == 0);
    check_removed(&p, "gone");
    CHECK_INT(entries(p.fd, "."), 0);
    place_done(&p);
}

static void test_file_in_the_place_of_a_tree_goes(void)
{
    struct place p;
    if (!place_init(&p))
        return;
    place_file(&p, "work", "x", 0644);
    check_removed(&p, "work");
    CHECK_INT(entries(p.fd, "."), 0);
    place_done(&p);
}

static const struct check_test tests[] = {
    TEST(test_removal_that_was_interrupted_is_taken_up_again),
    TEST(test_file_in_the_place_of_a_tree_goes),
    TEST(test_tree_of_twenty_thousand_levels_goes),
    TEST(test_wide_and_deep_tree_goes),
    TEST(test_directories_without_any_permission_go),
    TEST(test_symbolic_links_are_removed_and_not_followed),
    TEST(test_tree_that_is_a_link_leaves_its_target_alone),
    TEST(test_names_do_not_matter),
    TEST(test_longest_names_go),
    TEST(test_every_kind_of_file_goes),
    TEST(test_missing_and_empty_trees_are_success),
};
CHECK_MAIN(tests)
