#include "base/auto.h"
#include "database.h"
#include "store/run_rows.h"

static void test_opening_twice_keeps_what_is_there(void)
{
    struct err e = { 0 };
    scoped(database) d;
    if (!database_init(&d))
        return;
    OK(runs_insert(d.db, &(struct run_record){ .id = "run_1", .language = "python" }, &e));
    db_close(d.db);
    d.db = NULL;
    OK(db_open(&d.db, d.place.path, DB_WRITE, &e));
    scoped(run_record) row = { 0 };
    OK(runs_get(d.db, "run_1", 0, &row, &e));
    CHECK_STR(row.language, "python");
}

static void test_nobody_else_may_read_what_is_made(void)
{
    scoped(database) d;
    struct stat st = { 0 };
    if (!database_init(&d))
        return;
    CHECK_INT(fstatat(d.place.fd, "belljar.db", &st, 0), 0);
    CHECK_INT(st.st_mode & 0777, 0600);
    CHECK_INT(fstatat(d.place.fd, "belljar.db-wal", &st, 0), 0);
    CHECK_INT(st.st_mode & 0777, 0600);
    CHECK_INT(fstatat(d.place.fd, "output", &st, 0), 0);
    CHECK_INT(st.st_mode & 0777, 0700);
}

static void refused(const struct place *p, enum db_mode mode, enum err_code code, const char *words)
{
    struct err e = { 0 };
    struct db *db = NULL;
    if (!CHECK_INT(db_open(&db, p->path, mode, &e), -1)) {
        db_close(db);
        return;
    }
    CHECK_INT(e.code, code);
    CHECK(db == NULL);
    CHECK(strstr(e.text, p->path) != NULL);
    if (!CHECK(strstr(e.text, words) != NULL))
        printf("    %s\n", e.text);
}

static void test_a_newer_schema_is_refused(void)
{
    scoped(database) d;
    if (!database_init(&d) || !meddle(&d.place, "PRAGMA user_version = 1000"))
        return;
    refused(&d.place, DB_WRITE, ERR_KERNEL, "schema 1000");
    refused(&d.place, DB_READ, ERR_KERNEL, "use a newer belljar");
}

static void test_a_file_that_is_no_database_is_refused(void)
{
    scoped(place) p;
    char text[4096];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    if (!place_init(&p) || !place_file(&p, "belljar.db", text, 0600))
        return;
    refused(&p, DB_WRITE, ERR_KERNEL, "is not a database: move it away");
    refused(&p, DB_READ, ERR_KERNEL, "is not a database");
}

static void test_another_programs_database_is_left_alone(void)
{
    scoped(place) p;
    if (!place_init(&p) || !meddle(&p, "CREATE TABLE theirs (x)"))
        return;
    refused(&p, DB_WRITE, ERR_KERNEL, "the database of another program");
    CHECK(!place_has(&p, "belljar.db-wal"));
}

static void test_reading_needs_a_database_and_makes_none(void)
{
    scoped(place) p;
    if (!place_init(&p))
        return;
    refused(&p, DB_READ, ERR_NOT_FOUND, "'belljar serve' creates");
    CHECK(!place_has(&p, "belljar.db"));
    CHECK(!place_has(&p, "output"));
    if (!place_file(&p, "belljar.db", "", 0600))
        return;
    refused(&p, DB_READ, ERR_NOT_FOUND, "is empty");
}

static void test_an_older_schema_is_only_read_after_its_update(void)
{
    scoped(place) p;
    struct err e = { 0 };
    struct db *db = NULL;
    if (!place_init(&p) || !meddle(&p, "PRAGMA application_id = 1112296018"))
        return;
    refused(&p, DB_READ, ERR_KERNEL, "updates it");
    if (OK(db_open(&db, p.path, DB_WRITE, &e))) {
        OK(runs_insert(db, &(struct run_record){ .id = "run_1" }, &e));
        db_close(db);
    }
}

static void test_a_reader_opens_while_a_writer_writes_and_cannot_write(void)
{
    struct err e = { 0 };
    struct db *reader = NULL;
    scoped(database) d;
    scoped(run_record) row = { 0 };
    if (!database_init(&d))
        return;
    OK(runs_insert(d.db, &(struct run_record){ .id = "run_1" }, &e));
    OK(db_begin(d.db, &e));
    OK(runs_insert(d.db, &(struct run_record){ .id = "run_2" }, &e));
    if (!OK(db_open(&reader, d.place.path, DB_READ, &e)))
        return;
    OK(runs_get(reader, "run_1", 0, &row, &e));
    CHECK_INT(runs_get(reader, "run_2", 0, &row, &e), -1);
    CHECK_INT(e.code, ERR_NOT_FOUND);
    CHECK_INT(runs_insert(reader, &(struct run_record){ .id = "run_3" }, &e), -1);
    CHECK_INT(e.code, ERR_KERNEL);
    OK(db_commit(d.db, &e));
    run_record_done(&row);
    OK(runs_get(reader, "run_2", 0, &row, &e));
    db_close(reader);
}

static void test_a_reader_opens_after_the_writer_left(void)
{
    struct err e = { 0 };
    scoped(database) d;
    scoped(run_record) row = { 0 };
    if (!database_init(&d))
        return;
    OK(runs_insert(d.db, &(struct run_record){ .id = "run_1" }, &e));
    db_close(d.db);
    d.db = NULL;
    CHECK(!place_has(&d.place, "belljar.db-wal"));
    if (OK(db_open(&d.db, d.place.path, DB_READ, &e)))
        OK(runs_get(d.db, "run_1", 0, &row, &e));
}

static void test_a_rollback_undoes(void)
{
    struct err e = { 0 };
    scoped(database) d;
    scoped(run_record) row = { 0 };
    if (!database_init(&d))
        return;
    OK(db_begin(d.db, &e));
    OK(runs_insert(d.db, &(struct run_record){ .id = "run_1" }, &e));
    db_rollback(d.db);
    db_rollback(d.db); /* harmless without one */
    CHECK_INT(runs_get(d.db, "run_1", 0, &row, &e), -1);
}

static void test_opening_and_failing_leak_no_descriptor(void)
{
    scoped(database) d;
    if (!database_init(&d))
        return;
    db_close(d.db);
    d.db = NULL;
    int before = open_fds();
    for (int i = 0; i < 3; i++) {
        struct err e = { 0 };
        struct db *db = NULL;
        if (OK(db_open(&db, d.place.path, DB_WRITE, &e)))
            db_close(db);
    }
    if (meddle(&d.place, "PRAGMA user_version = 1000"))
        refused(&d.place, DB_WRITE, ERR_KERNEL, "schema 1000");
    CHECK_INT(open_fds(), before);
}

static const struct check_test tests[] = {
    TEST(test_opening_twice_keeps_what_is_there),
    TEST(test_nobody_else_may_read_what_is_made),
    TEST(test_a_newer_schema_is_refused),
    TEST(test_a_file_that_is_no_database_is_refused),
    TEST(test_another_programs_database_is_left_alone),
    TEST(test_reading_needs_a_database_and_makes_none),
    TEST(test_an_older_schema_is_only_read_after_its_update),
    TEST(test_a_reader_opens_while_a_writer_writes_and_cannot_write),
    TEST(test_a_reader_opens_after_the_writer_left),
    TEST(test_a_rollback_undoes),
    TEST(test_opening_and_failing_leak_no_descriptor),
};
CHECK_MAIN(tests)
