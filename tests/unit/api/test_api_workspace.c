#include "api/execute/workspace.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/array.h"
#include "check.h"
#include "place.h"
#include "spec/bundle.h"

static const char program[] = ".generated_code.py";

struct scene {
    struct place place;
    struct buf bundle, files, problems;
    struct workspace_list given;
};

static void scene_done(struct scene *s)
{
    workspace_list_done(&s->given);
    buf_done(&s->bundle);
    buf_done(&s->files);
    buf_done(&s->problems);
    place_done(&s->place);
}

static int pack(struct scene *s, uint64_t max)
{
    struct err e = { 0 };
    return workspace_pack(s->place.fd, program, max, &s->bundle, &s->given, &e) ? (int)e.code : 0;
}

static void came_back(struct scene *s, const char *name, const char *text)
{
    struct err e = { 0 };
    CHECK_INT(bundle_add(&s->files, name, 0644, text, strlen(text), &e), 0);
}

static void update(struct scene *s, bool may_remove)
{
    struct err e = { 0 };
    if (!CHECK_INT(workspace_update(s->place.fd, program, &s->files, may_remove, &s->given,
                                    &s->problems, &e),
                   0))
        printf("    %s\n", e.text);
}

static void check_file(const struct scene *s, const char *name, const char *text)
{
    char got[256];
    if (CHECK(fd_read_file(s->place.fd, name, got, sizeof got) >= 0))
        CHECK_STR(got, text);
}

/* The content of the bundle, or NULL. */
static const char *packed(const struct scene *s, const char *name, char out[256])
{
    struct bundle_entry entry;
    struct err e = { 0 };
    bool more = true;
    for (size_t pos = 0; bundle_next(&s->bundle, &pos, &entry, &more, &e) == 0 && more;)
        if (entry.head.name_len == strlen(name) &&
            memcmp(entry.name, name, entry.head.name_len) == 0) {
            (void)snprintf(out, 256, "%.*s", (int)entry.head.size, entry.bytes);
            return out;
        }
    return NULL;
}

static void test_only_regular_files_go_in(void)
{
    scoped(scene) s = { 0 };
    char text[256];
    if (!place_init(&s.place))
        return;
    CHECK_INT(mkdirat(s.place.fd, "d", 0755), 0);
    place_file(&s.place, "a.txt", "alpha", 0644);
    place_file(&s.place, "d/b.txt", "beta", 0644);
    place_file(&s.place, program, "old", 0644);
    place_file(&s.place, ".belljar-new-0123", "half", 0644);
    CHECK_INT(symlinkat("/etc/passwd", s.place.fd, "link"), 0);
    CHECK_INT(symlinkat("/etc", s.place.fd, "dirlink"), 0);
    CHECK_INT(mkfifoat(s.place.fd, "fifo", 0644), 0);
    CHECK_INT(pack(&s, UINT64_MAX), 0);
    CHECK_INT(s.given.n, 2);
    CHECK_STR(packed(&s, "a.txt", text), "alpha");
    CHECK_STR(packed(&s, "d/b.txt", text), "beta");
}

static void test_too_much_is_refused(void)
{
    scoped(scene) s = { 0 };
    if (!place_init(&s.place))
        return;
    place_file(&s.place, "a", "12345", 0644);
    place_file(&s.place, "b", "12345", 0644);
    CHECK_INT(pack(&s, 9), ERR_TOO_LARGE);
    workspace_list_done(&s.given);
    CHECK_INT(pack(&s, 10), 0);
}

static void test_new_and_changed_files_are_written(void)
{
    scoped(scene) s = { 0 };
    if (!place_init(&s.place))
        return;
    place_file(&s.place, "changed", "old", 0644);
    place_file(&s.place, "same", "same", 0644);
    CHECK_INT(pack(&s, UINT64_MAX), 0);
    struct stat before, after;
    CHECK_INT(fstatat(s.place.fd, "same", &before, 0), 0);
    came_back(&s, "changed", "new");
    came_back(&s, "same", "same");
    came_back(&s, "x/y/z.txt", "deep");
    came_back(&s, program, "print(1)");
    update(&s, true);
    CHECK_INT(s.problems.len, 0);
    check_file(&s, "changed", "new");
    check_file(&s, "x/y/z.txt", "deep");
    CHECK_INT(fstatat(s.place.fd, "same", &after, 0), 0);
    CHECK_INT(before.st_ino, after.st_ino);
    CHECK(!place_has(&s.place, program));
    CHECK_INT(entries(s.place.fd, "."), 3);
}

static void test_files_a_run_removed_are_removed(void)
{
    scoped(scene) s = { 0 };
    if (!place_init(&s.place))
        return;
    CHECK_INT(mkdirat(s.place.fd, "d", 0755), 0);
    place_file(&s.place, "d/gone", "x", 0644);
    place_file(&s.place, "kept", "x", 0644);
    CHECK_INT(pack(&s, UINT64_MAX), 0);
    place_file(&s.place, "of another run", "x", 0644);
    came_back(&s, "kept", "x");
    update(&s, true);
    CHECK(!place_has(&s.place, "d"));
    CHECK(place_has(&s.place, "kept"));
    CHECK(place_has(&s.place, "of another run"));
}

static void test_nothing_is_removed_for_a_list_that_may_be_short(void)
{
    scoped(scene) s = { 0 };
    if (!place_init(&s.place))
        return;
    place_file(&s.place, "a", "x", 0644);
    CHECK_INT(pack(&s, UINT64_MAX), 0);
    update(&s, false);
    CHECK(place_has(&s.place, "a"));
}

static void test_files_and_directories_change_places(void)
{
    scoped(scene) s = { 0 };
    if (!place_init(&s.place))
        return;
    CHECK_INT(mkdirat(s.place.fd, "d", 0755), 0);
    place_file(&s.place, "d/inner", "x", 0644);
    place_file(&s.place, "f", "x", 0644);
    CHECK_INT(pack(&s, UINT64_MAX), 0);
    came_back(&s, "d", "now a file");
    came_back(&s, "f/inner", "now in a directory");
    update(&s, true);
    CHECK_STR(buf_str(&s.problems), "");
    check_file(&s, "d", "now a file");
    check_file(&s, "f/inner", "now in a directory");
}

static void test_nothing_outside_is_written_or_removed(void)
{
    scoped(scene) s = { 0 };
    scoped(place) outside = { .fd = -1 };
    if (!place_init(&s.place) || !place_init(&outside))
        return;
    place_file(&outside, "victim", "safe", 0644);
    CHECK_INT(mkdirat(s.place.fd, "d", 0755), 0);
    place_file(&s.place, "d/victim", "x", 0644);
    CHECK_INT(pack(&s, UINT64_MAX), 0);
    /* the directory turns into a link between the two */
    CHECK_INT(unlinkat(s.place.fd, "d/victim", 0), 0);
    CHECK_INT(unlinkat(s.place.fd, "d", AT_REMOVEDIR), 0);
    CHECK_INT(symlinkat(outside.path, s.place.fd, "d"), 0);
    char target[300];
    (void)snprintf(target, sizeof target, "%s/victim", outside.path);
    CHECK_INT(symlinkat(target, s.place.fd, "link"), 0);
    came_back(&s, "d/new", "evil");
    came_back(&s, "link", "evil");
    update(&s, true);
    CHECK_INT(entries(outside.fd, "."), 1);
    char got[64];
    CHECK(fd_read_file(outside.fd, "victim", got, sizeof got) == 4);
    CHECK_STR(got, "safe");
    CHECK(strstr(buf_str(&s.problems), "'d/new' was not kept") != NULL);
    struct stat st;
    CHECK(fstatat(s.place.fd, "link", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode));
}

static void test_results_can_be_read_by_others_whatever_our_umask(void)
{
    scoped(scene) s = { 0 };
    struct stat st = { 0 };
    if (!place_init(&s.place))
        return;
    came_back(&s, "plots/a/b.png", "x");
    mode_t mask = umask(077);
    update(&s, true);
    (void)umask(mask);
    CHECK(fstatat(s.place.fd, "plots", &st, 0) == 0 && (st.st_mode & 07777) == 0755);
    CHECK(fstatat(s.place.fd, "plots/a", &st, 0) == 0 && (st.st_mode & 07777) == 0755);
    CHECK(fstatat(s.place.fd, "plots/a/b.png", &st, 0) == 0 && (st.st_mode & 07777) == 0644);
}

static void test_names_that_lead_out_are_refused(void)
{
    static const char *const names[] = { "../x", "/etc/x", "a/../../x", "a//b", "." };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        scoped(scene) s = { 0 };
        struct err e = { 0 };
        if (!place_init(&s.place))
            return;
        came_back(&s, names[i], "evil");
        CHECK_INT(workspace_update(s.place.fd, program, &s.files, true, &s.given, &s.problems, &e),
                  -1);
        CHECK_INT(entries(s.place.fd, "."), 0);
    }
}

static void test_what_was_not_fetched_is_said_and_stays(void)
{
    scoped(scene) s = { 0 };
    struct err e = { 0 };
    if (!place_init(&s.place))
        return;
    place_file(&s.place, "big", "small", 0644);
    CHECK_INT(pack(&s, UINT64_MAX), 0);
    CHECK_INT(bundle_add_head(&s.files, "big", OUTPUT_TOO_LARGE, 0, 0, &e), 0);
    update(&s, true);
    check_file(&s, "big", "small");
    CHECK(strstr(buf_str(&s.problems),
                 "'big' was not kept: all files together have up to 64 MiB") != NULL);
}

static void test_depth_is_bounded(void)
{
    scoped(scene) s = { 0 };
    char name[200] = "";
    struct stat st;
    if (!place_init(&s.place))
        return;
    for (size_t i = 0; i < 120; i += 2)
        (void)snprintf(name + i, sizeof name - i, "a/");
    (void)snprintf(name + 120, sizeof name - 120, "f");
    came_back(&s, name, "deep");
    update(&s, true);
    CHECK(s.problems.len > 0);
    CHECK_INT(fstatat(s.place.fd, "a", &st, 0), -1); /* nor is a part of it made */
    CHECK_INT(pack(&s, UINT64_MAX), 0);
}

static void test_what_is_kept_can_be_given_to_the_next_run(void)
{
    static char large[40000];
    scoped(scene) s = { 0 };
    struct scene next = { 0 };
    if (!place_init(&s.place))
        return;
    memset(large, 'x', sizeof large - 1);
    CHECK_INT(pack(&s, 100000), 0); /* beside two others, which were given the same */
    place_file(&s.place, "other-1", large, 0644);
    place_file(&s.place, "other-2", large, 0644);
    came_back(&s, "mine", large);
    came_back(&s, "other-1", "smaller");
    came_back(&s, "mine-too", large);
    update(&s, true);
    CHECK(strstr(buf_str(&s.problems), "'mine' was not kept: the working directory is full"));
    check_file(&s, "other-1", "smaller");
    next.place.fd = s.place.fd;
    CHECK_INT(pack(&next, 100000), 0);
    CHECK_INT(next.given.n, 3);
    workspace_list_done(&next.given);
    buf_done(&next.bundle);
}

static unsigned mode_of(const struct scene *s, const char *name)
{
    struct stat st;
    return fstatat(s->place.fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_mode & 0177777 : 0;
}

static void came_back_as(struct scene *s, const char *name, uint32_t mode, const char *text)
{
    struct err e = { 0 };
    CHECK_INT(bundle_add(&s->files, name, mode, text, strlen(text), &e), 0);
}

static void test_modes_and_empty_directories_are_kept(void)
{
    scoped(scene) s = { 0 };
    if (!place_init(&s.place))
        return;
    place_file(&s.place, "same", "1", 0644);
    place_file(&s.place, "becomes-dir", "1", 0644);
    CHECK(mkdirat(s.place.fd, "stays", 0755) == 0 && mkdirat(s.place.fd, "goes", 0755) == 0 &&
          mkdirat(s.place.fd, "becomes-file", 0755) == 0);
    CHECK_INT(pack(&s, UINT64_MAX), 0);
    CHECK_INT(s.given.n, 5);
    came_back_as(&s, "same", 0755, "1"); /* only its mode is another */
    came_back_as(&s, "all", 0777, "x");
    came_back_as(&s, "none", 0, "x");
    came_back_as(&s, "set-uid", 04755, "x");
    came_back_as(&s, "stays", S_IFDIR | 0755, "");
    came_back_as(&s, "deep/er/empty", S_IFDIR | 0755, "");
    came_back_as(&s, "becomes-dir", S_IFDIR | 0755, "");
    came_back_as(&s, "becomes-file", 0644, "x");
    update(&s, true);
    CHECK_STR(buf_str(&s.problems), "");
    CHECK_INT(mode_of(&s, "same"), S_IFREG | 0755);
    CHECK_INT(mode_of(&s, "all"), S_IFREG | 0755); /* no other user writes it */
    CHECK_INT(mode_of(&s, "none"), S_IFREG | 0400);
    CHECK_INT(mode_of(&s, "set-uid"), S_IFREG | 0755);
    CHECK_INT(mode_of(&s, "stays"), S_IFDIR | 0755);
    CHECK_INT(mode_of(&s, "deep/er/empty"), S_IFDIR | 0755);
    CHECK_INT(mode_of(&s, "becomes-dir"), S_IFDIR | 0755);
    CHECK_INT(mode_of(&s, "becomes-file"), S_IFREG | 0644);
    CHECK_INT(mode_of(&s, "goes"), 0);
}

static const struct check_test tests[] = {
    TEST(test_modes_and_empty_directories_are_kept),
    TEST(test_only_regular_files_go_in),
    TEST(test_too_much_is_refused),
    TEST(test_new_and_changed_files_are_written),
    TEST(test_files_a_run_removed_are_removed),
    TEST(test_nothing_is_removed_for_a_list_that_may_be_short),
    TEST(test_files_and_directories_change_places),
    TEST(test_nothing_outside_is_written_or_removed),
    TEST(test_results_can_be_read_by_others_whatever_our_umask),
    TEST(test_names_that_lead_out_are_refused),
    TEST(test_what_was_not_fetched_is_said_and_stays),
    TEST(test_depth_is_bounded),
    TEST(test_what_is_kept_can_be_given_to_the_next_run),
};
CHECK_MAIN(tests)
