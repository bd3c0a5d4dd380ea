#include "network/policy.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/auto.h"
#include "check.h"
#include "edge.h"
#include "network/preset.h"

static struct network_policy policy_of(const char *text)
{
    struct network_caps caps = network_caps_default();
    struct network_policy p = { 0 };
    struct err e = { 0 };
    if (!CHECK(network_policy_parse(text, "mine=a.example.org:8443 b.example.org:8443", &caps, &p,
                                    &e) == 0))
        printf("  %s: %s\n", text, e.text);
    return p;
}

static void test_an_entry_becomes_rules_in_one_form(void)
{
    static const struct {
        const char *text, *rules;
    } rows[] = {
        { "pypi.org", "pypi.org:443, pypi.org:80" },
        { "PyPI.org.:443", "pypi.org:443" },
        { "*.Example.ORG:8443", "*.example.org:8443" },
        { "203.0.113.7:8080", "203.0.113.7:8080" },
        { "[2001:DB8::7]:443", "[2001:db8::7]:443" },
        { "2001:db8::7", "[2001:db8::7]:443, [2001:db8::7]:80" },
        { "udp:ntp.example.org:123", "udp:ntp.example.org:123" },
        { "b\xc3\xbc"
          "cher.example:443",
          "xn--bcher-kva.example:443" },
        { "B\xc3\x9c"
          "CHER.example:443",
          "xn--bcher-kva.example:443" },
        { "\xe4\xbe\x8b\xe3\x81\x88.\xe3\x83\x86\xe3\x82\xb9\xe3\x83\x88:80",
          "xn--r8jz45g.xn--zckzah:80" },
        { "fa\xc3\x9f.de:443", "xn--fa-hia.de:443" },
        { "xn--bcher-kva.example:443", "xn--bcher-kva.example:443" },
        { "db:5432", "db:5432" },
        { "my_host.example.org:1", "my_host.example.org:1" },
        { "1password.com:65535", "1password.com:65535" },
        { "db.example.org:*", "db.example.org:*" },
        { "203.0.113.7:*", "203.0.113.7:*" },
        { "[2001:db8::7]:*", "[2001:db8::7]:*" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        scoped(network_policy) p = { 0 };
        struct err e = { 0 };
        char text[400];
        if (!CHECK(network_policy_add(&p, NETWORK_TCP, rows[i].text, &e) == 0))
            printf("  %s: %s\n", rows[i].text, e.text);
        CHECK_STR(network_policy_text(&p, text, sizeof text), rows[i].rules);
        CHECK_INT(p.mode, NETWORK_LIST);
    }
}

static const struct {
    const char *text, *reason;
} bad_entries[] = {
    { "*", "every host" },
    { "*:443", "every host" },
    { "*.com", "top-level domain" },
    { "*.*.org", "whole names in front" },
    { "a.*.org", "whole names in front" },
    { "*example.org", "whole names in front" },
    { "", "no host" },
    { ":443", "no host" },
    { "pypi.org:0", "from 1 to 65535" },
    { "pypi.org:70000", "from 1 to 65535" },
    { "pypi.org:65536", "from 1 to 65535" },
    { "pypi.org:", "from 1 to 65535" },
    { "pypi.org:+1", "from 1 to 65535" },
    { "pypi.org:0443", "from 1 to 65535" },
    { "pypi.org:443x", "from 1 to 65535" },
    { "*.pypi.org:*", "name each port" },
    { "udp:pypi.org:*", "name each port" },
    { "pypi.org:**", "from 1 to 65535" },
    { "*:*", "every host" },
    { "https://pypi.org", "URL" },
    { "10.0.0.0/8", "range" },
    { "pypi.org..", "each part" },
    { ".pypi.org", "each part" },
    { "a..b", "each part" },
    { ".", "each part" },
    { "-a.org", "each part" },
    { "a-.org", "each part" },
    { "a b.org", "each part" },
    { "a\n.org", "each part" },
    { "user@pypi.org", "each part" },
    { "0x7f.1", "ends with a number" },
    { "2130706433", "ends with a number" },
    { "127.1", "ends with a number" },
    { "0177.0.0.1", "ends with a number" },
    { "0x7f000001", "ends with a number" },
    { "127.0.0.0x1", "ends with a number" },
    { "1.2.3.4.", "ends with a number" },
    { "01.2.3.4", "ends with a number" },
    { "256.1.1.1", "ends with a number" },
    { "a.0x", "ends with a number" },
    { "::ffff:169.254.169.254", "in disguise" },
    { "[::ffff:a9fe:a9fe]:80", "in disguise" },
    { "[fe80::1%eth0]:80", "IPv6" },
    { "[::1:80", "bracket" },
    { "[::1]80", "bracket" },
    { "[pypi.org]:80", "IPv6" },
    { "a:b:c", "IPv6" },
    { "udp:ntp.example.org", "needs a port" },
    { "0.0.0.0", "unspecified" },
    { "0.0.0.0:80", "unspecified" },
    { "[::]:443", "unspecified" },
    { "\xff.org", "UTF-8" },
    { "a\xe2\x80\x8b.org", "A-label" },   /* zero width space */
    { "pypi\xe3\x80\x82org", "A-label" }, /* ideographic full stop */
    { "a\xe2\x80\xae.org", "A-label" },   /* right-to-left override */
};

static void test_bad_entries_are_refused_with_the_reason(void)
{
    for (size_t i = 0; i < ARRAY_LEN(bad_entries); i++) {
        scoped(network_policy) p = { 0 };
        struct err e = { 0 };
        if (!CHECK(network_policy_add(&p, NETWORK_TCP, bad_entries[i].text, &e) == -1 &&
                   e.code == ERR_BAD_REQUEST && strstr(e.text, bad_entries[i].reason) && p.n == 0 &&
                   p.mode == NETWORK_NONE))
            printf("  '%s': %s\n", bad_entries[i].text, e.text);
    }
}

static void test_a_name_has_bounds(void)
{
    char label[64], longest[254], name[300];
    scoped(network_policy) p = { 0 };
    struct err e;
    memset(label, 'a', 63);
    label[63] = '\0';
    (void)snprintf(longest, sizeof longest, "%s.%s.%s.%.61s", label, label, label, label);
    CHECK_INT(strlen(longest), 253);
    CHECK(network_policy_add(&p, NETWORK_TCP, longest, &e) == 0);
    (void)snprintf(name, sizeof name, "%s.%s.%s.%.62s", label, label, label, label);
    CHECK(network_policy_add(&p, NETWORK_TCP, name, &e) == -1);
    (void)snprintf(name, sizeof name, "a%s.org", label);
    CHECK(network_policy_add(&p, NETWORK_TCP, name, &e) == -1);
    (void)snprintf(name, sizeof name, "*.%s", longest);
    CHECK(network_policy_add(&p, NETWORK_TCP, name, &e) == -1);
    autofree char *huge = calloc(1, 100001);
    memset(huge, 'a', 100000);
    CHECK(network_policy_add(&p, NETWORK_TCP, huge, &e) == -1);
    CHECK_INT(p.n, 2);
}

static void test_an_empty_list_is_none(void)
{
    static const char *const texts[] = { "", " ", ",", "none", " , , " };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        scoped(network_policy) p = policy_of(texts[i]);
        CHECK_INT(p.mode, NETWORK_NONE);
        CHECK(!network_policy_knows_name(&p, "pypi.org"));
        CHECK(network_policy_match_name(&p, "pypi.org", NETWORK_TCP, 443) == -1);
    }
}

static void test_ten_thousand_entries_are_refused(void)
{
    scoped(network_policy) p = { 0 };
    struct err e = { 0 };
    int failed = 0;
    for (int i = 0; i < 10000 && !failed; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "h%d.example.org:443", i);
        failed = network_policy_add(&p, NETWORK_TCP, text, &e);
    }
    CHECK(failed && e.code == ERR_TOO_LARGE && strstr(e.text, "more than 256"));
    CHECK_INT(p.n, NETWORK_RULES_MAX);
    CHECK(network_policy_add(&p, NETWORK_TCP, "h1.example.org:443", &e) == 0); /* it has this one */
}

static void test_names_match_by_name_protocol_and_port(void)
{
    scoped(network_policy) p = policy_of("pypi.org:443, *.example.org:443, udp:ntp.org:123");
    static const struct {
        const char *name;
        enum network_protocol protocol;
        uint16_t port;
        long rule;
    } rows[] = {
        { "pypi.org", NETWORK_TCP, 443, 0 },
        { "PYPI.ORG.", NETWORK_TCP, 443, 0 },
        { "pypi.org", NETWORK_TCP, 80, -1 },
        { "pypi.org", NETWORK_UDP, 443, -1 },
        { "a.pypi.org", NETWORK_TCP, 443, -1 },
        { "xpypi.org", NETWORK_TCP, 443, -1 },
        { "a.example.org", NETWORK_TCP, 443, 1 },
        { "a.b.Example.org", NETWORK_TCP, 443, 1 },
        { "example.org", NETWORK_TCP, 443, -1 },
        { ".example.org", NETWORK_TCP, 443, -1 },
        { "xexample.org", NETWORK_TCP, 443, -1 },
        { "ntp.org", NETWORK_UDP, 123, 2 },
        { "pypi.org..", NETWORK_TCP, 443, -1 },
        { "", NETWORK_TCP, 443, -1 },
        { ".", NETWORK_TCP, 443, -1 },
        { "example.org.evil.com", NETWORK_TCP, 443, -1 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        CHECK_INT(network_policy_match_name(&p, rows[i].name, rows[i].protocol, rows[i].port),
                  rows[i].rule);
    CHECK(network_policy_knows_name(&p, "ntp.org") &&
          !network_policy_knows_name(&p, "example.org"));
}

static void test_every_port_of_a_host_is_its_own_alone(void)
{
    scoped(network_policy) p = policy_of("db.example.org:*, [2001:db8::7]:*, a.example.org:80");
    scoped(network_policy) some = policy_of("db.example.org:5432, a.example.org:80");
    scoped(network_policy) without = policy_of("a.example.org:80");
    scoped(network_policy) back = { 0 };
    scoped(buf) bytes = { 0 };
    struct err e;
    CHECK_INT(network_policy_match_name(&p, "db.example.org", NETWORK_TCP, 1), 0);
    CHECK_INT(network_policy_match_name(&p, "db.example.org", NETWORK_TCP, 65535), 0);
    CHECK_INT(network_policy_match_name(&p, "db.example.org", NETWORK_UDP, 53), -1);
    CHECK_INT(network_policy_match_name(&p, "a.example.org", NETWORK_TCP, 81), -1);
    CHECK_INT(network_policy_match_name(&p, "x.db.example.org", NETWORK_TCP, 80), -1);
    CHECK_INT(network_policy_match_address(&p, p.rules[1].address, NETWORK_TCP, 22), 1);
    CHECK(network_policy_is_within(&some, &p, NULL) && !network_policy_is_within(&p, &some, NULL));
    CHECK(network_policy_splits_host(&some, &p) && !network_policy_splits_host(&p, &p) &&
          !network_policy_splits_host(&without, &p) && !network_policy_splits_host(&some, &some));
    CHECK_INT(network_policy_encode(&p, &bytes, &e), 0);
    CHECK_INT(network_policy_decode(bytes.data, bytes.len, &back, &e), 0);
    CHECK_INT(back.rules[0].port, NETWORK_EVERY_PORT);
}

static void test_a_list_is_within_a_wider_one_only(void)
{
    static const struct {
        const char *inner, *outer;
        bool within;
    } rows[] = {
        { "none", "none", true },
        { "none", "pypi.org", true },
        { "pypi.org:443", "none", false },
        { "pypi.org:443", "pypi.org:*", true },
        { "pypi.org:*", "pypi.org", false },
        { "a.pypi.org:*", "*.pypi.org:443", false },
        { "udp:pypi.org:53", "pypi.org:*", false },
        { "pypi.org:443", "full", true },
        { "full", "pypi.org", false },
        { "full", "full", true },
        { "pypi.org:443", "pypi.org", true },
        { "pypi.org", "pypi.org:443", false },
        { "a.example.org:443", "*.example.org:443", true },
        { "*.a.example.org:443", "*.example.org:443", true },
        { "*.example.org:443", "*.example.org:443", true },
        { "*.example.org:443", "*.a.example.org:443", false },
        { "example.org:443", "*.example.org:443", false },
        { "*.example.org:443", "a.example.org:443", false },
        { "udp:a.example.org:53", "*.example.org:53", false },
        { "203.0.113.7:80", "203.0.113.7", true },
        { "203.0.113.8:80", "203.0.113.7", false },
        { "@mine", "*.example.org:8443", true },
        { "@pypi", "@pypi, @npm", true },
        { "@pypi, @npm", "@npm", false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        scoped(network_policy) inner = policy_of(rows[i].inner), outer = policy_of(rows[i].outer);
        const struct network_rule *outside;
        if (!CHECK(network_policy_is_within(&inner, &outer, &outside) == rows[i].within))
            printf("  %s within %s\n", rows[i].inner, rows[i].outer);
        CHECK(!rows[i].within || !outside);
    }
    scoped(network_policy) inner = policy_of("pypi.org"), outer = policy_of("full");
    outer.caps.v[NETWORK_CAP_BYTES_IN] = inner.caps.v[NETWORK_CAP_BYTES_IN] - 1;
    CHECK(!network_policy_is_within(&inner, &outer, NULL));
}

static void test_a_policy_comes_back_from_its_bytes(void)
{
    static const char *const texts[] = {
        "none", "full", "pypi.org, *.example.org:443, 203.0.113.7:1, [2001:db8::7]:9, udp:a.b:53"
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        scoped(network_policy) p = policy_of(texts[i]), back = { 0 };
        scoped(buf) bytes = { 0 };
        struct err e;
        CHECK(network_policy_encode(&p, &bytes, &e) == 0);
        const char *exact = edge_copy(bytes.data, bytes.len);
        CHECK(network_policy_decode(exact, bytes.len, &back, &e) == 0);
        CHECK(network_policy_is_within(&p, &back, NULL) &&
              network_policy_is_within(&back, &p, NULL));
        CHECK(back.mode == p.mode && back.n == p.n);
        for (size_t n = 0; n < bytes.len; n++) {
            scoped(network_policy) none = { 0 };
            CHECK(network_policy_decode(edge_copy(bytes.data, n), n, &none, &e) == -1);
        }
    }
}

static void test_the_largest_policy_fits_into_its_bytes(void)
{
    scoped(network_policy) p = { .caps = network_caps_default() }, back = { 0 };
    scoped(buf) bytes = { 0 };
    struct err e;
    for (int i = 0; i < NETWORK_RULES_MAX; i++) {
        struct network_rule rule = { .host = NETWORK_HOST_NAME, .port = (uint16_t)(i + 1) };
        for (int k = 0; k < NETWORK_NAME_MAX; k++)
            rule.name[k] = k % 60 == 59 ? '.' : 'a';
        CHECK(network_policy_add_rule(&p, &rule, &e) == 0);
    }
    CHECK(network_policy_encode(&p, &bytes, &e) == 0 && bytes.len <= NETWORK_ENCODED_MAX);
    CHECK(network_policy_decode(bytes.data, bytes.len, &back, &e) == 0 &&
          back.n == NETWORK_RULES_MAX);
}

/* Encodes a policy that no parser makes. */
static int decode_of(const struct network_policy *p)
{
    scoped(buf) bytes = { 0 };
    scoped(network_policy) back = { 0 };
    struct err e;
    return network_policy_encode(p, &bytes, &e) ||
           network_policy_decode(bytes.data, bytes.len, &back, &e);
}

static void test_bytes_of_a_taken_keeper_are_checked_again(void)
{
    struct network_caps caps = network_caps_default();
    struct network_rule good = { .host = NETWORK_HOST_NAME, .port = 443, .name = "a.org" };
    static const struct network_rule bad[] = {
        { .host = NETWORK_HOST_NAME, .port = 443, .name = "A.org" },
        { .host = NETWORK_HOST_NAME, .port = 443, .name = "a.org." },
        { .host = NETWORK_HOST_NAME, .port = 443, .name = "127.1" },
        { .host = NETWORK_HOST_SUBDOMAINS, .port = 0, .name = "a.org" },
        { .host = NETWORK_HOST_NAME, .protocol = NETWORK_UDP, .port = 0, .name = "a.org" },
        { .host = NETWORK_HOST_SUBDOMAINS, .port = 443, .name = "com" },
        { .host = NETWORK_HOST_NAME, .port = 443, .name = "" },
        { .host = NETWORK_HOST_COUNT_, .port = 443, .name = "a.org" },
        { .host = NETWORK_HOST_NAME, .protocol = NETWORK_PROTOCOL_COUNT_, .port = 1, .name = "a" },
    };
    struct network_policy p = { .mode = NETWORK_LIST, .caps = caps, .n = 1, .rules = &good };
    CHECK(decode_of(&p) == 0);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct network_rule rule = bad[i];
        p.rules = &rule;
        CHECK(decode_of(&p) != 0);
    }
    p.rules = &good;
    p.mode = NETWORK_FULL; /* with rules */
    CHECK(decode_of(&p) != 0);
    p = (struct network_policy){ .mode = NETWORK_LIST, .caps = caps }; /* without rules */
    CHECK(decode_of(&p) != 0);
    p = (struct network_policy){ .mode = NETWORK_FULL, .caps = caps };
    p.caps.v[NETWORK_CAP_CONNECTIONS] = 0;
    CHECK(decode_of(&p) != 0);
}

static void test_presets_are_ours_and_the_operators(void)
{
    struct err e = { 0 };
    char text[200];
    scoped(network_policy) p = policy_of("@mine");
    CHECK_STR(network_policy_text(&p, text, sizeof text), "a.example.org:8443, b.example.org:8443");
    for (size_t i = 0; i < network_presets_count; i++) {
        scoped(network_policy) one = { 0 };
        (void)snprintf(text, sizeof text, "@%s", network_presets[i].name);
        CHECK(network_policy_add_entry(&one, "", NETWORK_TCP, text, &e) == 0 && one.n > 0);
    }
    CHECK(network_policy_add_entry(&p, "mine=a.org", NETWORK_TCP, "@pypy", &e) == -1);
    CHECK(strstr(e.text, "@pypi") && strstr(e.text, "@mine"));
    /* An operator's preset comes before ours. */
    scoped(network_policy) own = { 0 };
    CHECK(network_policy_add_entry(&own, "x=x.org;pypi = mirror.example.org:80", NETWORK_TCP,
                                   "@pypi", &e) == 0);
    CHECK_STR(network_policy_text(&own, text, sizeof text), "mirror.example.org:80");
    CHECK(network_presets_check("", &e) == 0);
    CHECK(network_presets_check("a=b.org; c = d.org:1 e.org ;", &e) == 0);
    static const char *const bad[] = { "a",          "=b.org", "A=b.org", "a=",
                                       "a=;b=c.org", "a=*",    "a=@pypi" };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (!CHECK(network_presets_check(bad[i], &e) == -1))
            printf("  %s\n", bad[i]);
}

static void test_a_key_has_a_maximum_of_its_own(void)
{
    static const char text[] = "CI.1 = @pypi x.org:1;guest=none; boss = full";
    static const struct {
        const char *key, *most;
    } rows[] = {
        { "CI.1", "pypi.org:443, files.pythonhosted.org:443, x.org:1" },
        { "guest", "none" },
        { "boss", "full" },
    };
    struct network_caps caps = network_caps_default();
    struct err e;
    bool found;
    CHECK(network_keys_check(text, "", &e) == 0 && network_keys_check("", "", &e) == 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        scoped(network_policy) p = { 0 };
        char shown[200];
        CHECK(network_max_of_key(text, "", rows[i].key, &caps, &p, &found, &e) == 0 && found);
        CHECK_STR(network_policy_text(&p, shown, sizeof shown), rows[i].most);
    }
    scoped(network_policy) p = { 0 };
    CHECK(network_max_of_key(text, "", "CI", &caps, &p, &found, &e) == 0 && !found);
    CHECK(network_keys_check("ci", "", &e) == -1 && network_keys_check("=a.org", "", &e) == -1 &&
          network_keys_check("ci=*", "", &e) == -1 && network_keys_check("ci=@x", "", &e) == -1);
}

static void test_a_wildcard_over_strangers_names_is_broad(void)
{
    static const struct {
        const char *text;
        bool broad;
    } rows[] = {
        { "*.co.uk:443", true },        { "*.com.au:443", true },   { "*.github.io:443", true },
        { "*.example.org:443", false }, { "github.io:443", false }, { "*.a.github.io:443", false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        scoped(network_policy) p = policy_of(rows[i].text);
        CHECK(p.n == 1 && network_rule_is_broad(&p.rules[0]) == rows[i].broad);
    }
}

static void test_a_long_list_is_cut_with_its_length(void)
{
    scoped(network_policy) p = policy_of("a.example.org:1 b.example.org:2 c.example.org:3");
    char text[48];
    CHECK_STR(network_policy_text(&p, text, 36), "a.example.org:1, ... (3 in all)");
    CHECK_STR(network_policy_text(&p, text, 20), "... (3 in all)");
}

static const struct check_test tests[] = {
    TEST(test_an_entry_becomes_rules_in_one_form),
    TEST(test_bad_entries_are_refused_with_the_reason),
    TEST(test_a_name_has_bounds),
    TEST(test_an_empty_list_is_none),
    TEST(test_ten_thousand_entries_are_refused),
    TEST(test_names_match_by_name_protocol_and_port),
    TEST(test_every_port_of_a_host_is_its_own_alone),
    TEST(test_a_list_is_within_a_wider_one_only),
    TEST(test_a_policy_comes_back_from_its_bytes),
    TEST(test_the_largest_policy_fits_into_its_bytes),
    TEST(test_bytes_of_a_taken_keeper_are_checked_again),
    TEST(test_presets_are_ours_and_the_operators),
    TEST(test_a_key_has_a_maximum_of_its_own),
    TEST(test_a_wildcard_over_strangers_names_is_broad),
    TEST(test_a_long_list_is_cut_with_its_length),
};
CHECK_MAIN(tests)
