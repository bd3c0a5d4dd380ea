#include "http/reply_reader.h"

#include "base/array.h"
#include "base/auto.h"
#include "check.h"

struct told {
    int status;
    struct buf text;
};

static void on_head(void *context, int status, const struct http_header *headers, size_t n)
{
    struct told *t = context;
    struct err e;
    t->status = status;
    for (size_t i = 0; i < n; i++)
        CHECK(!buf_addf(&t->text, &e, "[%s=%s]", headers[i].name, headers[i].value));
}

static void on_body(void *context, const char *bytes, size_t n)
{
    struct told *t = context;
    struct err e;
    CHECK(!buf_add(&t->text, bytes, n, &e));
}

static const struct reply_events events = { on_head, on_body };

enum end { WHOLE, AT_CLOSE, UPGRADED, CUT, REFUSED };

/* In pieces of n bytes. */
static enum end read_all(const char *bytes, size_t n, bool to_head, bool upgrades, struct told *t)
{
    struct reply_reader *r;
    struct err e = { 0 };
    enum reply_state state = REPLY_MORE;
    int failed = 0;
    CHECK(!reply_reader_new(&r, &events, t, to_head, upgrades, &e));
    for (size_t at = 0, size = strlen(bytes); at < size && !failed; at += n)
        failed = reply_reader_feed(r, bytes + at, size - at < n ? size - at : n, &state, &e);
    enum end end = failed                    ? REFUSED
                   : state == REPLY_WHOLE    ? WHOLE
                   : state == REPLY_UPGRADED ? UPGRADED
                   : reply_reader_end(r)     ? AT_CLOSE
                                             : CUT;
    CHECK(!failed || e.code == ERR_PROTOCOL);
    reply_reader_free(r);
    return end;
}

#define OK "HTTP/1.1 200 OK\r\n"

static const struct {
    const char *bytes, *text;
    int status;
    enum end end;
    bool to_head, upgrades;
} rows[] = {
    { OK "A: b \r\nContent-Length: 2\r\n\r\nhi and more", "[A=b][Content-Length=2]hi", 200, WHOLE,
      false, false },
    { OK "Content-Length: 2\r\n\r\nhi", "[Content-Length=2]", 200, WHOLE, true, false },
    { OK "Content-Length: 3\r\n\r\nhi", "[Content-Length=3]hi", 200, CUT, false, false },
    { "HTTP/1.1 304\r\n\r\nx", "", 304, WHOLE, false, false },
    { "HTTP/1.0 200 OK\r\n\r\nuntil", "until", 200, AT_CLOSE, false, false },
    { "HTTP/1.1 100 Continue\r\n\r\n" OK "\r\nx", "x", 200, AT_CLOSE, false, false },
    { OK "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\nx", "[Transfer-Encoding=chunked]hi",
      200, WHOLE, false, false },
    { "HTTP/1.1 101 S\r\n\r\nraw", "raw", 101, UPGRADED, false, true },
    { "HTTP/1.1 101 S\r\n\r\nraw", "", 0, REFUSED, false, false },
    { OK "Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi", "", 0, REFUSED, false, false },
    { OK "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", 0, REFUSED, false,
      false },
    { OK "Transfer-Encoding: gzip\r\n\r\n", "", 0, REFUSED, false, false },
    { OK "Content-Length: -1\r\n\r\n", "", 0, REFUSED, false, false },
    { OK "A: b\r\n c\r\n\r\n", "", 0, REFUSED, false, false },
    { OK "A : b\r\n\r\n", "", 0, REFUSED, false, false },
    { OK "A\r\n\r\n", "", 0, REFUSED, false, false },
    { "HTTP/1.1 200 OK\nA: b\n\n", "", 0, REFUSED, false, false },
    { "HTTP/2 200\r\n\r\n", "", 0, REFUSED, false, false },
    { "HTTP/1.1 20\r\n\r\n", "", 0, REFUSED, false, false },
    { "HTTP/1.1 2000\r\n\r\n", "", 0, REFUSED, false, false },
    { "HTTP/1.1 099 No\r\n\r\n", "", 0, REFUSED, false, false },
    { "SSH-2.0\r\n\r\n", "", 0, REFUSED, false, false },
    { "HTTP/1.1 20", "", 0, CUT, false, false },
    { "", "", 0, CUT, false, false },
};

static void test_answers_of_other_servers_are_read_strictly(void)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (size_t n = 1; n < 200; n += n == 1 ? 5 : 97) {
            struct told t = { 0 };
            if (!CHECK_INT(read_all(rows[i].bytes, n, rows[i].to_head, rows[i].upgrades, &t),
                           rows[i].end))
                printf("    %s\n", rows[i].bytes);
            CHECK_INT(t.status, rows[i].status);
            CHECK_STR(buf_str(&t.text), rows[i].text);
            buf_done(&t.text);
        }
}

static const struct check_test tests[] = { TEST(test_answers_of_other_servers_are_read_strictly) };
CHECK_MAIN(tests)
