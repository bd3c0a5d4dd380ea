#include "api/doors/e2b/frames.h"

#include <string.h>

#include "base/auto.h"
#include "check.h"

static struct err e;

static void test_envelope_comes_back_as_it_was_written(void)
{
    scoped(buf) b = { 0 };
    const char *json;
    size_t n;
    CHECK(envelope_add(&b, 0, "{\"a\":1}", 7, &e) == 0);
    CHECK(b.len == ENVELOPE_HEAD + 7 && memcmp(b.data, "\0\0\0\0\7{", 6) == 0);
    CHECK(envelope_read(b.data, b.len, &json, &n, &e) == 0 && n == 7);
    CHECK(memcmp(json, "{\"a\":1}", 7) == 0);
}

static void test_bad_envelopes_are_refused(void)
{
    static const struct {
        const char *bytes;
        size_t n;
    } rows[] = {
        { "", 0 },
        { "\0\0\0\0", 4 },
        { "\1\0\0\0\0", 5 },
        { "\2\0\0\0\0", 5 },
        { "\0\0\0\0\2{", 6 },
        { "\0\0\0\0\0{", 6 },
        { "\0\377\377\377\377{}", 7 },
    };
    const char *json = NULL;
    size_t n = 77;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(envelope_read(rows[i].bytes, rows[i].n, &json, &n, &e) == -1);
        CHECK(e.code == ERR_BAD_REQUEST && !json && n == 77);
    }
}

static void test_frames_of_the_helper_come_in_any_pieces(void)
{
    scoped(buf) b = { 0 };
    struct helper_frame f;
    size_t at = 0, before;
    CHECK(helper_frame_add(&b, "{}", 2, "xyz", 3, &e) == 0);
    CHECK(helper_frame_add(&b, "[1]", 3, NULL, 0, &e) == 0);
    for (size_t n = 0; n < HELPER_HEAD + 5; n++)
        CHECK(helper_frame_next(b.data, n, &at, &f, &e) == 0 && at == 0);
    CHECK(helper_frame_next(b.data, b.len, &at, &f, &e) == 1);
    CHECK(f.n_json == 2 && f.n_bytes == 3 && memcmp(f.bytes, "xyz", 3) == 0);
    CHECK(helper_frame_next(b.data, b.len, &at, &f, &e) == 1);
    CHECK(f.n_json == 3 && f.n_bytes == 0 && at == b.len);
    before = at;
    CHECK(helper_frame_next(b.data, b.len, &at, &f, &e) == 0 && at == before);
}

static void test_a_frame_above_its_bounds_is_refused(void)
{
    static const char *const heads[] = { "\1\0\200\0\0\0\0\0", "\0\0\0\0\1\0\1\0",
                                         "\377\377\377\377\377\377\377\377" };
    struct helper_frame f;
    for (size_t i = 0; i < 3; i++) {
        size_t at = 0;
        CHECK(helper_frame_next(heads[i], HELPER_HEAD, &at, &f, &e) == -1);
        CHECK(e.code == ERR_PROTOCOL);
    }
}

static const struct check_test tests[] = {
    TEST(test_envelope_comes_back_as_it_was_written),
    TEST(test_bad_envelopes_are_refused),
    TEST(test_frames_of_the_helper_come_in_any_pieces),
    TEST(test_a_frame_above_its_bounds_is_refused),
};
CHECK_MAIN(tests)
