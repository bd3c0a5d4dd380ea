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
    CHECK(has(&p, plan_address("a.example.org", 0), 443, PLUMBING_TCP));
    CHECK(has(&p, plan_address("b.example.org", 0), 443, PLUMBING_TCP));
    CHECK(has(&p, plan_address("a.example.org", 0), 80, PLUMBING_TCP));
    CHECK(has(&p, plan_address("c.example.org", 0), 123, PLUMBING_UDP));
    CHECK_INT(plan_address("a.example.org", 0), 0xc613163c); /* in every version */
}

/* Two names whose first addresses are the same. */
static void find_twins(char a[32], char b[32])
{
    static unsigned seen[PLAN_ADDRESSES];
    for (unsigned i = 1;; i++) {
        (void)snprintf(b, 32, "n%u.example.org", i);
        unsigned *at = &seen[plan_address(b, 0) - PLAN_FIRST_ADDRESS];
        if (*at) {
            (void)snprintf(a, 32, "n%u.example.org", *at);
            return;
        }
        *at = i;
    }
}

static void test_names_with_the_same_address_are_told_apart(void)
{
    char a[32], b[32], rules[2][40];
    uint32_t addresses[NETWORK_RULES_MAX];
    struct err e;
    find_twins(a, b);
    (void)snprintf(rules[0], sizeof rules[0], "%s:443", a);
    (void)snprintf(rules[1], sizeof rules[1], "%s:443", b);
    const char *const both[] = { rules[0], rules[1], NULL };
    scoped(network_policy) list = policy(both);
    CHECK_INT(plan_addresses(&list, addresses, &e), 0);
    CHECK_INT(addresses[0], plan_address(a, 0));
    CHECK_INT(addresses[1], plan_address(b, 1));
    CHECK(addresses[0] != addresses[1] && plumbing_is_synthetic(addresses[1]));
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
    CHECK(has(&p, plan_address("a.example.org", 0), 443, PLUMBING_UDP));
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

static void test_every_port_of_a_host_needs_one_socket(void)
{
    struct plumbing p;
    struct err e = { 0 };
    const char *const rules[] = { "a.example.org:1",   "a.example.org:443", "a.example.org:*",
                                  "b.example.org:443", "203.0.113.7:*",     NULL };
    scoped(network_policy) list = policy(rules);
    CHECK_INT(plan_make(&list, &p, &e), 0);
    CHECK_INT(p.n, 3);
    CHECK(has(&p, plan_address("a.example.org", 0), PLUMBING_EVERY_PORT, PLUMBING_TCP));
    CHECK(has(&p, 0xcb007107, PLUMBING_EVERY_PORT, PLUMBING_TCP));
    CHECK(has(&p, plan_address("b.example.org", 0), 443, PLUMBING_TCP));
    for (int i = 0; i < PLUMBING_EVERY_PORT_MAX - 1; i++) {
        char rule[40];
        (void)snprintf(rule, sizeof rule, "n%d.example.org:*", i);
        CHECK_INT(network_policy_add(&list, NETWORK_TCP, rule, &e), 0);
        CHECK_INT(plan_make(&list, &p, &e), i < PLUMBING_EVERY_PORT_MAX - 2 ? 0 : -1);
    }
    CHECK(strstr(e.text, "17 hosts with every port (HOST:*), and 16 are possible"));
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
    TEST(test_names_with_the_same_address_are_told_apart),
    TEST(test_wildcards_share_one_socket_for_each_port),
    TEST(test_every_port_of_a_host_needs_one_socket),
    TEST(test_wildcard_cannot_have_the_port_of_the_name_server),
};
CHECK_MAIN(tests)
