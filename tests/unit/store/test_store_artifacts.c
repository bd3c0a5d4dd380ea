#include "store/artifact_rows.h"

#include "base/auto.h"
#include "database.h"

static bool make(struct db *db, char *id, char *conversation)
{
    struct err e = { 0 };
    return OK(artifacts_insert(db,
                               &(struct artifact_row){ .id = id,
                                                       .conversation = conversation,
                                                       .title = "first",
                                                       .content = "1",
                                                       .language = "python",
                                                       .type = "code",
                                                       .created_ms = 10 },
                               &e));
}

static void test_an_artifact_comes_back(void)
{
    struct err e = { 0 };
    scoped(database) d;
    scoped(artifact_row) row = { 0 };
    if (!database_init(&d) || !make(d.db, "art_1", NULL))
        return;
    OK(artifacts_get(d.db, "art_1", &row, &e));
    CHECK_STR(row.title, "first");
    CHECK_STR(row.content, "1");
    CHECK_STR(row.language, "python");
    CHECK_STR(row.type, "code");
    CHECK(!row.conversation && !row.parent);
    CHECK(row.version == 1 && row.created_ms == 10 && row.updated_ms == 10);
}

static void test_every_version_is_kept(void)
{
    struct err e = { 0 };
    scoped(database) d;
    scoped(artifact_row) row = { 0 };
    scoped(artifact_rows) all = { 0 };
    if (!database_init(&d) || !make(d.db, "art_1", "c"))
        return;
    OK(artifacts_update(d.db, "art_1", "2", NULL, 20, &row, &e));
    CHECK_STR(row.title, "first");
    CHECK_STR(row.content, "2");
    CHECK(row.version == 2 && row.created_ms == 10 && row.updated_ms == 20);
    artifact_row_done(&row);
    OK(artifacts_update(d.db, "art_1", NULL, "third", 30, &row, &e));
    CHECK_STR(row.title, "third");
    CHECK_STR(row.content, "2");
    OK(artifacts_versions(d.db, "art_1", &all, &e));
    if (!CHECK_INT(all.n, 3))
        return;
    for (int i = 0; i < 3; i++) {
        CHECK_INT(all.rows[i].version, i + 1);
        CHECK_INT(all.rows[i].created_ms, 10 * (i + 1));
        CHECK_STR(all.rows[i].title, i == 2 ? "third" : "first");
        CHECK_STR(all.rows[i].content, i == 0 ? "1" : "2");
    }
}

static void test_a_conversation_lists_its_own_newest_first(void)
{
    struct err e = { 0 };
    scoped(database) d;
    scoped(artifact_rows) all = { 0 };
    scoped(artifact_rows) none = { 0 };
    scoped(artifact_row) row = { 0 };
    if (!database_init(&d) || !make(d.db, "art_1", "c") || !make(d.db, "art_2", "x") ||
        !make(d.db, "art_3", "c") || !make(d.db, "art_4", "c"))
        return;
    OK(artifacts_update(d.db, "art_1", "new", NULL, 20, &row, &e));
    OK(artifacts_delete(d.db, "art_3", 20, &e));
    OK(artifacts_of_conversation(d.db, "c", &all, &e));
    if (CHECK_INT(all.n, 2)) {
        CHECK_STR(all.rows[0].id, "art_4");
        CHECK_STR(all.rows[1].id, "art_1");
        CHECK_STR(all.rows[1].content, "new");
    }
    OK(artifacts_of_conversation(d.db, "nobody", &none, &e));
    CHECK_INT(none.n, 0);
}

static void test_what_was_deleted_is_not_found(void)
{
    scoped(database) d;
    struct err e = { 0 };
    scoped(artifact_row) row = { 0 };
    scoped(artifact_rows) rows = { 0 };
    if (!database_init(&d) || !make(d.db, "art_1", "c"))
        return;
    OK(artifacts_delete(d.db, "art_1", 20, &e));
    for (int i = 0; i < 4; i++) {
        int rc = i == 0   ? artifacts_get(d.db, "art_1", &row, &e)
                 : i == 1 ? artifacts_update(d.db, "art_1", "x", NULL, 1, &row, &e)
                 : i == 2 ? artifacts_delete(d.db, "art_1", 1, &e)
                          : artifacts_versions(d.db, "art_1", &rows, &e);
        CHECK_INT(rc, -1);
        CHECK_INT(e.code, ERR_NOT_FOUND);
        CHECK_STR(e.text, "there is no artifact 'art_1'");
    }
}

static const struct check_test tests[] = {
    TEST(test_an_artifact_comes_back),
    TEST(test_every_version_is_kept),
    TEST(test_a_conversation_lists_its_own_newest_first),
    TEST(test_what_was_deleted_is_not_found),
};
CHECK_MAIN(tests)
