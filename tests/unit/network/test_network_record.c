#include "network/record.h"

#include "base/array.h"
#include "base/auto.h"
#include "check.h"
#include "edge.h"

static struct network_record example(uint32_t id, enum network_outcome outcome, const char *name)
{
    struct network_record r = { .id = id,
                                .outcome = outcome,
                                .port = 443,
                                .cap = NETWORK_CAP_NONE,
                                .start_ms = 1700000000000,
                                .duration_us = 12,
                                .bytes_in = 100,
                                .bytes_out = 10 };
    (void)snprintf(r.name, sizeof r.name, "%s", name);
    return r;
}

static void test_a_record_comes_back_from_its_bytes(void)
{
    struct network_record r = example(7, NETWORK_LIMIT, "pypi.org"), back;
    char bytes[NETWORK_RECORD_MAX];
    struct err e;
    size_t n;
    r.cap = NETWORK_CAP_BYTES_IN;
    memset(r.sni, 'a', NETWORK_NAME_MAX);
    memset(r.name, 'b', NETWORK_NAME_MAX);
    CHECK(network_record_encode(&r, bytes, &n, &e) == 0);
    CHECK(network_record_decode(edge_copy(bytes, n), n, &back, &e) == 0);
    CHECK_STR(back.name, r.name);
    CHECK_STR(back.sni, r.sni);
    CHECK(back.id == 7 && back.cap == NETWORK_CAP_BYTES_IN && back.bytes_in == 100);
    for (size_t cut = 0; cut < n; cut++)
        CHECK(network_record_decode(edge_copy(bytes, cut), cut, &back, &e) == -1);
}

static void test_a_record_with_control_characters_is_refused(void)
{
    static const char *const names[] = { "a\nb", "\x1b[31m", "a b", "\xc3\xbc.org" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct network_record r = example(0, NETWORK_DENIED_NAME, names[i]), back;
        char bytes[NETWORK_RECORD_MAX];
        struct err e;
        size_t n;
        CHECK(network_record_encode(&r, bytes, &n, &e) == 0);
        CHECK(network_record_decode(bytes, n, &back, &e) == -1);
    }
}

static void test_the_end_of_a_connection_replaces_its_beginning(void)
{
    scoped(network_log) log = { 0 };
    struct network_record r = example(1, NETWORK_OPEN, "pypi.org");
    network_log_add(&log, &r);
    CHECK(log.n == 1 && log.connections == 0);
    r.outcome = NETWORK_CLOSED;
    network_log_add(&log, &r);
    CHECK(log.n == 1 && log.connections == 1 && log.v[0].outcome == NETWORK_CLOSED);
    CHECK(log.bytes_in == 100 && log.bytes_out == 10);
}

static void test_a_denied_name_is_listed_once_and_counted(void)
{
    scoped(network_log) log = { 0 };
    struct network_record r = example(0, NETWORK_DENIED_NAME, "evil.com");
    for (int i = 0; i < 5; i++)
        network_log_add(&log, &r);
    (void)snprintf(r.name, sizeof r.name, "EVIL.com");
    network_log_add(&log, &r);
    CHECK(log.n == 1 && log.outcomes[NETWORK_DENIED_NAME] == 6 && network_log_denials(&log) == 6);
    CHECK(log.connections == 0 && log.omitted == 0);
}

static void test_a_log_is_bounded_and_counts_the_rest(void)
{
    scoped(network_log) log = { 0 };
    for (uint32_t i = 1; i <= 5000; i++) {
        struct network_record r = example(i, NETWORK_OPEN, "pypi.org");
        network_log_add(&log, &r);
        r.outcome = i % 2 ? NETWORK_CLOSED : NETWORK_LIMIT;
        r.cap = NETWORK_CAP_CONNECTIONS_TOTAL;
        network_log_add(&log, &r);
    }
    CHECK(log.n == NETWORK_LOG_MAX && log.connections == 5000 && log.omitted == 4000);
    CHECK(log.outcomes[NETWORK_LIMIT] == 2500 &&
          log.caps_hit == 1U << NETWORK_CAP_CONNECTIONS_TOTAL);
    CHECK(log.bytes_in == 500000);
}

static void test_every_cap_has_a_default_within_its_bounds(void)
{
    struct network_caps caps = network_caps_default();
    struct err e;
    CHECK(network_caps_check(&caps, &e) == 0);
    for (int i = 0; i < NETWORK_CAP_COUNT; i++) {
        struct network_caps bad = caps;
        bad.v[i] = network_cap_defs[i].max + 1;
        CHECK(network_caps_check(&bad, &e) == -1);
        bad.v[i] = 0;
        CHECK(network_caps_check(&bad, &e) == -1);
    }
}

static const struct check_test tests[] = {
    TEST(test_a_record_comes_back_from_its_bytes),
    TEST(test_a_record_with_control_characters_is_refused),
    TEST(test_the_end_of_a_connection_replaces_its_beginning),
    TEST(test_a_denied_name_is_listed_once_and_counted),
    TEST(test_a_log_is_bounded_and_counts_the_rest),
    TEST(test_every_cap_has_a_default_within_its_bounds),
};
CHECK_MAIN(tests)
