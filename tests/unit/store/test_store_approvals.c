#include "store/approval_rows.h"

#include "base/auto.h"
#include "database.h"
#include "store/db_query.h"
#include "store/run_rows.h"

static bool ask(struct db *db, char *id, char *thread, int64_t expires_ms)
{
    struct err e = { 0 };
    return OK(approvals_insert(db,
                               &(struct approval_row){ .id = id,
                                                       .thread = thread,
                                                       .run = "run_1",
                                                       .tool = "execute",
                                                       .input = "{}",
                                                       .risks = "[]",
                                                       .reason = "network",
                                                       .created_ms = 1,
                                                       .expires_ms = expires_ms },
                               &e));
}

static int decide(struct db *db, char *id, enum decision decision, int64_t now_ms, struct err *e)
{
    scoped(approval_row) row = { 0 };
    return approvals_decide(
        db,
        &(struct approval_row){
            .id = id, .decision = decision, .decided_by = "ann", .decided_ms = now_ms },
        &row, e);
}

static void test_an_approval_waits_and_is_decided(void)
{
    struct err e = { 0 };
    scoped(database) d;
    scoped(approval_row) before = { 0 };
    scoped(approval_row) after = { 0 };
    if (!database_init(&d) || !ask(d.db, "ap_1", "t", 1000))
        return;
    OK(approvals_get(d.db, "ap_1", &before, &e));
    CHECK_INT(before.decision, DECISION_PENDING);
    CHECK_STR(before.tool, "execute");
    CHECK_STR(before.run, "run_1");
    CHECK_STR(before.reason, "network");
    CHECK(!before.decided_by && !before.edited_input && before.decided_ms == 0);
    OK(approvals_decide(d.db,
                        &(struct approval_row){ .id = "ap_1",
                                                .decision = DECISION_EDIT,
                                                .decided_by = "ann",
                                                .decided_reason = "safer",
                                                .edited_input = "{2}",
                                                .remember = "thread",
                                                .decided_ms = 500 },
                        &after, &e));
    CHECK_INT(after.decision, DECISION_EDIT);
    CHECK_STR(after.decided_by, "ann");
    CHECK_STR(after.decided_reason, "safer");
    CHECK_STR(after.edited_input, "{2}");
    CHECK_STR(after.remember, "thread");
    CHECK_STR(after.input, "{}");
    CHECK_INT(after.decided_ms, 500);
}

static void test_a_second_decision_is_told_of_the_first(void)
{
    struct err e = { 0 };
    scoped(database) d;
    if (!database_init(&d) || !ask(d.db, "ap_1", "t", 0))
        return;
    OK(decide(d.db, "ap_1", DECISION_REJECT, 1700000000000, &e));
    CHECK_INT(decide(d.db, "ap_1", DECISION_APPROVE, 1700000001000, &e), -1);
    CHECK_INT(e.code, ERR_CONFLICT);
    CHECK_STR(e.text,
              "approval 'ap_1' is already decided: reject by 'ann' at 2023-11-14T22:13:20.000Z");
}

static void test_an_expired_approval_can_only_expire(void)
{
    struct err e = { 0 };
    scoped(database) d;
    if (!database_init(&d) || !ask(d.db, "ap_1", "t", 1000) || !ask(d.db, "ap_2", "t", 1000))
        return;
    CHECK_INT(decide(d.db, "ap_1", DECISION_APPROVE, 1000, &e), -1);
    CHECK_INT(e.code, ERR_CONFLICT);
    CHECK_STR(e.text, "approval 'ap_1' expired at 1970-01-01T00:00:01.000Z: ask again");
    OK(decide(d.db, "ap_1", DECISION_EXPIRED, 1000, &e));
    CHECK_INT(decide(d.db, "ap_1", DECISION_EXPIRED, 1000, &e), -1);
    OK(decide(d.db, "ap_2", DECISION_APPROVE, 999, &e));
}

static void test_what_is_not_there_is_named(void)
{
    struct err e = { 0 };
    scoped(database) d;
    scoped(approval_row) row = { 0 };
    if (!database_init(&d))
        return;
    CHECK_INT(decide(d.db, "ap_9", DECISION_APPROVE, 1, &e), -1);
    CHECK_INT(e.code, ERR_NOT_FOUND);
    CHECK_STR(e.text, "there is no approval 'ap_9'");
    CHECK_INT(decide(d.db, "ap_9", DECISION_PENDING, 1, &e), -1);
    CHECK_INT(e.code, ERR_BAD_REQUEST);
    CHECK_INT(approvals_pending_of(d.db, "t9", &row, &e), -1);
    CHECK_INT(e.code, ERR_NOT_FOUND);
}

static void test_the_oldest_pending_one_of_a_thread(void)
{
    struct err e = { 0 };
    scoped(database) d;
    scoped(approval_row) row = { 0 };
    if (!database_init(&d) || !ask(d.db, "ap_1", "t", 0) || !ask(d.db, "ap_2", "u", 0) ||
        !ask(d.db, "ap_3", "t", 0) || !ask(d.db, "ap_4", "t", 0))
        return;
    OK(decide(d.db, "ap_1", DECISION_APPROVE, 1, &e));
    OK(approvals_pending_of(d.db, "t", &row, &e));
    CHECK_STR(row.id, "ap_3");
}

static const char *listed(struct db *db, const char *decision, const char *thread, unsigned limit)
{
    static char text[64];
    struct err e = { 0 };
    size_t used = 0;
    int64_t before = 0;
    text[0] = '\0';
    do {
        scoped(approval_rows) rows = { 0 };
        if (!OK(approvals_list(db, decision, thread, before, limit, &rows, &e)))
            break;
        for (size_t i = 0; i < rows.n && used < sizeof text; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s ", rows.rows[i].id);
        before = rows.next_before_seq;
    } while (before);
    return text;
}

static void test_lists_are_newest_first_and_filtered(void)
{
    struct err e = { 0 };
    scoped(database) d;
    if (!database_init(&d) || !ask(d.db, "1", "t", 0) || !ask(d.db, "2", "u", 0) ||
        !ask(d.db, "3", "t", 0) || !ask(d.db, "4", NULL, 0))
        return;
    OK(decide(d.db, "1", DECISION_APPROVE, 1, &e));
    for (unsigned limit = 1; limit < 6; limit++) {
        CHECK_STR(listed(d.db, NULL, NULL, limit), "4 3 2 1 ");
        CHECK_STR(listed(d.db, "pending", NULL, limit), "4 3 2 ");
        CHECK_STR(listed(d.db, NULL, "t", limit), "3 1 ");
        CHECK_STR(listed(d.db, "approve", "t", limit), "1 ");
        CHECK_STR(listed(d.db, "reject", NULL, limit), "");
    }
}

static void test_rules_are_kept_until_removed(void)
{
    struct err e = { 0 };
    scoped(database) d;
    scoped(rule_rows) rules = { 0 };
    scoped(rule_rows) left = { 0 };
    if (!database_init(&d))
        return;
    for (int i = 0; i < 3; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "rule_%d", i);
        OK(rules_insert(d.db,
                        &(struct rule_row){ .id = id,
                                            .action = "deny",
                                            .tool = "execute",
                                            .language = i ? "bash" : NULL,
                                            .match = "contains",
                                            .text = "rm -rf",
                                            .made_by = "ann",
                                            .created_ms = 5 },
                        &e));
    }
    OK(rules_list(d.db, &rules, &e));
    if (!CHECK_INT(rules.n, 3))
        return;
    CHECK_STR(rules.rows[0].id, "rule_0");
    CHECK(!rules.rows[0].thread && !rules.rows[0].language);
    CHECK_STR(rules.rows[2].language, "bash");
    CHECK_STR(rules.rows[2].match, "contains");
    CHECK_STR(rules.rows[2].text, "rm -rf");
    OK(rules_delete(d.db, "rule_1", &e));
    CHECK_INT(rules_delete(d.db, "rule_1", &e), -1);
    CHECK_STR(e.text, "there is no rule 'rule_1'");
    OK(rules_list(d.db, &left, &e));
    CHECK_INT(left.n, 2);
}

static void test_approvals_of_a_run_count_for_its_key_and_go_with_it(void)
{
    struct err e = { 0 };
    scoped(database) d;
    int64_t bytes = 0, left = 0, removed = 0;
    bool more;
    if (!database_init(&d))
        return;
    OK(runs_insert(d.db, &(struct run_record){ .id = "run_1", .key = "alice", .created_ms = 1 },
                   &e));
    OK(approvals_insert(
        d.db,
        &(struct approval_row){
            .id = "ap_1", .run = "run_1", .input = "{\"code\":\"0123456789\"}", .created_ms = 1 },
        &e));
    OK(sql_number(d.db, "SELECT bytes FROM run_owners WHERE owner = 'alice'", &bytes, &e));
    CHECK(bytes > 1024);
    scoped(approval_row) decided = { 0 };
    OK(approvals_decide(
        d.db,
        &(struct approval_row){
            .id = "ap_1", .decision = DECISION_REJECT, .decided_by = "key:boss", .decided_ms = 2 },
        &decided, &e));
    OK(runs_finish(
        d.db, &(struct run_record){ .id = "run_1", .verdict = "rejected", .result = "{}" }, &e));
    OK(runs_retain(d.db, 10, 0, 1, 100, &more, &removed, &e));
    CHECK_INT(removed, 1);
    OK(sql_number(d.db, "SELECT count(*) FROM approvals", &left, &e));
    CHECK_INT(left, 0);
    OK(sql_number(d.db, "SELECT count(*) FROM run_owners", &left, &e));
    CHECK_INT(left, 0);
}

static const struct check_test tests[] = {
    TEST(test_approvals_of_a_run_count_for_its_key_and_go_with_it),
    TEST(test_an_approval_waits_and_is_decided),
    TEST(test_a_second_decision_is_told_of_the_first),
    TEST(test_an_expired_approval_can_only_expire),
    TEST(test_what_is_not_there_is_named),
    TEST(test_the_oldest_pending_one_of_a_thread),
    TEST(test_lists_are_newest_first_and_filtered),
    TEST(test_rules_are_kept_until_removed),
};
CHECK_MAIN(tests)
