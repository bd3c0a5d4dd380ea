#include "http/websocket.h"

#include <stdlib.h>

#include "base/auto.h"
#include "check.h"

struct seen {
    struct buf texts, out;
};

static void on_text(void *context, const char *bytes, size_t n)
{
    struct seen *s = context;
    struct err e;
    CHECK(buf_add(&s->texts, bytes, n, &e) == 0 && buf_add(&s->texts, "|", 1, &e) == 0);
}

static void on_output(void *context, const void *bytes, size_t n)
{
    struct seen *s = context;
    struct err e;
    CHECK(buf_add(&s->out, bytes, n, &e) == 0);
}

static const struct websocket_events events = { on_text, on_output };

static struct websocket *make(struct seen *s)
{
    struct websocket *w = NULL;
    struct err e = { 0 };
    *s = (struct seen){ 0 };
    CHECK(websocket_new(&w, &events, s, 100, &e) == 0);
    return w;
}

static void done(struct websocket *w, struct seen *s)
{
    websocket_free(w);
    buf_done(&s->texts);
    buf_done(&s->out);
}

/* A frame with a mask of zeros, so that its bytes stay readable. */
static size_t frame(char *to, unsigned first, const char *text, size_t n)
{
    to[0] = (char)first;
    to[1] = (char)(0x80 | n);
    memset(to + 2, 0, 4);
    memcpy(to + 6, text, n);
    return n + 6;
}

/* The code of the close frame at the end of the output; 0: there is none. */
static unsigned close_code(const struct seen *s)
{
    const unsigned char *p = (const unsigned char *)buf_str(&s->out);
    for (size_t at = 0; at + 1 < s->out.len; at += 2u + p[at + 1]) {
        if (p[at] == 0x88)
            return (unsigned)p[at + 2] << 8 | p[at + 3];
    }
    return 0;
}

static void test_handshake_answers_with_the_hash_of_the_key(void)
{
    struct http_header headers[] = { { "Upgrade", "WebSocket" },
                                     { "Connection", "keep-alive, Upgrade" },
                                     { "Sec-WebSocket-Version", "13" },
                                     { "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==" } };
    struct http_request q = { .headers = headers, .n_headers = 4 };
    char accept[WEBSOCKET_ACCEPT_SIZE];
    struct err e = { 0 };
    CHECK(websocket_accept(&q, accept, &e) == 0);
    CHECK_STR(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    for (int i = 0; i < 4; i++) {
        const char *value = headers[i].value;
        headers[i].value = "x";
        CHECK(websocket_accept(&q, accept, &e) == -1);
        headers[i].value = value;
    }
    q.has_body = true;
    CHECK(websocket_accept(&q, accept, &e) == -1);
}

static void test_messages_arrive_whole_in_any_pieces(void)
{
    char bytes[200];
    size_t n = frame(bytes, 0x01, "one, ", 5); /* not the last piece of its message */
    n += frame(bytes + n, 0x89, "ping", 4);
    n += frame(bytes + n, 0x80, "two", 3);
    n += frame(bytes + n, 0x81, "three", 5);
    for (size_t piece = 1; piece <= n; piece++) {
        struct seen s;
        struct websocket *w = make(&s);
        for (size_t at = 0; at < n; at += piece)
            websocket_feed(w, bytes + at, n - at < piece ? n - at : piece);
        CHECK_STR(buf_str(&s.texts), "one, two|three|");
        CHECK(s.out.len == 6 && memcmp(s.out.data, "\x8a\x04ping", 6) == 0);
        CHECK(!websocket_is_over(w));
        done(w, &s);
    }
}

static void test_bad_frames_end_the_websocket(void)
{
    static const struct {
        const char *bytes;
        size_t n;
        unsigned code;
    } rows[] = {
        { "\x81\x02hi", 4, 1002 },                           /* no mask */
        { "\x83\x80\0\0\0\0", 6, 1002 },                     /* an unknown kind */
        { "\xc1\x80\0\0\0\0", 6, 1002 },                     /* compressed, which was not offered */
        { "\x80\x80\0\0\0\0", 6, 1002 },                     /* the rest of nothing */
        { "\x81\x82\0\0\0\0\xff\xfe", 8, 1007 },             /* not UTF-8 */
        { "\x82\x81\0\0\0\0x", 7, 1003 },                    /* binary */
        { "\x81\xfe\x01\x00\0\0\0\0x", 9, 1009 },            /* 256 bytes */
        { "\x81\xff\x7f\0\0\0\0\0\0\0\0\0\0\0x", 15, 1009 }, /* 2^62 bytes and more */
        { "\x88\x82\0\0\0\0\x03\xe8", 8, 1000 },             /* a farewell */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct seen s;
        struct websocket *w = make(&s);
        websocket_feed(w, rows[i].bytes, rows[i].n);
        CHECK(websocket_is_over(w) && s.texts.len == 0);
        CHECK_INT(close_code(&s), rows[i].code);
        size_t sent = s.out.len;
        websocket_feed(w, "\x81\x80\0\0\0\0", 6);
        websocket_text(w, "late", 4);
        CHECK(s.out.len == sent && s.texts.len == 0);
        done(w, &s);
    }
}

static void test_a_close_frame_is_the_last_one(void)
{
    struct seen s;
    struct websocket *w = make(&s);
    websocket_text(w, "hi", 2);
    websocket_close(w, 4999, "Job Completed");
    websocket_text(w, "late", 4);
    CHECK(websocket_is_over(w) && s.out.len == 4 + 2 + 2 + 13);
    CHECK(memcmp(s.out.data, "\x81\x02hi\x88\x0f", 6) == 0 && close_code(&s) == 4999);
    done(w, &s);
}

static const struct check_test tests[] = {
    TEST(test_handshake_answers_with_the_hash_of_the_key),
    TEST(test_messages_arrive_whole_in_any_pieces),
    TEST(test_bad_frames_end_the_websocket),
    TEST(test_a_close_frame_is_the_last_one),
};
CHECK_MAIN(tests)
