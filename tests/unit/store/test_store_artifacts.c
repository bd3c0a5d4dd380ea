#include "store/artifact_rows.h"

#include "base/auto.h"
#include "database.h"
#include "store/db_query.h"

static const struct artifact_quota any_size = { 0 };

static bool make(struct db *db, char *id, char *conversation)
{
    struct err e = { 0 };
    return OK(artifacts_insert(db,
                               &(struct artifact_row){ .id = id,
                                                       .owner = "alice",
                                                       .conversation = conversation,
                                                       .title = "first",
                                                       .content = "1",
                                                       .language = "python",
                                                       .type = "code",
                                                       .created_ms = 10 },
                               &any_size, &e));
}

static void test_an_artifact_comes_back(void)
{
    struct err e = { 0 };
    scoped(database) d;
    scoped(artifact_row) row = { 0 };
    if (!database_init(&d) || !make(d.db, "art_1", NULL))
        return;
    OK(artifacts_get(d.db, "art_1", NULL, &row, &e));
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
    OK(artifacts_update(d.db, "art_1", NULL, "2", NULL, 20, &any_size, &row, &e));
    CHECK_STR(row.title, "first");
    CHECK_STR(row.content, "2");
    CHECK(row.version == 2 && row.created_ms == 10 && row.updated_ms == 20);
    artifact_row_done(&row);
    OK(artifacts_update(d.db, "art_1", NULL, NULL, "third", 30, &any_size, &row, &e));
    CHECK_STR(row.title, "third");
    CHECK_STR(row.content, "2");
    OK(artifacts_versions(d.db, "art_1", NULL, &all, &e));
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
    OK(artifacts_update(d.db, "art_1", NULL, "new", NULL, 20, &any_size, &row, &e));
    OK(artifacts_delete(d.db, "art_3", NULL, &e));
    OK(artifacts_of_conversation(d.db, "c", NULL, &all, &e));
    if (CHECK_INT(all.n, 2)) {
        CHECK_STR(all.rows[0].id, "art_4");
        CHECK_STR(all.rows[1].id, "art_1");
        CHECK_STR(all.rows[1].content, "new");
    }
    OK(artifacts_of_conversation(d.db, "nobody", NULL, &none, &e));
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
    OK(artifacts_delete(d.db, "art_1", NULL, &e));
    for (int i = 0; i < 4; i++) {
        int rc = i == 0   ? artifacts_get(d.db, "art_1", NULL, &row, &e)
                 : i == 1 ? artifacts_update(d.db, "art_1", NULL, "x", NULL, 1, &any_size, &row, &e)
                 : i == 2 ? artifacts_delete(d.db, "art_1", NULL, &e)
                          : artifacts_versions(d.db, "art_1", NULL, &rows, &e);
        CHECK_INT(rc, -1);
        CHECK_INT(e.code, ERR_NOT_FOUND);
        CHECK_STR(e.text, "there is no artifact 'art_1'");
    }
}

static void test_an_artifact_exists_only_for_its_owner(void)
{
    scoped(database) d;
    struct err e = { 0 };
    scoped(artifact_row) row = { 0 };
    scoped(artifact_rows) rows = { 0 };
    scoped(artifact_rows) listed = { 0 };
    if (!database_init(&d) || !make(d.db, "art_1", "c"))
        return;
    for (int i = 0; i < 4; i++) {
        int rc = i == 0 ? artifacts_get(d.db, "art_1", "bob", &row, &e)
                 : i == 1
                     ? artifacts_update(d.db, "art_1", "bob", "x", NULL, 1, &any_size, &row, &e)
                 : i == 2 ? artifacts_delete(d.db, "art_1", "bob", &e)
                          : artifacts_versions(d.db, "art_1", "bob", &rows, &e);
        CHECK_INT(rc, -1);
        CHECK_INT(e.code, ERR_NOT_FOUND);
    }
    OK(artifacts_of_conversation(d.db, "c", "bob", &listed, &e));
    CHECK_INT(listed.n, 0);
    OK(artifacts_get(d.db, "art_1", "alice", &row, &e));
    CHECK_STR(row.content, "1");
    CHECK_STR(row.owner, "alice");
}

static int store_letters(struct db *db, char *id, char *owner, const struct artifact_quota *quota,
                         struct err *e)
{
    char content[1001];
    memset(content, 'x', sizeof content - 1);
    content[sizeof content - 1] = '\0';
    return artifacts_insert(db,
                            &(struct artifact_row){ .id = id,
                                                    .owner = owner,
                                                    .title = "t",
                                                    .content = content,
                                                    .language = "python",
                                                    .type = "code",
                                                    .created_ms = 10 },
                            quota, e);
}

static void test_artifacts_end_at_the_quota_and_deletion_makes_room(void)
{
    static const struct artifact_quota quota = { .owner_bytes = 4000, .all_bytes = 6500 };
    scoped(database) d;
    struct err e = { 0 };
    scoped(artifact_row) row = { 0 };
    if (!database_init(&d))
        return;
    OK(store_letters(d.db, "a1", "alice", &quota, &e));
    OK(store_letters(d.db, "a2", "alice", &quota, &e));
    CHECK_INT(artifacts_update(d.db, "a1", "alice", NULL, "u", 2, &quota, &row, &e), -1);
    CHECK_INT(e.code, ERR_QUOTA);
    CHECK(strstr(e.text, "this key") && strstr(e.text, "delete"));
    OK(store_letters(d.db, "b1", "bob", &quota, &e)); /* another owner has its own bytes */
    OK(store_letters(d.db, "c1", "carol", &quota, &e));
    CHECK_INT(store_letters(d.db, "b2", "bob", &quota, &e), -1);
    CHECK_INT(e.code, ERR_QUOTA);
    CHECK(strstr(e.text, "all keys") != NULL);
    OK(artifacts_delete(d.db, "a1", "alice", &e));
    OK(store_letters(d.db, "a3", "alice", &quota, &e));
    int64_t versions;
    OK(sql_number(d.db, "SELECT count(*) FROM artifact_versions", &versions, &e));
    /* The refused rows are those of a1 and b2: their transactions would have been undone. */
    CHECK_INT(versions, 4);
}

static const struct check_test tests[] = {
    TEST(test_an_artifact_comes_back),
    TEST(test_every_version_is_kept),
    TEST(test_a_conversation_lists_its_own_newest_first),
    TEST(test_what_was_deleted_is_not_found),
    TEST(test_an_artifact_exists_only_for_its_owner),
    TEST(test_artifacts_end_at_the_quota_and_deletion_makes_room),
};
CHECK_MAIN(tests)
