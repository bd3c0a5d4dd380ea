#include "network/advice.h"

#include <arpa/inet.h>

#include "base/array.h"
#include "base/auto.h"
#include "check.h"

static struct network_policy example(void)
{
    struct network_policy p = { .caps = network_caps_default() };
    struct err e;
    CHECK(network_policy_add(&p, NETWORK_TCP, "pypi.org:443", &e) == 0);
    return p;
}

static const char *advice_of(struct network_record r)
{
    static char out[NETWORK_ADVICE_SIZE];
    scoped(network_policy) p = example();
    scoped(network_log) log = { 0 };
    network_log_add(&log, &r);
    return network_advice(&p, &log, out);
}

static void test_a_denied_name_is_named_with_the_list_and_the_option(void)
{
    CHECK_STR(
        advice_of((struct network_record){ .outcome = NETWORK_DENIED_NAME, .name = "api.foo.com" }),
        "'api.foo.com' is not in this run's network list; allowed are pypi.org:443. Add "
        "--allow-net api.foo.com (\"network\": {\"allow\": […]} in a request).");
    const char *advice = advice_of((struct network_record){
        .id = 1, .outcome = NETWORK_DENIED_PORT, .name = "pypi.org", .port = 8443 });
    CHECK(strstr(advice, "'pypi.org:8443' is not") && strstr(advice, "--allow-net pypi.org:8443 "));
}

static void test_a_name_that_is_not_plain_is_never_part_of_advice(void)
{
    static const char *const names[] = { "$(reboot).org", "a;b.org", "-x.org",
                                         "a'b.org",       "A.org",   "127.1" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct network_record r = { .outcome = NETWORK_DENIED_NAME };
        (void)snprintf(r.name, sizeof r.name, "%s", names[i]);
        CHECK_STR(advice_of(r), "");
    }
}

static void test_a_failure_of_the_remote_host_is_said(void)
{
    static const struct {
        enum network_outcome outcome;
        const char *words;
    } rows[] = {
        { NETWORK_REFUSED, "db.example.org:5432 refused the connection" },
        { NETWORK_TIMEOUT, "db.example.org:5432 did not answer" },
        { NETWORK_UNREACHABLE, "db.example.org:5432 cannot be reached" },
        { NETWORK_NO_NAME, "db.example.org:5432 is in the network list, but has no address" },
        { NETWORK_BLOCKED_ADDRESS, "has the address 10.0.0.5, which no run reaches" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct network_record r = { .id = 1,
                                    .outcome = rows[i].outcome,
                                    .name = "db.example.org",
                                    .port = 5432,
                                    .address = { [10] = 0xff, [11] = 0xff, [12] = 10, [15] = 5 } };
        if (!CHECK(strstr(advice_of(r), rows[i].words)))
            printf("  %s\n", advice_of(r));
    }
}

static void test_a_cap_is_said_with_its_setting(void)
{
    CHECK_STR(advice_of((struct network_record){
                  .id = 1, .outcome = NETWORK_LIMIT, .cap = NETWORK_CAP_BYTES_IN, .port = 1 }),
              "The program received more bytes than its limit of 64m: the operator can raise the "
              "setting network.bytes_in.");
}

static void test_the_last_failure_counts_and_success_says_nothing(void)
{
    scoped(network_policy) p = example();
    scoped(network_log) log = { 0 };
    struct network_record good = { .id = 1, .outcome = NETWORK_CLOSED, .name = "pypi.org" },
                          bad = { .outcome = NETWORK_DENIED_NAME, .name = "first.org" },
                          last = { .outcome = NETWORK_DENIED_NAME, .name = "last.org" };
    char out[NETWORK_ADVICE_SIZE];
    network_log_add(&log, &good);
    CHECK_STR(network_advice(&p, &log, out), "");
    network_log_add(&log, &bad);
    network_log_add(&log, &last);
    good.id = 2;
    network_log_add(&log, &good);
    CHECK(strstr(network_advice(&p, &log, out), "'last.org' is not"));
}

static const struct check_test tests[] = {
    TEST(test_a_denied_name_is_named_with_the_list_and_the_option),
    TEST(test_a_name_that_is_not_plain_is_never_part_of_advice),
    TEST(test_a_failure_of_the_remote_host_is_said),
    TEST(test_a_cap_is_said_with_its_setting),
    TEST(test_the_last_failure_counts_and_success_says_nothing),
};
CHECK_MAIN(tests)
