#include "api/kernel/auth.h"

#include "api/kernel/guard.h"
#include "base/array.h"
#include "check.h"

/* ---- the caller ---- */
static const char run_key[] = "blj_run", admin_key[] = "blj_admin";

static struct key_row rows_made[2] = {
    { .name = "runner", .scopes = SCOPE_BIT(SCOPE_RUN), .max_runs = 3 },
    { .name = "boss", .scopes = SCOPE_BIT(SCOPE_ADMIN) },
};

static struct api_keys two_keys(void)
{
    key_hash(run_key, rows_made[0].hash);
    key_hash(admin_key, rows_made[1].hash);
    return (struct api_keys){ rows_made, 2, true };
}

static const struct api_keys no_keys = { NULL, 0, false };
static const struct auth_facts tcp = { .listener = "127.0.0.1", .our_uid = 5, .owner_uid = 6 };

static int identify(const struct api_keys *keys, struct auth_facts f, struct api_identity *who)
{
    struct err e = { 0 };
    int failed = auth_identify(keys, &f, who, &e);
    CHECK_INT(e.code, failed ? ERR_NO_KEY : ERR_NONE);
    return failed;
}

static void test_key_is_taken_from_either_header(void)
{
    static const char *const good[] = { "Bearer blj_run", "bearer blj_run", "Bearer  blj_run" };
    static const char *const bad[] = { "Bearer blj_ru", "Bearer blj_run ", "Basic blj_run",
                                       "blj_run",       "Bearer ",         "" };
    struct api_keys keys = two_keys();
    struct api_identity who;
    struct auth_facts f = tcp;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        f.authorization = good[i];
        CHECK_INT(identify(&keys, f, &who), 0);
        CHECK_STR(who.name, "key:runner");
        CHECK(who.key == who.name + 4);
        CHECK_INT(who.max_runs, 3);
        CHECK_INT(who.scopes, SCOPE_BIT(SCOPE_RUN));
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        f.authorization = bad[i];
        CHECK_INT(identify(&keys, f, &who), -1);
        CHECK_INT(who.scopes, 0);
    }
    f = tcp;
    f.api_key = admin_key;
    CHECK_INT(identify(&keys, f, &who), 0);
    CHECK_INT(who.scopes, SCOPES_ALL); /* admin is everything */
}

static void test_key_in_the_wrong_form_is_told_so_and_not_shown(void)
{
    static const char *const rows[][2] = {
        { "blj_secret", "no 'Bearer '" },
        { "Bearerblj_secret", "no 'Bearer '" },
        { "Basic blj_secret", "scheme 'Basic' is not" },
        { "token blj_secret", "scheme 'Token' is not" },
        { "Bearer blj_secret", "unknown: it is misspelt, or was removed; 'belljar keys list'" },
    };
    struct api_keys keys = two_keys();
    struct api_identity who;
    struct auth_facts f = tcp;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct err e = { 0 };
        f.authorization = rows[i][0];
        CHECK_INT(auth_identify(&keys, &f, &who, &e), -1);
        if (!CHECK(strstr(e.text, rows[i][1]) != NULL))
            printf("    %s\n", e.text);
        CHECK(strstr(e.text, "secret") == NULL);
    }
}

static void test_without_a_key_only_loopback_without_keys_is_open(void)
{
    struct api_keys keys = two_keys();
    struct api_identity who;
    struct auth_facts f = tcp;
    CHECK_INT(identify(&no_keys, f, &who), 0);
    CHECK_STR(who.name, "anonymous");
    CHECK_INT(who.scopes, SCOPES_ALL);
    CHECK(who.key == NULL);
    CHECK_INT(identify(&keys, f, &who), -1);
    static const char *const open_to_all[] = { "0.0.0.0", "::", "10.0.0.1", "" };
    for (size_t i = 0; i < ARRAY_LEN(open_to_all); i++) {
        f.listener = open_to_all[i];
        CHECK_INT(identify(&no_keys, f, &who), -1);
    }
}

static void test_removal_of_the_last_key_opens_nothing(void)
{
    static const struct api_keys none_left = { NULL, 0, true };
    struct api_identity who;
    struct err e = { 0 };
    CHECK_INT(auth_identify(&none_left, &tcp, &who, &e), -1);
    CHECK(e.code == ERR_NO_KEY && who.scopes == 0 && strstr(e.text, "belljar keys add"));
    struct auth_facts operator= { .is_unix = true, .peer_uid = 0, .our_uid = 5, .owner_uid = 6 };
    CHECK_INT(identify(&none_left, operator, & who), 0);
}

static void test_unix_socket_knows_its_owner(void)
{
    static const struct {
        uid_t uid;
        int failed;
    } rows[] = { { 0, 0 }, { 5, 0 }, { 6, 0 }, { 7, -1 } };
    struct api_keys keys = two_keys();
    struct api_identity who;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct auth_facts f = tcp;
        f.is_unix = true;
        f.listener = "";
        f.peer_uid = rows[i].uid;
        CHECK_INT(identify(&keys, f, &who), rows[i].failed);
        CHECK_INT(identify(&no_keys, f, &who), rows[i].failed);
        f.api_key = run_key; /* a key says more than a uid */
        CHECK_INT(identify(&keys, f, &who), 0);
        CHECK_STR(who.name, "key:runner");
    }
}

static void test_scope_that_is_missing_is_named(void)
{
    struct api_identity who = { .name = "key:runner", .scopes = SCOPE_BIT(SCOPE_RUN) };
    struct err e = { 0 };
    CHECK_INT(auth_allows(&who, SCOPE_RUN, &e), 0);
    CHECK_INT(auth_allows(&who, SCOPE_NONE, &e), 0);
    CHECK_INT(auth_allows(&who, SCOPE_ANY, &e), 0);
    CHECK_INT(auth_allows(&who, SCOPE_ADMIN, &e), -1);
    CHECK_INT(e.code, ERR_DENIED);
    CHECK(strstr(e.text, "'admin'") && strstr(e.text, "key:runner"));
    CHECK(strstr(e.text, "'belljar keys add NAME --scopes admin'") != NULL);
}

/* ---- from where ---- */
static void test_host_must_be_a_name_of_ours(void)
{
    static const struct {
        const char *host, *listener, *hosts;
        int failed;
    } rows[] = {
        { "localhost", "127.0.0.1", "", 0 },
        { "LocalHost:6000", "127.0.0.1", "", 0 },
        { "127.0.0.1:1", "127.0.0.1", "", 0 },
        { "[::1]:6000", "::1", "", 0 },
        { "10.1.2.3:80", "10.1.2.3", "", 0 },
        { "10.1.2.4:80", "10.1.2.3", "", -1 },
        { "10.1.2.4:80", "0.0.0.0", "", 0 },
        { "[fe80::1]", "::", "", 0 },
        { "[0:0:0:0:0:0:0:2]", "::2", "", 0 },
        { "evil.example", "0.0.0.0", "", -1 },
        { "evil.example:6000", "127.0.0.1", "", -1 },
        { "127.0.0.1.evil.example", "127.0.0.1", "", -1 },
        { "localhost.evil.example", "127.0.0.1", "", -1 },
        { "localhost:80x", "127.0.0.1", "", -1 },
        { "localhost@evil", "127.0.0.1", "", -1 },
        { "[::1", "::1", "", -1 },
        { "[::1]x", "::1", "", -1 },
        { "", "127.0.0.1", "", -1 },
        { ":80", "127.0.0.1", "", -1 },
        { NULL, "127.0.0.1", "", -1 },
        { "box.local:6000", "127.0.0.1", "other, Box.Local ", 0 },
        { "box.loca", "127.0.0.1", "other,box.local", -1 },
        { "other,box.local", "127.0.0.1", "other,box.local", -1 },
        { "anything", "127.0.0.1", "*", 0 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct guard_facts f = { .host = rows[i].host,
                                 .listener = rows[i].listener,
                                 .hosts = rows[i].hosts };
        struct err e = { 0 };
        if (!CHECK_INT(guard_host(&f, &e), rows[i].failed))
            printf("    %s\n", rows[i].host);
        CHECK_INT(e.code, rows[i].failed ? ERR_DENIED : ERR_NONE);
        if (rows[i].host && rows[i].failed)
            CHECK(strstr(e.text, "http.hosts") != NULL);
        f.is_unix = true;
        CHECK_INT(guard_host(&f, &e), 0);
    }
}

static void test_other_origins_must_be_allowed(void)
{
    static const struct {
        const char *origin, *fetch_site, *origins;
        int failed;
        bool cross;
    } rows[] = {
        { NULL, NULL, "", 0, false },
        { NULL, "same-origin", "", 0, false },
        { NULL, "none", "", 0, false },
        { NULL, "cross-site", "", -1, false },
        { NULL, "same-site", "", -1, false },
        { "http://localhost:6000", "same-origin", "", 0, false },
        { "https://localhost:6000", NULL, "", -1, false },
        { "http://localhost:6001", "same-site", "", -1, false },
        { "http://localhost", NULL, "", -1, false },
        { "http://evil.example", "cross-site", "", -1, false },
        { "null", NULL, "", -1, false },
        { "", NULL, "", -1, false },
        { "https://app.example", "cross-site", "http://a, https://app.example", 0, true },
        { "https://app.example.evil", NULL, "https://app.example", -1, false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct guard_facts f = { .host = "localhost:6000",
                                 .listener = "127.0.0.1",
                                 .hosts = "",
                                 .origin = rows[i].origin,
                                 .fetch_site = rows[i].fetch_site,
                                 .origins = rows[i].origins };
        struct err e = { 0 };
        bool cross = true;
        if (!CHECK_INT(guard_origin(&f, &cross, &e), rows[i].failed))
            printf("    %s\n", rows[i].origin);
        CHECK_INT(cross, rows[i].cross);
        if (rows[i].failed)
            CHECK(strstr(e.text, "http.origins") != NULL);
    }
}

static void test_loopback_is_told_from_the_rest(void)
{
    static const char *const yes[] = { "127.0.0.1", "127.255.0.9", "::1" };
    static const char *const no[] = { "0.0.0.0", "128.0.0.1", "::",
                                      "",        "localhost", "::ffff:10.0.0.1" };
    for (size_t i = 0; i < ARRAY_LEN(yes); i++)
        CHECK(guard_is_loopback(yes[i]));
    for (size_t i = 0; i < ARRAY_LEN(no); i++)
        CHECK(!guard_is_loopback(no[i]));
}

static const struct check_test tests[] = {
    TEST(test_key_is_taken_from_either_header),
    TEST(test_key_in_the_wrong_form_is_told_so_and_not_shown),
    TEST(test_without_a_key_only_loopback_without_keys_is_open),
    TEST(test_removal_of_the_last_key_opens_nothing),
    TEST(test_unix_socket_knows_its_owner),
    TEST(test_scope_that_is_missing_is_named),
    TEST(test_host_must_be_a_name_of_ours),
    TEST(test_other_origins_must_be_allowed),
    TEST(test_loopback_is_told_from_the_rest),
};
CHECK_MAIN(tests)
