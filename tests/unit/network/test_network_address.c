#include "network/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/auto.h"
#include "check.h"

static struct sockaddr_storage socket_address(const char *text, uint16_t port)
{
    struct sockaddr_storage s = { 0 };
    struct sockaddr_in *v4 = (struct sockaddr_in *)&s;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&s;
    if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
        return s;
    }
    s = (struct sockaddr_storage){ 0 };
    CHECK(inet_pton(AF_INET6, text, &v6->sin6_addr) == 1);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    return s;
}

static enum address_verdict judge(const struct address_rules *rules, const char *text,
                                  uint16_t port)
{
    struct sockaddr_storage s = socket_address(text, port);
    return address_judge(rules, (const struct sockaddr *)&s);
}

static const char *const refused[] = {
    /* the first and the last address of each range */
    "0.0.0.0",
    "0.255.255.255",
    "10.0.0.0",
    "10.255.255.255",
    "100.64.0.0",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.255",
    "169.254.0.0",
    "169.254.169.254",
    "169.254.255.255",
    "172.16.0.0",
    "172.31.255.255",
    "192.0.0.0",
    "192.0.0.255",
    "192.0.2.0",
    "192.0.2.255",
    "192.88.99.0",
    "192.88.99.255",
    "192.168.0.0",
    "192.168.255.255",
    "198.18.0.0",
    "198.19.255.255",
    "198.51.100.0",
    "198.51.100.255",
    "203.0.113.0",
    "203.0.113.255",
    "224.0.0.0",
    "239.255.255.255",
    "240.0.0.0",
    "255.255.255.255",
    "::",
    "::1",
    "fc00::",
    "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "fe80::1",
    "febf::1",
    "fec0::1",
    "feff::1",
    "ff00::",
    "ff02::1",
    "2001:db8::",
    "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
    "3fff::1",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "64:ff9b:1::1",
    "100::1",
    "5f00::1",
    "8000::1",
    "1::1",
    /* 169.254.169.254, 127.0.0.1 and 10.0.0.1 in every disguise */
    "::ffff:169.254.169.254",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::169.254.169.254",
    "::127.0.0.1",
    "::ffff:0:169.254.169.254",
    "::ffff:0:10.0.0.1",
    "64:ff9b::169.254.169.254",
    "64:ff9b::10.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::0.0.0.0",
    "2002:a9fe:a9fe::1",
    "2002:0a00:0001::",
    "2002:7f00:0001::1",
    "2001:0:0a00:1::",
    "2001:0:0808:0808:0:0:5601:5601",
    "2001:0:808:808::f5ff:fffe",
    "2001:0:808:808:0:0:80ff:fffe",
    "2600::5efe:10.0.0.1",
    "2600::200:5efe:169.254.169.254",
    "2600:1:2:3:0:5efe:127.0.0.1",
};

static const char *const open_addresses[] = {
    "1.0.0.0",
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.0.3.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "203.0.112.255",
    "203.0.114.0",
    "223.255.255.255",
    "2606:4700::1111",
    "2a00:1450::1",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
    "2001:0:808:808::f7f7:f7f7",
    "2001:4860:4860::8888",
    "2600::5efe:8.8.8.8",
};

static void test_special_addresses_are_refused_in_every_form(void)
{
    struct address_rules none = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (!CHECK(judge(&none, refused[i], 80) != ADDRESS_OPEN))
            printf("  %s\n", refused[i]);
    for (size_t i = 0; i < ARRAY_LEN(open_addresses); i++)
        if (!CHECK(judge(&none, open_addresses[i], 80) == ADDRESS_OPEN))
            printf("  %s\n", open_addresses[i]);
    struct sockaddr local = { .sa_family = AF_UNIX };
    CHECK(address_is_refused(&none, &local));
}

static void test_the_operator_opens_ranges(void)
{
    scoped(address_set) ranges = { 0 };
    struct err e;
    CHECK(address_set_parse("10.1.0.0/16, 203.0.113.0/24 fd00:1::/32,169.254.169.254", &ranges,
                            &e) == 0);
    struct address_rules rules = { .private_ranges = ranges };
    static const struct {
        const char *text;
        bool is_open;
    } rows[] = {
        { "10.1.2.3", true },          { "10.2.0.0", false },
        { "203.0.113.7", true },       { "fd00:1::7", true },
        { "fd00:2::7", false },        { "::ffff:10.1.2.3", true },
        { "64:ff9b::10.1.2.3", true }, { "64:ff9b::10.2.0.1", false },
        { "169.254.169.254", true },   { "169.254.169.253", false },
        { "8.8.8.8", true },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!CHECK((judge(&rules, rows[i].text, 80) == ADDRESS_OPEN) == rows[i].is_open))
            printf("  %s\n", rows[i].text);
}

static void test_some_addresses_stay_closed_for_the_operator_too(void)
{
    scoped(address_set) ranges = { 0 };
    struct err e;
    CHECK(address_set_parse("224.0.0.0/8 239.1.2.3 255.255.255.255 0.0.0.0 :: ff02::1 127.0.0.0/8",
                            &ranges, &e) == 0);
    struct address_rules rules = { .private_ranges = ranges };
    static const char *const rows[] = { "224.0.0.1", "239.1.2.3", "255.255.255.255", "0.0.0.0",
                                        "::",        "ff02::1",   "127.0.0.1",       "127.0.0.2" };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!CHECK(judge(&rules, rows[i], 80) != ADDRESS_OPEN))
            printf("  %s\n", rows[i]);
}

static void test_an_address_of_the_host_is_opened_only_by_itself(void)
{
    scoped(address_set) host = { 0 }, range = { 0 }, exact = { 0 };
    struct sockaddr_storage own = socket_address("5.6.7.8", 0), own6 = socket_address("2600::5", 0);
    struct err e;
    CHECK(address_set_add(&host, (struct sockaddr *)&own, &e) == 0);
    CHECK(address_set_add(&host, (struct sockaddr *)&own6, &e) == 0);
    CHECK(address_set_parse("5.6.7.0/24", &range, &e) == 0);
    CHECK(address_set_parse("5.6.7.8, 127.0.0.1", &exact, &e) == 0);
    struct address_rules rules = { .host = host };
    CHECK_INT(judge(&rules, "5.6.7.8", 80), ADDRESS_OF_HOST);
    CHECK_INT(judge(&rules, "::ffff:5.6.7.8", 80), ADDRESS_OF_HOST);
    CHECK_INT(judge(&rules, "64:ff9b::5.6.7.8", 80), ADDRESS_OF_HOST);
    CHECK_INT(judge(&rules, "2002:0506:0708::1", 80), ADDRESS_OF_HOST);
    CHECK_INT(judge(&rules, "2600::5", 80), ADDRESS_OF_HOST);
    CHECK_INT(judge(&rules, "5.6.7.9", 80), ADDRESS_OPEN);
    rules.private_ranges = range;
    CHECK_INT(judge(&rules, "5.6.7.8", 80), ADDRESS_OF_HOST);
    rules.private_ranges = exact;
    CHECK_INT(judge(&rules, "5.6.7.8", 80), ADDRESS_OPEN);
    CHECK_INT(judge(&rules, "127.0.0.1", 80), ADDRESS_OPEN);
    CHECK_INT(judge(&rules, "127.0.0.2", 80), ADDRESS_OF_HOST);
}

static void test_no_setting_opens_a_listener_of_the_service(void)
{
    scoped(address_set) host = { 0 }, exact = { 0 };
    struct sockaddr_storage own = socket_address("5.6.7.8", 0);
    struct address_endpoint listeners[2] = { { .port = 8080 }, { .port = 9090 } };
    uint16_t port;
    struct err e;
    CHECK(address_set_add(&host, (struct sockaddr *)&own, &e) == 0);
    CHECK(address_set_parse("5.6.7.8 127.0.0.1 ::1", &exact, &e) == 0);
    CHECK(address_of((struct sockaddr *)&own, listeners[1].address, &port) == 0);
    struct address_rules rules = {
        .host = host, .private_ranges = exact, .listeners = listeners, .n_listeners = 2
    };
    CHECK_INT(judge(&rules, "5.6.7.8", 8080), ADDRESS_OF_SERVICE); /* it listens on :: */
    CHECK_INT(judge(&rules, "127.0.0.1", 8080), ADDRESS_OF_SERVICE);
    CHECK_INT(judge(&rules, "::1", 8080), ADDRESS_OF_SERVICE);
    CHECK_INT(judge(&rules, "::ffff:5.6.7.8", 9090), ADDRESS_OF_SERVICE);
    CHECK_INT(judge(&rules, "127.0.0.1", 9090), ADDRESS_OPEN);
    CHECK_INT(judge(&rules, "5.6.7.8", 80), ADDRESS_OPEN);
    CHECK_INT(judge(&rules, "8.8.8.8", 8080), ADDRESS_OPEN);
}

static void test_ranges_are_parsed_strictly(void)
{
    static const char *const bad[] = {
        "10.0.0.0/7",  "0.0.0.0/0",      "::/0",       "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/",
        "10.0.0.0/08", "10.0.0.0/8x",    "10/8",       "0x0a.0.0.0", "host",        "fd00::/129",
        "fd00::1/8",   "::ffff:1.2.3.4", "fe80::1%lo", "1.2.3.4/-1", "fc00::/6"
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        scoped(address_set) s = { 0 };
        struct err e = { 0 };
        if (!CHECK(address_set_parse(bad[i], &s, &e) == -1 && e.code == ERR_BAD_REQUEST))
            printf("  %s\n", bad[i]);
    }
    scoped(address_set) s = { 0 };
    struct err e;
    CHECK(address_set_parse("", &s, &e) == 0 && s.n == 0);
    CHECK(address_set_parse(" , 10.0.0.0/8,fc00::/7 , 1.2.3.4 ", &s, &e) == 0 && s.n == 3);
}

static void test_the_addresses_of_this_machine_are_found(void)
{
    scoped(address_set) host = { 0 };
    struct err e;
    uint8_t loopback[16] = { [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 };
    CHECK(address_set_read_host(&host, &e) == 0);
    if (host.n == 0)
        SKIP("no interface is up");
    else
        CHECK(address_set_names(&host, loopback));
}

static void test_a_refused_address_has_words(void)
{
    struct sockaddr_storage metadata = socket_address("64:ff9b::169.254.169.254", 0),
                            open_one = socket_address("8.8.8.8", 0);
    uint8_t bytes[16];
    uint16_t port;
    char text[64];
    CHECK(address_of((struct sockaddr *)&metadata, bytes, &port) == 0);
    CHECK_STR(address_kind(bytes), "a link-local address");
    CHECK_STR(address_text(bytes, text, sizeof text), "64:ff9b::a9fe:a9fe");
    CHECK(address_of((struct sockaddr *)&open_one, bytes, &port) == 0);
    CHECK(address_kind(bytes) == NULL);
    CHECK_STR(address_text(bytes, text, sizeof text), "8.8.8.8");
}

static const struct check_test tests[] = {
    TEST(test_special_addresses_are_refused_in_every_form),
    TEST(test_the_operator_opens_ranges),
    TEST(test_some_addresses_stay_closed_for_the_operator_too),
    TEST(test_an_address_of_the_host_is_opened_only_by_itself),
    TEST(test_no_setting_opens_a_listener_of_the_service),
    TEST(test_ranges_are_parsed_strictly),
    TEST(test_the_addresses_of_this_machine_are_found),
    TEST(test_a_refused_address_has_words),
};
CHECK_MAIN(tests)
