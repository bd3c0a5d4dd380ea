#include "store/key_rows.h"

#include "base/array.h"
#include "base/auto.h"
#include "database.h"
#include "store/audit_log.h"

static void test_a_key_is_random_text_and_its_hash(void)
{
    struct err e = { 0 };
    char a[KEY_TEXT_MAX], b[KEY_TEXT_MAX];
    uint8_t hash_a[KEY_HASH_BYTES], hash_b[KEY_HASH_BYTES], again[KEY_HASH_BYTES];
    OK(key_make(a, hash_a, &e));
    OK(key_make(b, hash_b, &e));
    CHECK_INT(strlen(a), 4 + 43);
    CHECK(strncmp(a, "blj_", 4) == 0);
    CHECK(strspn(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == 47);
    CHECK(strcmp(a, b) != 0);
    key_hash(a, again);
    CHECK(key_hash_equal(hash_a, again));
    CHECK(!key_hash_equal(hash_a, hash_b));
}

static void test_scopes_are_words(void)
{
    struct err e = { 0 };
    scope_set set = 0;
    char text[64];
    OK(scopes_parse("run,read", &set, &e));
    CHECK_INT(set, SCOPE_BIT(SCOPE_RUN) | SCOPE_BIT(SCOPE_READ));
    CHECK_STR(scopes_format(set, text, sizeof text), "run,read");
    CHECK_STR(scopes_format(SCOPES_ALL, text, sizeof text), "run,read,approve,admin");
    CHECK_STR(scopes_format(0, text, sizeof text), "");
    CHECK_STR(scopes_format(SCOPES_ALL, text, 6), "run,r");
    CHECK_STR(scope_word(SCOPE_ADMIN), "admin");
}

static void test_scopes_that_do_not_exist_are_refused(void)
{
    static const char *const wrong[] = {
        "", "run,", ",run", "runs", "Run", "run,,read", "run read"
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct err e = { 0 };
        scope_set set = 77;
        CHECK_INT(scopes_parse(wrong[i], &set, &e), -1);
        CHECK_INT(set, 77);
        CHECK(strstr(e.text, "run read approve admin") != NULL);
    }
}

static void test_names_that_are_not_accepted(void)
{
    struct err e = { 0 };
    char longest[KEY_NAME_MAX + 2];
    memset(longest, 'a', sizeof longest);
    longest[KEY_NAME_MAX + 1] = '\0';
    CHECK_INT(key_name_check(longest, &e), -1);
    longest[KEY_NAME_MAX] = '\0';
    OK(key_name_check(longest, &e));
    OK(key_name_check("Ci-1_x.y", &e));
    CHECK_INT(key_name_check("", &e), -1);
    CHECK_INT(key_name_check("a b", &e), -1);
    CHECK_INT(key_name_check("a/b", &e), -1);
    CHECK_INT(e.code, ERR_BAD_REQUEST);
}

static void test_keys_are_listed_by_name_and_removed(void)
{
    struct err e = { 0 };
    scoped(database) d;
    autofree struct key_row *keys = NULL, *left = NULL;
    size_t n = 0;
    if (!database_init(&d))
        return;
    struct key_row k = { .name = "web", .scopes = SCOPE_BIT(SCOPE_RUN), .created_ms = 5 };
    key_hash("one", k.hash);
    OK(keys_add(d.db, &k, "service", &e));
    struct key_row second = { .name = "ci", .scopes = SCOPES_ALL, .max_runs = 7 };
    key_hash("two", second.hash);
    OK(keys_add(d.db, &second, "service", &e));
    OK(keys_list(d.db, &keys, &n, &e));
    if (!CHECK_INT(n, 2))
        return;
    CHECK_STR(keys[0].name, "ci");
    CHECK_INT(keys[0].scopes, SCOPES_ALL);
    CHECK_INT(keys[0].max_runs, 7);
    CHECK(key_hash_equal(keys[0].hash, second.hash));
    CHECK_STR(keys[1].name, "web");
    CHECK_INT(keys[1].scopes, SCOPE_BIT(SCOPE_RUN));
    CHECK_INT(keys[1].created_ms, 5);
    OK(keys_remove(d.db, "ci", "service", 7, &e));
    CHECK_INT(keys_remove(d.db, "ci", "service", 7, &e), -1);
    CHECK_STR(e.text, "there is no key 'ci'");
    OK(keys_list(d.db, &left, &n, &e));
    CHECK_INT(n, 1);
}

static int note_record(void *context, const struct audit_record *r)
{
    struct err e;
    const char *digest = strstr(r->detail, ",\"digest\":"); /* of the row */
    int n = digest ? (int)(digest - r->detail) : (int)strlen(r->detail);
    return buf_addf(context, &e, "%s %s by %s %.*s%s\n", r->kind, r->subject, r->actor, n,
                    r->detail, digest ? ",DIGEST}" : "");
}

static void test_every_change_of_keys_is_on_record(void)
{
    struct err e = { 0 };
    scoped(database) d;
    scoped(buf) records = { 0 };
    if (!database_init(&d))
        return;
    struct key_row k = { .name = "ci",
                         .scopes = SCOPE_BIT(SCOPE_RUN) | SCOPE_BIT(SCOPE_READ),
                         .max_runs = 7 };
    OK(keys_add(d.db, &k, "unix:0", &e));
    CHECK_INT(keys_add(d.db, &k, "unix:0", &e), -1);
    OK(keys_remove(d.db, "ci", "key:ops", 9, &e));
    CHECK_INT(keys_remove(d.db, "ci", "key:ops", 9, &e), -1);
    OK(audit_each(d.db, 0, 10, note_record, &records, &e));
    CHECK_STR(buf_str(&records),
              "key.added ci by unix:0 {\"scopes\":[\"run\",\"read\"],\"max_runs\":7,DIGEST}\n"
              "key.removed ci by key:ops {}\n");
}

static void test_a_name_is_taken_once(void)
{
    struct err e = { 0 };
    scoped(database) d;
    if (!database_init(&d))
        return;
    struct key_row k = { .name = "ci" };
    OK(keys_add(d.db, &k, "service", &e));
    k.hash[0] = 1;
    CHECK_INT(keys_add(d.db, &k, "service", &e), -1);
    CHECK_INT(e.code, ERR_CONFLICT);
    CHECK(strstr(e.text, "'ci'") != NULL);
    (void)snprintf(k.name, sizeof k.name, "no good");
    CHECK_INT(keys_add(d.db, &k, "service", &e), -1);
    CHECK_INT(e.code, ERR_BAD_REQUEST);
}

static const struct check_test tests[] = {
    TEST(test_a_key_is_random_text_and_its_hash),    TEST(test_scopes_are_words),
    TEST(test_scopes_that_do_not_exist_are_refused), TEST(test_names_that_are_not_accepted),
    TEST(test_keys_are_listed_by_name_and_removed),  TEST(test_a_name_is_taken_once),
    TEST(test_every_change_of_keys_is_on_record),
};
CHECK_MAIN(tests)
