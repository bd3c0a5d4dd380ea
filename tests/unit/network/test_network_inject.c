#include "network/inject.h"

#include "base/auto.h"
#include "check.h"
#include "network/policy.h"

static void test_option_becomes_its_parts(void)
{
    static const struct {
        const char *text, *shown;
    } rows[] = {
        { "api.example.org:Authorization=KEY", "api.example.org:443 Authorization: <KEY>" },
        { "API.Example.org.:8443:X-Key=Bearer KEY_2",
          "api.example.org:8443 X-Key: Bearer <KEY_2>" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct network_inject x;
        struct err e;
        char text[NETWORK_INJECT_TEXT];
        CHECK_INT(network_inject_parse(rows[i].text, &x, &e), 0);
        CHECK_STR(network_inject_text(&x, text), rows[i].shown);
        CHECK(network_inject_is_plain(&x));
    }
}

static void test_bad_options_are_refused(void)
{
    static const char *const texts[] = {
        "",
        "a.example.org",
        "a.example.org:H",
        "a.example.org=K",
        "*.example.org:H=K",
        "203.0.113.7:H=K",
        "a.example.org:80:H=K",
        "a.example.org:Host=K",
        "a.example.org:H\r=K",
        "a.example.org:H=K-1",
        "a.example.org:H=1K",
        "a.example.org:H=",
        "a.example.org:=K",
        "a.example.org:H=\x01 K",
        "a.example.org:0:H=K",
        "udp:a.example.org:53:H=K",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct network_inject x;
        struct err e;
        if (!CHECK(network_inject_parse(texts[i], &x, &e) == -1))
            printf("  %s\n", texts[i]);
    }
}

static int granted(const char *grants, const char *option, const char *key)
{
    struct network_inject x;
    struct err e;
    CHECK_INT(network_inject_parse(option, &x, &e), 0);
    return network_secret_granted(grants, &x, key, &e);
}

static void test_grant_names_hosts_headers_and_keys(void)
{
    static const char grants[] =
        " A = a.example.org b.example.org:8443 ;B=a.example.org header:X-B "
        "key:ci key:dev; A=c.example.org";
    struct err e;
    CHECK_INT(network_secrets_check(grants, &e), 0);
    CHECK_INT(granted(grants, "a.example.org:H=A", NULL), 0);
    CHECK_INT(granted(grants, "b.example.org:8443:H=A", NULL), 0);
    CHECK_INT(granted(grants, "c.example.org:H=A", "any"), 0);
    CHECK_INT(granted(grants, "b.example.org:H=A", NULL), -1);
    CHECK_INT(granted(grants, "x.a.example.org:H=A", NULL), -1);
    CHECK_INT(granted(grants, "a.example.org:x-b=B", "dev"), 0);
    CHECK_INT(granted(grants, "a.example.org:X-B=B", "other"), -1);
    CHECK_INT(granted(grants, "a.example.org:X-B=B", NULL), -1);
    CHECK_INT(granted(grants, "a.example.org:H=B", "ci"), -1);
    CHECK_INT(granted(grants, "a.example.org:H=C", NULL), -1);
    CHECK_INT(granted("", "a.example.org:H=A", NULL), -1);
}

static void test_bad_grants_are_refused(void)
{
    static const char *const texts[] = { "A",
                                         "A=",
                                         "A=*.example.org",
                                         "=a.example",
                                         "1A=a.example.org",
                                         "A=a.example.org:80",
                                         "A=header:X",
                                         "A=a.example.org header:Host" };
    struct err e;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!CHECK(network_secrets_check(texts[i], &e) == -1))
            printf("  %s\n", texts[i]);
    CHECK_INT(network_secrets_check("", &e), 0);
}

static void test_policy_with_a_secret_is_the_same_as_bytes(void)
{
    scoped(network_policy) p = { .caps = network_caps_default() }, back = { 0 };
    scoped(buf) bytes = { 0 };
    struct network_inject x;
    struct err e;
    CHECK_INT(network_inject_parse("a.example.org:H=Bearer A", &x, &e), 0);
    CHECK(network_policy_add_inject(&p, &x, &e) == -1); /* not in the list */
    CHECK_INT(network_policy_add(&p, NETWORK_TCP, "*.example.org:443", &e), 0);
    CHECK_INT(network_policy_add_inject(&p, &x, &e), 0);
    CHECK(network_policy_add_inject(&p, &x, &e) == -1); /* twice */
    CHECK_INT(network_policy_encode(&p, &bytes, &e), 0);
    CHECK_INT(network_policy_decode(bytes.data, bytes.len, &back, &e), 0);
    CHECK(network_policy_injects(&back, "a.example.org", 443));
    CHECK(!network_policy_injects(&back, "a.example.org", 80));
    CHECK(!network_policy_injects(&back, "b.example.org", 443));
}

static const struct check_test tests[] = {
    TEST(test_option_becomes_its_parts),
    TEST(test_bad_options_are_refused),
    TEST(test_grant_names_hosts_headers_and_keys),
    TEST(test_bad_grants_are_refused),
    TEST(test_policy_with_a_secret_is_the_same_as_bytes),
};
CHECK_MAIN(tests)
