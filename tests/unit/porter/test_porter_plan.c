#include "porter/plan.h"

#include "base/auto.h"
#include "check.h"

static struct network_policy policy(const char *const *rules)
{
    struct network_policy p = { .caps = network_caps_default() };
    struct err e;
    for (; *rules; rules++)
        CHECK_INT(network_policy_add(&p, NETWORK_TCP, *rules, &e), 0);
    return p;
}

static bool has(const struct plumbing *p, uint32_t ipv4, uint16_t port, uint8_t protocol)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (plumbing_is_ipv4(p->at[i].address) && plumbing_ipv4(p->at[i].address) == ipv4 &&
            p->at[i].port == port && p->at[i].protocol == protocol)
            return true;
    return false;
}

static void test_each_name_has_an_address_of_its_own(void)
{
    struct plumbing p;
    struct err e;
    const char *const rules[] = { "a.example.org:443", "b.example.org:443", "a.example.org:80",
                                  "udp:c.example.org:123", NULL };
    scoped(network_policy) list = policy(rules);
    CHECK_INT(plan_make(&list, &p, &e), 0);
    CHECK_INT(p.n, 4);
    CHECK(has(&p, PLAN_FIRST_ADDRESS, 443, PLUMBING_TCP));
    CHECK(has(&p, PLAN_FIRST_ADDRESS + 1, 443, PLUMBING_TCP));
    CHECK(has(&p, PLAN_FIRST_ADDRESS, 80, PLUMBING_TCP));
    CHECK(has(&p, PLAN_FIRST_ADDRESS + 2, 123, PLUMBING_UDP));
}

static void test_wildcards_share_one_socket_for_each_port(void)
{
    struct plumbing p;
    struct err e;
    const char *const rules[] = { "a.example.org:443",     "*.example.org:443",
                                  "*.example.net:443",     "203.0.113.7:443",
                                  "203.0.113.7:8080",      "[2001:db8::7]:443",
                                  "udp:a.example.org:443", NULL };
    scoped(network_policy) list = policy(rules);
    CHECK_INT(plan_make(&list, &p, &e), 0);
    CHECK_INT(p.n, 5);
    CHECK(has(&p, 0, 443, PLUMBING_TCP) && has(&p, 0xcb007107, 8080, PLUMBING_TCP));
    CHECK(has(&p, 0xcb007107, 443, PLUMBING_TCP)); /* with its route */
    CHECK(has(&p, PLAN_FIRST_ADDRESS, 443, PLUMBING_UDP));
}

static void test_wildcard_cannot_have_the_port_of_the_name_server(void)
{
    struct plumbing p;
    struct err e = { 0 };
    const char *const rules[] = { "*.example.org:53", NULL };
    scoped(network_policy) list = policy(rules);
    CHECK_INT(plan_make(&list, &p, &e), -1);
    CHECK(strstr(e.text, "*.example.org") != NULL);
}

static void test_full_network_needs_two_sockets_for_all(void)
{
    const struct network_policy full = { .mode = NETWORK_FULL, .caps = network_caps_default() };
    struct plumbing p;
    struct err e;
    CHECK_INT(plan_possible(&full, &e), 0);
    CHECK_INT(plan_make(&full, &p, &e), 0);
    CHECK(p.full && p.n == 2 && has(&p, 0, NFT_CATCH_PORT, PLUMBING_TCP));
    CHECK(!plumbing_is_ipv4(p.at[1].address) && p.at[1].port == NFT_CATCH_PORT);
}

static const struct check_test tests[] = {
    TEST(test_full_network_needs_two_sockets_for_all),
    TEST(test_each_name_has_an_address_of_its_own),
    TEST(test_wildcards_share_one_socket_for_each_port),
    TEST(test_wildcard_cannot_have_the_port_of_the_name_server),
};
CHECK_MAIN(tests)
