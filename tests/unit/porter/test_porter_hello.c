#include "porter/hello.h"

#include "check.h"

/* A message with this server name, in records of `step` bytes. */
static size_t make(const char *name, size_t step, uint8_t out[2048])
{
    uint8_t message[1024] = { 1 };
    size_t n = 4 + 2 + 32, host = strlen(name), used = 0;
    message[n++] = 0; /* no session */
    memcpy(message + n, "\0\2\x13\1", 4);
    n += 4;
    memcpy(message + n, "\1\0", 2);
    n += 2;
    size_t extensions = n;
    n += 2;
    memcpy(message + n, "\0\x0b\0\2\1\0", 6); /* another extension comes first */
    n += 6;
    if (host > 0) {
        const uint8_t head[9] = {
            0, 0, 0, (uint8_t)(host + 5), 0, (uint8_t)(host + 3), 0, 0, (uint8_t)host
        };
        memcpy(message + n, head, sizeof head);
        n += sizeof head;
        memcpy(message + n, name, host);
        n += host;
    }
    message[extensions] = (uint8_t)((n - extensions - 2) >> 8);
    message[extensions + 1] = (uint8_t)(n - extensions - 2);
    message[2] = (uint8_t)((n - 4) >> 8);
    message[3] = (uint8_t)(n - 4);
    for (size_t at = 0; at < n; at += step) {
        size_t length = n - at < step ? n - at : step;
        const uint8_t head[5] = { 22, 3, 1, (uint8_t)(length >> 8), (uint8_t)length };
        memcpy(out + used, head, sizeof head);
        memcpy(out + used + 5, message + at, length);
        used += 5 + length;
    }
    return used;
}

static void test_server_name_is_found(void)
{
    uint8_t bytes[2048];
    char name[HELLO_NAME_SIZE];
    size_t n = make("Web.example.org", 1024, bytes);
    CHECK_INT(hello_read(bytes, n, name), HELLO_NAME);
    CHECK_STR(name, "web.example.org");
    n = make("", 1024, bytes);
    CHECK_INT(hello_read(bytes, n, name), HELLO_NONE);
}

static void test_name_is_found_in_small_records(void)
{
    uint8_t bytes[2048];
    char name[HELLO_NAME_SIZE];
    for (size_t step = 1; step < 40; step++) {
        size_t n = make("web.example.org", step, bytes);
        CHECK_INT(hello_read(bytes, n, name), HELLO_NAME);
        CHECK_STR(name, "web.example.org");
    }
}

static void test_every_part_needs_more(void)
{
    uint8_t bytes[2048];
    char name[HELLO_NAME_SIZE];
    size_t n = make("web.example.org", 30, bytes);
    for (size_t cut = 0; cut < n; cut++)
        CHECK_INT(hello_read(bytes, cut, name), HELLO_MORE);
}

static void test_other_protocols_name_nobody(void)
{
    char name[HELLO_NAME_SIZE];
    CHECK_INT(hello_read((const uint8_t *)"GET / HTTP/1.1\r\n", 16, name), HELLO_NONE);
    CHECK_INT(hello_read((const uint8_t *)"S", 1, name), HELLO_NONE);
}

/* A server might understand it in another way than we do. */
static void test_broken_messages_are_bad(void)
{
    uint8_t bytes[2048];
    char name[HELLO_NAME_SIZE];
    size_t n = make("web.example.org", 1024, bytes);
    bytes[1] = 2;
    CHECK_INT(hello_read(bytes, n, name), HELLO_BAD);
    n = make("web.example.org", 1024, bytes);
    bytes[5] = 2; /* no client hello */
    CHECK_INT(hello_read(bytes, n, name), HELLO_BAD);
    n = make("web.example.org", 1024, bytes);
    bytes[43] = 255; /* a session longer than the message */
    CHECK_INT(hello_read(bytes, n, name), HELLO_BAD);
    n = make("web example.org", 1024, bytes);
    CHECK_INT(hello_read(bytes, n, name), HELLO_BAD);
    n = make("web.example.org", 30, bytes);
    bytes[35] = 23; /* data among the records */
    CHECK_INT(hello_read(bytes, n, name), HELLO_BAD);
    CHECK_INT(hello_read((const uint8_t *)"\x16\3\1\0\0\x16\3\1\0\0", 10, name), HELLO_BAD);
}

static const struct check_test tests[] = {
    TEST(test_server_name_is_found),    TEST(test_name_is_found_in_small_records),
    TEST(test_every_part_needs_more),   TEST(test_other_protocols_name_nobody),
    TEST(test_broken_messages_are_bad),
};
CHECK_MAIN(tests)
