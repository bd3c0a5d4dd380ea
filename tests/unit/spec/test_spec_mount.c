#include "spec/mount.h"

#include "base/array.h"
#include "base/strv.h"
#include "check.h"

static void test_mount_comes_back_as_it_was_added(void)
{
    struct err e = { 0 };
    char **list = NULL;
    struct mount_view m = { .root = 15, .secrets = true, .from = "/srv/a b", .name = "a" };
    CHECK_INT(mount_count(NULL), 0);
    CHECK_INT(mounts_check(NULL, 0, &e), 0);
    CHECK_INT(mount_add(&list, &m, &e), 0);
    m = (struct mount_view){ .root = 0, .from = "/srv", .name = "b" };
    CHECK_INT(mount_add(&list, &m, &e), 0);
    CHECK_INT(mount_count(list), 2);
    CHECK_INT(mount_at(list, 0, &m, &e), 0);
    CHECK(m.root == 15 && m.secrets);
    CHECK_STR(m.from, "/srv/a b");
    CHECK_INT(mount_at(list, 1, &m, &e), 0);
    CHECK(m.root == 0 && !m.secrets);
    CHECK_INT(mounts_check(list, 16, &e), 0);
    CHECK_INT(mounts_check(list, 15, &e), -1); /* there is no such root */
    strv_free(list);
}

static void test_list_from_a_stranger_is_checked(void)
{
    static const char *const rows[][7] = {
        { "0", "/srv" },        { "x", "/srv", "a" },
        { "", "/srv", "a" },    { "-1", "/srv", "a" },
        { "16", "/srv", "a" },  { "4294967296", "/srv", "a" },
        { "0x", "/srv", "a" },  { "0", "srv", "a" },
        { "0", "/", "a" },      { "0", "/srv/../etc", "a" },
        { "0", "/srv/", "a" },  { "0", "/srv//a", "a" },
        { "0", "/srv", "" },    { "0", "/srv", ".." },
        { "0", "/srv", "a/b" }, { "0", "/srv", "a", "0", "/srv/b", "a" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err e = { 0 };
        if (!CHECK_INT(mounts_check((char *const *)rows[i], 16, &e), -1))
            printf("    row %zu\n", i);
    }
}

static void test_path_beneath_a_root_is_found_by_whole_names(void)
{
    CHECK_STR(mount_beneath("/srv", "/srv"), "");
    CHECK_STR(mount_beneath("/srv", "/srv/a/b"), "a/b");
    CHECK(mount_beneath("/srv", "/srv2") == NULL);
    CHECK(mount_beneath("/srv/a", "/srv") == NULL);
}

static const struct check_test tests[] = {
    TEST(test_mount_comes_back_as_it_was_added),
    TEST(test_list_from_a_stranger_is_checked),
    TEST(test_path_beneath_a_root_is_found_by_whole_names),
};
CHECK_MAIN(tests)
