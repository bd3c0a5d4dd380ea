#include "store/run_rows.h"

#include "base/array.h"
#include "base/auto.h"
#include "database.h"

static bool insert(struct db *db, const struct run_record *r)
{
    struct err e = { 0 };
    return OK(runs_insert(db, r, &e));
}

/* A run that is over, with all that a run may have. */
static bool finished(struct db *db, const char *id, const char *language, int64_t created_ms)
{
    struct err e = { 0 };
    scoped(buf) journal = { 0 };
    scoped(buf) files = { 0 };
    if (!OK(buf_add(&journal, "jour\0nal", 8, &e)) || !OK(buf_add(&files, "files", 5, &e)))
        return false;
    return insert(db, &(struct run_record){ .id = (char *)id,
                                            .state = RUN_QUEUED,
                                            .language = (char *)language,
                                            .request = "{\"code\":\"1\"}",
                                            .code = "print(1)",
                                            .created_ms = created_ms }) &&
           OK(runs_finish(db,
                          &(struct run_record){ .id = (char *)id,
                                                .verdict = "ok",
                                                .result = "{}",
                                                .started_ms = created_ms + 1,
                                                .finished_ms = created_ms + 2,
                                                .wall_us = 10,
                                                .cpu_us = 5,
                                                .memory_peak = 4096,
                                                .journal = journal,
                                                .files = files },
                          &e));
}

static int64_t counted_bytes(struct db *db)
{
    struct err e = { 0 };
    bool more;
    int64_t removed, low = 0, high = 1 << 30;
    /* Retention that removes nothing tells whether the history is larger: asked until it is
     * known. */
    while (low < high) {
        int64_t middle = (low + high) / 2;
        OK(db_begin(db, &e));
        OK(runs_retain(db, 1, 0, middle ? middle : 1, 1, &more, &removed, &e));
        db_rollback(db);
        if (removed)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void test_a_run_comes_back_as_it_was_put(void)
{
    struct err e = { 0 };
    scoped(database) d;
    scoped(run_record) row = { 0 };
    if (!database_init(&d))
        return;
    insert(d.db, &(struct run_record){ .id = "run_1",
                                       .state = RUN_WAITING,
                                       .language = "python",
                                       .key = "ci",
                                       .thread = "t",
                                       .artifact = "a",
                                       .batch = "b",
                                       .surface = "v1",
                                       .request = "{}",
                                       .code = "x",
                                       .created_ms = 7 });
    OK(runs_get(d.db, "run_1", RUN_WITH_JOURNAL | RUN_WITH_FILES, &row, &e));
    CHECK_INT(row.seq, 1);
    CHECK_INT(row.state, RUN_WAITING);
    CHECK_STR(row.language, "python");
    CHECK_STR(row.key, "ci");
    CHECK_STR(row.thread, "t");
    CHECK_STR(row.artifact, "a");
    CHECK_STR(row.batch, "b");
    CHECK_STR(row.surface, "v1");
    CHECK_STR(row.request, "{}");
    CHECK_STR(row.code, "x");
    CHECK(!row.verdict && !row.result && row.journal.len == 0 && row.files.len == 0);
    CHECK_INT(row.created_ms, 7);
    CHECK_INT(row.started_ms, 0);
}

static void test_texts_that_are_not_there_stay_away(void)
{
    struct err e = { 0 };
    scoped(database) d;
    scoped(run_record) row = { 0 };
    if (!database_init(&d))
        return;
    insert(d.db, &(struct run_record){ .id = "run_1", .state = RUN_QUEUED, .code = "" });
    OK(runs_get(d.db, "run_1", 0, &row, &e));
    CHECK(!row.language && !row.key && !row.thread && !row.artifact && !row.batch);
    CHECK(!row.surface && !row.request && !row.result);
    CHECK_STR(row.code, "");
}

static void test_a_finished_run_has_all_of_its_result(void)
{
    struct err e = { 0 };
    scoped(database) d;
    scoped(run_record) bare = { 0 };
    scoped(run_record) row = { 0 };
    if (!database_init(&d) || !finished(d.db, "run_1", "python", 100))
        return;
    OK(runs_get(d.db, "run_1", RUN_WITH_JOURNAL | RUN_WITH_FILES, &row, &e));
    CHECK_INT(row.state, RUN_FINISHED);
    CHECK_STR(row.verdict, "ok");
    CHECK_STR(row.result, "{}");
    CHECK_STR(row.code, "print(1)");
    CHECK(row.started_ms == 101 && row.finished_ms == 102);
    CHECK(row.wall_us == 10 && row.cpu_us == 5 && row.memory_peak == 4096);
    CHECK(row.journal.len == 8 && memcmp(row.journal.data, "jour\0nal", 8) == 0);
    CHECK(row.files.len == 5 && !row.journal_in_file);
    OK(runs_get(d.db, "run_1", RUN_WITHOUT_BLOBS, &bare, &e));
    CHECK(bare.journal.len == 0 && bare.files.len == 0);
}

static void test_an_approver_may_have_edited_the_code(void)
{
    struct err e = { 0 };
    scoped(database) d;
    scoped(run_record) row = { 0 };
    if (!database_init(&d))
        return;
    insert(d.db, &(struct run_record){ .id = "run_1", .code = "rm", .request = "{1}" });
    int64_t before = 512 + 2 + 3;
    OK(runs_finish(d.db, &(struct run_record){ .id = "run_1", .code = "ls -l" }, &e));
    OK(runs_get(d.db, "run_1", 0, &row, &e));
    CHECK_STR(row.code, "ls -l");
    CHECK_STR(row.request, "{1}");
    CHECK_INT(counted_bytes(d.db), before + 3);
}

static void test_a_run_is_finished_once(void)
{
    struct err e = { 0 };
    scoped(database) d;
    scoped(run_record) row = { 0 };
    if (!database_init(&d))
        return;
    insert(d.db, &(struct run_record){ .id = "run_1", .state = RUN_QUEUED });
    OK(runs_finish(d.db, &(struct run_record){ .id = "run_1", .verdict = "ok", .started_ms = 55 },
                   &e));
    CHECK_INT(runs_finish(d.db, &(struct run_record){ .id = "run_1", .verdict = "timeout" }, &e),
              -1);
    CHECK_INT(e.code, ERR_CONFLICT);
    OK(runs_get(d.db, "run_1", 0, &row, &e));
    CHECK_INT(row.state, RUN_FINISHED);
    CHECK_STR(row.verdict, "ok");
    CHECK_INT(row.started_ms, 55);
}

static void test_a_run_that_is_not_there_is_named(void)
{
    scoped(database) d;
    scoped(run_record) row = { 0 };
    if (!database_init(&d))
        return;
    for (int i = 0; i < 2; i++) {
        struct err e = { 0 };
        int rc = i == 0 ? runs_get(d.db, "run_x", 0, &row, &e)
                        : runs_finish(d.db, &(struct run_record){ .id = "run_x" }, &e);
        CHECK_INT(rc, -1);
        CHECK_INT(e.code, ERR_NOT_FOUND);
        CHECK_STR(e.text, "there is no run 'run_x'");
    }
}

static void test_an_id_is_taken_once(void)
{
    struct err e = { 0 };
    scoped(database) d;
    if (!database_init(&d) || !insert(d.db, &(struct run_record){ .id = "run_1" }))
        return;
    CHECK_INT(runs_insert(d.db, &(struct run_record){ .id = "run_1" }, &e), -1);
    CHECK_INT(e.code, ERR_CONFLICT);
}

/* Runs 1..12: threads, keys, languages and states in turn; time goes 100 a run. */
static bool fill(struct db *db)
{
    struct err e = { 0 };
    for (int i = 1; i <= 12; i++) {
        char id[16], code[32];
        (void)snprintf(id, sizeof id, "run_%d", i);
        (void)snprintf(code, sizeof code, "print('100%%_%d')", i);
        struct run_record r = { .id = id,
                                .state = i == 11 ? RUN_WAITING : RUN_QUEUED,
                                .language = i % 2 ? "python" : "c",
                                .key = i % 3 ? NULL : "ci",
                                .thread = i % 4 ? "t1" : "t2",
                                .artifact = i == 5 ? "a" : NULL,
                                .batch = i > 8 ? "b" : NULL,
                                .code = i == 7 ? NULL : code,
                                .created_ms = INT64_C(100) * i };
        if (!insert(db, &r))
            return false;
        if (i < 10 && !OK(runs_finish(db,
                                      &(struct run_record){ .id = id,
                                                            .verdict = i == 3 ? "timeout" : "ok",
                                                            .wall_us = i,
                                                            .cpu_us = 1,
                                                            .memory_peak = INT64_C(10) * i },
                                      &e)))
            return false;
    }
    return true;
}

/* The list, in pages of `limit`, as "12 11 10". */
static const char *listed(struct db *db, struct run_query q, unsigned limit)
{
    static char text[128];
    struct err e = { 0 };
    size_t used = 0;
    text[0] = '\0';
    q.limit = limit;
    do {
        scoped(run_records) rows = { 0 };
        if (!OK(runs_list(db, &q, &rows, &e)))
            break;
        CHECK(rows.n <= limit);
        for (size_t i = 0; i < rows.n && used < sizeof text; i++) {
            CHECK(!rows.rows[i].request && !rows.rows[i].code && !rows.rows[i].result);
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? " " : "",
                                     rows.rows[i].id + strlen("run_"));
        }
        q.before_seq = rows.next_before_seq;
    } while (q.before_seq);
    return text;
}

static void test_each_filter_finds_its_runs_page_by_page(void)
{
    static const struct {
        struct run_query q;
        const char *found;
    } rows[] = {
        { { 0 }, "12 11 10 9 8 7 6 5 4 3 2 1" },
        { { .language = "c" }, "12 10 8 6 4 2" },
        { { .verdict = "timeout" }, "3" },
        { { .verdict = "ok", .language = "python" }, "9 7 5 1" },
        { { .key = "ci" }, "12 9 6 3" },
        { { .thread = "t2" }, "12 8 4" },
        { { .artifact = "a" }, "5" },
        { { .batch = "b" }, "12 11 10 9" },
        { { .state = "waiting" }, "11" },
        { { .state = "queued" }, "12 10" },
        { { .state = "finished" }, "9 8 7 6 5 4 3 2 1" },
        { { .state = "finished", .language = "c" }, "8 6 4 2" },
        { { .state = "interrupted" }, "" },
        { { .since_ms = 900 }, "12 11 10 9" },
        { { .until_ms = 300 }, "2 1" },
        { { .since_ms = 300, .until_ms = 600 }, "5 4 3" },
        { { .since_ms = 300, .until_ms = 1000, .thread = "t1", .language = "python" }, "9 7 5 3" },
        { { .since_ms = 300, .language = "c" }, "12 10 8 6 4" },
        { { .q = "100%_1" }, "12 11 10 1" },
        { { .q = "%" }, "12 11 10 9 8 6 5 4 3 2 1" },
        { { .q = "100__" }, "" },
        { { .q = "_1", .thread = "t2", .since_ms = 1 }, "12" },
        { { .language = "' OR 1=1 --" }, "" },
    };
    scoped(database) d;
    if (!database_init(&d) || !fill(d.db))
        return;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (unsigned limit = 1; limit <= 13; limit += 3)
            if (!CHECK_STR(listed(d.db, rows[i].q, limit), rows[i].found))
                printf("    row %zu, limit %u\n", i, limit);
}

static void test_a_clock_that_was_set_back_loses_no_run(void)
{
    static const int64_t times[] = { 500, 300, 300, 400, 100 };
    scoped(database) d;
    if (!database_init(&d))
        return;
    for (int i = 0; i < 5; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "run_%d", i + 1);
        insert(d.db, &(struct run_record){ .id = id, .created_ms = times[i] });
    }
    for (unsigned limit = 1; limit < 6; limit++) {
        CHECK_STR(listed(d.db, (struct run_query){ .since_ms = 200 }, limit), "1 4 3 2");
        CHECK_STR(listed(d.db, (struct run_query){ 0 }, limit), "5 4 3 2 1");
    }
}

static void test_a_state_that_does_not_exist_is_refused(void)
{
    struct err e = { 0 };
    scoped(database) d;
    scoped(run_records) rows = { 0 };
    if (!database_init(&d))
        return;
    CHECK_INT(runs_list(d.db, &(struct run_query){ .state = "done", .limit = 1 }, &rows, &e), -1);
    CHECK_INT(e.code, ERR_BAD_REQUEST);
    CHECK_STR(e.text,
              "state 'done' is not known: use one of waiting queued running finished interrupted");
}

static void test_what_ran_when_the_service_died_is_interrupted(void)
{
    struct err e = { 0 };
    int64_t n = 0;
    scoped(database) d;
    scoped(run_record) row = { 0 };
    if (!database_init(&d) || !fill(d.db) ||
        !meddle(&d.place, "UPDATE runs SET state = 'running' WHERE id = 'run_10'"))
        return;
    OK(runs_interrupt_unfinished(d.db, 9999, "[\"run_12\",\"run_10\"]", &n, &e));
    CHECK_INT(n, 0);
    OK(runs_interrupt_unfinished(d.db, 9999, NULL, &n, &e));
    CHECK_INT(n, 2);
    CHECK_STR(listed(d.db, (struct run_query){ .state = "interrupted" }, 5), "12 10");
    CHECK_STR(listed(d.db, (struct run_query){ .state = "waiting" }, 5), "11");
    OK(runs_get(d.db, "run_10", 0, &row, &e));
    CHECK_INT(row.finished_ms, 9999);
    OK(runs_interrupt_unfinished(d.db, 9999, NULL, &n, &e));
    CHECK_INT(n, 0);
}

static void check_stats(struct db *db, int64_t since_ms, const char *words)
{
    struct err e = { 0 };
    autofree struct run_stat *stats = NULL;
    size_t n = 0, used = 0;
    char text[256] = "";
    if (!OK(runs_stats(db, since_ms, &stats, &n, &e)))
        return;
    for (size_t i = 0; i < n && used < sizeof text; i++)
        used += (size_t)snprintf(
            text + used, sizeof text - used,
            "%s %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "; ",
            stats[i].language, stats[i].verdict, stats[i].n, stats[i].wall_us_sum,
            stats[i].wall_us_max, stats[i].cpu_us_sum, stats[i].memory_peak_max);
    CHECK_STR(text, words);
}

static void test_statistics_count_finished_runs(void)
{
    scoped(database) d;
    if (!database_init(&d))
        return;
    check_stats(d.db, 0, "");
    if (!fill(d.db))
        return;
    check_stats(d.db, 0, "c ok 4 20 8 4 80; python ok 4 22 9 4 90; python timeout 1 3 3 1 30; ");
    check_stats(d.db, 700, "c ok 1 8 8 1 80; python ok 2 16 9 2 90; ");
    check_stats(d.db, 5000, "");
}

static void test_retention_by_age_leaves_what_is_not_over(void)
{
    struct err e = { 0 };
    bool more = true;
    int64_t removed = 0;
    scoped(database) d;
    if (!database_init(&d) || !fill(d.db))
        return;
    OK(runs_retain(d.db, 2000, 1700, 0, 100, &more, &removed, &e));
    CHECK_INT(removed, 2);
    CHECK(!more);
    OK(runs_retain(d.db, 100000, 1700, 0, 4, &more, &removed, &e));
    CHECK_INT(removed, 4);
    CHECK(more);
    CHECK_STR(listed(d.db, (struct run_query){ 0 }, 20), "12 11 10 9 8 7");
    OK(runs_retain(d.db, 100000, 1700, 0, 4, &more, &removed, &e));
    CHECK_INT(removed, 3);
    CHECK(!more);
    CHECK_STR(listed(d.db, (struct run_query){ 0 }, 20), "12 11 10");
    check_stats(d.db, 0, "c ok 4 20 8 4 80; python ok 4 22 9 4 90; python timeout 1 3 3 1 30; ");
}

static void test_retention_by_size_removes_the_oldest(void)
{
    struct err e = { 0 };
    bool more = true;
    int64_t removed = 0, each = 512 + 12 + 8 + 2 + 8 + 5;
    scoped(database) d;
    if (!database_init(&d))
        return;
    for (int i = 1; i <= 6; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "run_%d", i);
        if (!finished(d.db, id, "c", i))
            return;
    }
    CHECK_INT(counted_bytes(d.db), 6 * each);
    OK(runs_retain(d.db, 10, 0, 6 * each, 100, &more, &removed, &e));
    CHECK(removed == 0 && !more);
    OK(runs_retain(d.db, 10, 0, 4 * each + 1, 100, &more, &removed, &e));
    CHECK(removed == 2 && !more);
    CHECK_STR(listed(d.db, (struct run_query){ 0 }, 20), "6 5 4 3");
    CHECK_INT(counted_bytes(d.db), 4 * each);
    OK(runs_retain(d.db, 10, 0, 1, 3, &more, &removed, &e));
    CHECK(removed == 3 && more);
    /* The number of a run that is gone is not given again: a cursor stays where it was. */
    insert(d.db, &(struct run_record){ .id = "run_7" });
    OK(runs_retain(d.db, 10, 0, 1, 3, &more, &removed, &e));
    scoped(run_record) row = { 0 };
    OK(runs_get(d.db, "run_7", 0, &row, &e));
    CHECK_INT(row.seq, 7);
}

static void store_for(struct db *db, const char *key, const char *id, size_t letters)
{
    struct err e = { 0 };
    char *code = calloc(letters + 1, 1);
    if (!CHECK(code != NULL))
        return;
    memset(code, 'x', letters);
    insert(db, &(struct run_record){ .id = (char *)id, .key = (char *)key, .code = code });
    OK(runs_finish(db, &(struct run_record){ .id = (char *)id, .verdict = "ok", .result = "{}" },
                   &e));
    free(code);
}

static void test_retention_by_size_takes_from_the_key_that_uses_most(void)
{
    struct err e = { 0 };
    bool more = true;
    int64_t removed = 0;
    scoped(database) d;
    if (!database_init(&d))
        return;
    store_for(d.db, "alice", "run_1", 100); /* the oldest of all */
    store_for(d.db, NULL, "run_2", 100);
    for (int i = 3; i <= 8; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "run_%d", i);
        store_for(d.db, "bob", id, 10000);
    }
    OK(runs_retain(d.db, 10, 0, 25000, 100, &more, &removed, &e));
    CHECK_INT(removed, 4);
    CHECK_STR(listed(d.db, (struct run_query){ 0 }, 20), "8 7 2 1");
    OK(runs_retain(d.db, 10, 0, 1500, 100, &more, &removed, &e)); /* down to the shares of all */
    CHECK_STR(listed(d.db, (struct run_query){ 0 }, 20), "2 1");
}

static void test_retention_removes_files_after_their_rows(void)
{
    struct err e = { 0 };
    bool more = false;
    int64_t removed = 0;
    scoped(database) d;
    if (!database_init(&d) || !place_file(&d.place, "output/run_1", "12345678", 0600) ||
        !place_file(&d.place, "output/run_2", "x", 0600))
        return;
    for (int i = 1; i <= 2; i++) {
        char *id = i == 1 ? "run_1" : "run_2";
        insert(d.db, &(struct run_record){ .id = id, .created_ms = INT64_C(1000) * i });
        OK(runs_finish(d.db, &(struct run_record){ .id = id, .journal_in_file = true }, &e));
    }
    CHECK_INT(counted_bytes(d.db), 2 * 512 + 8 + 1);
    OK(db_begin(d.db, &e));
    OK(runs_retain(d.db, 2500, 1000, 0, 10, &more, &removed, &e));
    CHECK(removed == 1 && more);
    db_rollback(d.db);
    CHECK(place_has(&d.place, "output/run_1"));
    OK(runs_retain(d.db, 2500, 1000, 0, 10, &more, &removed, &e));
    CHECK(removed == 1 && more);
    OK(runs_retain(d.db, 2500, 1000, 0, 10, &more, &removed, &e));
    CHECK(removed == 0 && !more);
    CHECK(!place_has(&d.place, "output/run_1"));
    CHECK(place_has(&d.place, "output/run_2"));
}

static void test_what_an_interrupted_run_left_is_removed_with_it(void)
{
    struct err e = { 0 };
    bool more = false;
    int64_t n = 0;
    scoped(database) d;
    if (!database_init(&d) || !place_file(&d.place, "output/run_1", "12345678", 0600))
        return;
    insert(d.db, &(struct run_record){ .id = "run_1", .state = RUN_RUNNING, .created_ms = 1 });
    OK(runs_interrupt_unfinished(d.db, 2, NULL, &n, &e));
    for (int i = 0; i < 2; i++)
        OK(runs_retain(d.db, 1000, 10, 0, 10, &more, &n, &e));
    CHECK(!more && !place_has(&d.place, "output/run_1"));
    CHECK_STR(listed(d.db, (struct run_query){ 0 }, 20), "");
}

static const struct check_test tests[] = {
    TEST(test_a_run_comes_back_as_it_was_put),
    TEST(test_texts_that_are_not_there_stay_away),
    TEST(test_a_finished_run_has_all_of_its_result),
    TEST(test_an_approver_may_have_edited_the_code),
    TEST(test_a_run_is_finished_once),
    TEST(test_a_run_that_is_not_there_is_named),
    TEST(test_an_id_is_taken_once),
    TEST(test_each_filter_finds_its_runs_page_by_page),
    TEST(test_a_clock_that_was_set_back_loses_no_run),
    TEST(test_a_state_that_does_not_exist_is_refused),
    TEST(test_what_ran_when_the_service_died_is_interrupted),
    TEST(test_statistics_count_finished_runs),
    TEST(test_retention_by_age_leaves_what_is_not_over),
    TEST(test_retention_by_size_removes_the_oldest),
    TEST(test_retention_by_size_takes_from_the_key_that_uses_most),
    TEST(test_retention_removes_files_after_their_rows),
    TEST(test_what_an_interrupted_run_left_is_removed_with_it),
};
CHECK_MAIN(tests)
