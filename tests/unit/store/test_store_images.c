#include "store/image_rows.h"

#include <string.h>

#include "base/auto.h"
#include "database.h"

static struct image_row example(char *id)
{
    struct image_row r = { .id = id,
                           .key = "alice",
                           .kind = "checkpoint",
                           .session = "ses_1",
                           .name = "before the join",
                           .language = "python",
                           .detail = "{\"not_carried\":[]}",
                           .cell = 7,
                           .bytes = 4096,
                           .created_ms = 10,
                           .stamp = {
                               .inode = 3, .bytes = 4096, .changed_ns = 5, .modified_ns = 6 } };
    memset(r.digest, 0xa5, sizeof r.digest);
    return r;
}

static void test_an_image_comes_back(void)
{
    struct err e = { 0 };
    scoped(database) d;
    scoped(image_rows) list = { 0 };
    struct image_row row = example("img_1");
    if (!database_init(&d) || !OK(images_insert(d.db, &row, &e)) ||
        !OK(images_list(d.db, &list, &e)))
        return;
    CHECK(list.n == 1);
    CHECK_STR(list.rows[0].id, "img_1");
    CHECK_STR(list.rows[0].key, "alice");
    CHECK_STR(list.rows[0].kind, "checkpoint");
    CHECK_STR(list.rows[0].session, "ses_1");
    CHECK_STR(list.rows[0].name, "before the join");
    CHECK_STR(list.rows[0].detail, "{\"not_carried\":[]}");
    CHECK(!list.rows[0].bases && list.rows[0].cell == 7 && list.rows[0].bytes == 4096);
    CHECK(memcmp(list.rows[0].digest, row.digest, sizeof row.digest) == 0);
    CHECK(memcmp(&list.rows[0].stamp, &row.stamp, sizeof row.stamp) == 0);
}

static void test_a_deleted_image_is_gone(void)
{
    struct err e = { 0 };
    scoped(database) d;
    scoped(image_rows) list = { 0 };
    struct image_row first = example("img_1"), second = example("img_2");
    if (!database_init(&d) || !OK(images_insert(d.db, &first, &e)) ||
        !OK(images_insert(d.db, &second, &e)) || !OK(images_delete(d.db, "img_1", &e)) ||
        !OK(images_list(d.db, &list, &e)))
        return;
    CHECK(list.n == 1);
    CHECK_STR(list.rows[0].id, "img_2");
    CHECK(images_delete(d.db, "img_1", &e) == -1 && e.code == ERR_NOT_FOUND);
}

static const struct check_test tests[] = {
    TEST(test_an_image_comes_back),
    TEST(test_a_deleted_image_is_gone),
};
CHECK_MAIN(tests)
