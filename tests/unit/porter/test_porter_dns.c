#include "porter/dns.h"

#include "check.h"

enum { HEAD = 12 };

/* A question as a library sends it. */
static size_t ask(uint8_t out[512], const char *name, uint16_t type, bool edns)
{
    size_t n = HEAD;
    memset(out, 0, 512);
    out[0] = 0x12;
    out[1] = 0x34;
    out[2] = 1; /* recursion is desired */
    out[5] = 1;
    out[11] = edns;
    while (*name) {
        size_t label = strcspn(name, ".");
        out[n++] = (uint8_t)label;
        memcpy(out + n, name, label);
        n += label;
        name += label + (name[label] == '.');
    }
    n++;
    out[n++] = (uint8_t)(type >> 8);
    out[n++] = (uint8_t)type;
    out[n++] = 0;
    out[n++] = 1;
    if (edns) {
        const uint8_t opt[11] = { 0, 0, 41, 4, 208 };
        memcpy(out + n, opt, sizeof opt);
        n += sizeof opt;
    }
    return n;
}

static void test_question_is_read(void)
{
    uint8_t query[512];
    struct dns_question q;
    size_t n = ask(query, "Web.Example.ORG", DNS_TYPE_A, true);
    CHECK_INT(dns_read(query, n, &q), 0);
    CHECK_STR(q.name, "web.example.org");
    CHECK(q.type == DNS_TYPE_A && q.class == DNS_CLASS_IN && q.edns && q.standard);
    n = ask(query, "web.example.org", 28, false);
    CHECK_INT(dns_read(query, n, &q), 0);
    CHECK(q.type == 28 && !q.edns);
}

static void test_every_cut_question_is_refused(void)
{
    uint8_t query[512];
    struct dns_question q;
    size_t n = ask(query, "web.example.org", DNS_TYPE_A, false);
    for (size_t cut = 0; cut < n; cut++)
        CHECK_INT(dns_read(query, cut, &q), -1);
}

static void test_names_that_no_host_has_are_no_names(void)
{
    uint8_t query[512];
    struct dns_question q;
    size_t n = ask(query, "we b.example.org", DNS_TYPE_A, false);
    CHECK_INT(dns_read(query, n, &q), 0);
    CHECK_STR(q.name, "");
    query[HEAD] = 0xc0; /* compression */
    CHECK_INT(dns_read(query, n, &q), -1);
    query[2] |= 0x80; /* an answer is no question */
    CHECK_INT(dns_read(query, n, &q), -1);
}

static void test_answers_have_the_question_and_one_record(void)
{
    uint8_t query[512], out[DNS_ANSWER_MAX];
    struct dns_question q;
    size_t n = ask(query, "web.example.org", DNS_TYPE_A, false);
    CHECK_INT(dns_read(query, n, &q), 0);
    struct dns_answer a = { .kind = DNS_ADDRESS, .ipv4 = 0xc6120007 };
    size_t m = dns_write(query, &q, &a, out);
    CHECK_INT(m, n + 16);
    CHECK(memcmp(out, query, 2) == 0 && memcmp(out + HEAD, query + HEAD, n - HEAD) == 0);
    CHECK(out[2] & 0x80 && (out[3] & 15) == 0 && out[7] == 1 && out[11] == 0);
    CHECK(memcmp(out + m - 4, "\xc6\x12\0\7", 4) == 0);
    a = (struct dns_answer){ .kind = DNS_EMPTY };
    CHECK_INT(dns_write(query, &q, &a, out), n);
    CHECK(out[7] == 0 && (out[3] & 15) == 0);
}

static void test_blocked_name_does_not_exist_and_says_why(void)
{
    uint8_t query[512], out[DNS_ANSWER_MAX];
    struct dns_question q;
    size_t n = ask(query, "web.example.org", DNS_TYPE_A, true);
    CHECK_INT(dns_read(query, n, &q), 0);
    size_t m = dns_write(query, &q, &(struct dns_answer){ .kind = DNS_BLOCKED }, out);
    CHECK((out[3] & 15) == 3 && out[7] == 0 && out[11] == 1);
    CHECK(memmem(out, m, "network list", 12) != NULL);
    n = ask(query, "web.example.org", DNS_TYPE_A, false);
    CHECK_INT(dns_read(query, n, &q), 0);
    m = dns_write(query, &q, &(struct dns_answer){ .kind = DNS_BLOCKED }, out);
    CHECK_INT(m, n);
}

static void test_reverse_names_are_read_strictly(void)
{
    uint32_t ipv4 = 0;
    CHECK(dns_reverse("7.0.18.198.in-addr.arpa", &ipv4) && ipv4 == 0xc6120007);
    static const char *const wrong[] = { "", "7.0.18.in-addr.arpa", "256.0.18.198.in-addr.arpa",
                                         "7.0.18.198.in-addr.arpa.org",
                                         "x.7.0.18.198.in-addr.arpa" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(!dns_reverse(wrong[i], &ipv4));
}

static void test_pointer_is_a_name(void)
{
    uint8_t query[512], out[DNS_ANSWER_MAX];
    struct dns_question q;
    size_t n = ask(query, "7.0.18.198.in-addr.arpa", DNS_TYPE_PTR, false);
    CHECK_INT(dns_read(query, n, &q), 0);
    struct dns_answer a = { .kind = DNS_POINTER, .pointer = "web.example.org" };
    size_t m = dns_write(query, &q, &a, out);
    CHECK(m == n + 12 + 17 && memcmp(out + m - 17, "\3web\7example\3org", 17) == 0);
}

static const struct check_test tests[] = {
    TEST(test_question_is_read),
    TEST(test_every_cut_question_is_refused),
    TEST(test_names_that_no_host_has_are_no_names),
    TEST(test_answers_have_the_question_and_one_record),
    TEST(test_blocked_name_does_not_exist_and_says_why),
    TEST(test_reverse_names_are_read_strictly),
    TEST(test_pointer_is_a_name),
};
CHECK_MAIN(tests)
