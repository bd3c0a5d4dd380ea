#include "base/text.h"

#include "base/array.h"
#include "base/auto.h"
#include "check.h"
#include "edge.h"

#define FFFD "\xEF\xBF\xBD"

struct sample {
    const char *bytes;
    size_t len;
    bool valid;
};
#define GOOD(s) { s, sizeof(s) - 1, true }
#define BAD(s)                  \
    {                           \
        s, sizeof(s) - 1, false \
    }

static const struct sample samples[] = {
    GOOD(""),
    GOOD("plain\n"),
    GOOD("\0"),
    GOOD("a\0b"),
    GOOD("\x7F"),
    GOOD("\xC2\x80"),         /* U+0080, the first of two bytes */
    GOOD("\xDF\xBF"),         /* U+07FF, the last */
    GOOD("\xE0\xA0\x80"),     /* U+0800 */
    GOOD("\xED\x9F\xBF"),     /* U+D7FF, before the surrogates */
    GOOD("\xEE\x80\x80"),     /* U+E000, after them */
    GOOD("\xEF\xBF\xBF"),     /* U+FFFF */
    GOOD("\xF0\x90\x80\x80"), /* U+10000 */
    GOOD("\xF4\x8F\xBF\xBF"), /* U+10FFFF */
    GOOD("gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80"),
    BAD("\x80"), /* a continuation alone */
    BAD("\xBF"),
    BAD("a\x80z"),
    BAD("\xC0\x80"),                 /* overlong NUL */
    BAD("\xC0\xAF"),                 /* overlong '/' */
    BAD("\xC1\xBF"),                 /* overlong U+007F */
    BAD("\xE0\x80\xAF"),             /* overlong '/' in three */
    BAD("\xE0\x9F\xBF"),             /* overlong U+07FF */
    BAD("\xF0\x80\x80\xAF"),         /* overlong '/' in four */
    BAD("\xF0\x8F\xBF\xBF"),         /* overlong U+FFFF */
    BAD("\xED\xA0\x80"),             /* U+D800 */
    BAD("\xED\xBF\xBF"),             /* U+DFFF */
    BAD("\xED\xA0\xBD\xED\xB8\x80"), /* a pair of surrogates */
    BAD("\xF4\x90\x80\x80"),         /* U+110000 */
    BAD("\xF5\x80\x80\x80"),
    BAD("\xF8\x88\x80\x80\x80"), /* five bytes, as they once were */
    BAD("\xFC\x84\x80\x80\x80\x80"),
    BAD("\xFE"),
    BAD("\xFF"),
    BAD("\xC2"), /* cut short */
    BAD("\xE2\x82"),
    BAD("\xE2"),
    BAD("\xF0\x9F\x98"),
    BAD("\xF0\x9F"),
    BAD("\xF0"),
    BAD("\xC2z"), /* broken off */
    BAD("\xE2\x82z"),
    BAD("\xF0\x9F\x98z"),
    BAD("\xC2\xC2\x80"),
};

static void test_well_formed_text_is_told_from_the_rest(void)
{
    for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
        const char *copy = edge_copy(samples[i].bytes, samples[i].len);
        if (!CHECK(text_is_utf8(copy, samples[i].len) == samples[i].valid))
            printf("    sample %zu\n", i);
    }
}

static size_t encode(uint32_t c, char out[4])
{
    if (c < 0x80)
        return out[0] = (char)c, 1;
    if (c < 0x800)
        return out[0] = (char)(0xC0 | c >> 6), out[1] = (char)(0x80 | (c & 63)), 2;
    if (c < 0x10000)
        return out[0] = (char)(0xE0 | c >> 12), out[1] = (char)(0x80 | (c >> 6 & 63)),
               out[2] = (char)(0x80 | (c & 63)), 3;
    return out[0] = (char)(0xF0 | c >> 18), out[1] = (char)(0x80 | (c >> 12 & 63)),
           out[2] = (char)(0x80 | (c >> 6 & 63)), out[3] = (char)(0x80 | (c & 63)), 4;
}

static void test_every_code_point_is_judged_rightly(void)
{
    unsigned wrong = 0;
    for (uint32_t c = 0; c < 0x120000; c++) {
        char bytes[4];
        size_t n = encode(c, bytes);
        bool valid = c <= 0x10FFFF && !(c >= 0xD800 && c <= 0xDFFF);
        wrong += text_is_utf8(bytes, n) != valid;
        for (size_t cut = 1; cut < n; cut++)
            wrong += text_is_utf8(bytes, cut);
    }
    CHECK_INT(wrong, 0);
}

static void test_every_pair_of_bytes_is_judged_rightly(void)
{
    unsigned valid = 0;
    for (int i = 0; i < 65536; i++) {
        const char bytes[2] = { (char)(i >> 8), (char)i };
        valid += text_is_utf8(bytes, 2);
    }
    CHECK_INT(valid, 128 * 128 + 30 * 64); /* two of one byte, or one of two */
}

static void test_whatever_comes_in_well_formed_text_comes_out(void)
{
    for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
        scoped(buf) b = { 0 };
        struct err e = { 0 };
        const char *copy = edge_copy(samples[i].bytes, samples[i].len);
        CHECK_INT(text_add_utf8(&b, copy, samples[i].len, &e), 0);
        CHECK(text_is_utf8(buf_str(&b), b.len));
        CHECK((strstr(buf_str(&b), FFFD) != NULL) == !samples[i].valid);
        if (samples[i].valid)
            CHECK(b.len == samples[i].len && memcmp(buf_str(&b), copy, b.len) == 0);
    }
}

static void test_replacement_spares_its_neighbours(void)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        { "a\xFFz", "a" FFFD "z" }, { "\xFF", FFFD },
        { "\xFF\xFE", FFFD FFFD },  { "ab\xC2", "ab" FFFD },
        { "\xC2z", FFFD "z" },      { "\xC3\xBC\x80\xC3\xBC", "\xC3\xBC" FFFD "\xC3\xBC" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        scoped(buf) b = { 0 };
        struct err e = { 0 };
        CHECK_INT(text_add_utf8(&b, rows[i].in, strlen(rows[i].in), &e), 0);
        CHECK_STR(buf_str(&b), rows[i].out);
    }
}

static void test_replacement_appends(void)
{
    scoped(buf) b = { 0 };
    struct err e = { 0 };
    CHECK_INT(buf_add(&b, "x\xFF", 2, &e), 0);
    CHECK_INT(text_add_utf8(&b, "y", 1, &e), 0);
    CHECK_INT(text_add_utf8(&b, "", 0, &e), 0);
    CHECK_STR(buf_str(&b), "x\xFFy");
}

static void test_base64_is_that_of_rfc_4648(void)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        { "", "" },
        { "f", "Zg==" },
        { "fo", "Zm8=" },
        { "foo", "Zm9v" },
        { "foob", "Zm9vYg==" },
        { "fooba", "Zm9vYmE=" },
        { "foobar", "Zm9vYmFy" },
        { "\xFB\xFF\xFE", "+//+" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        scoped(buf) b = { 0 };
        struct err e = { 0 };
        CHECK_INT(buf_add(&b, "=", 1, &e), 0);
        CHECK_INT(text_add_base64(&b, rows[i].in, strlen(rows[i].in), &e), 0);
        CHECK_STR(buf_str(&b) + 1, rows[i].out);
        CHECK_INT(b.len, strlen(rows[i].out) + 1);
    }
}

static void test_base64_of_all_lengths_fits_its_buffer(void)
{
    static const char zeros[3000];
    for (size_t n = 0; n < sizeof zeros; n += 7) {
        scoped(buf) b = { 0 };
        struct err e = { 0 };
        CHECK_INT(text_add_base64(&b, zeros, n, &e), 0);
        CHECK_INT(b.len, (n + 2) / 3 * 4);
        CHECK_INT(strspn(buf_str(&b), "A="), b.len);
    }
}

static void test_quote_shows_nothing_that_moves_a_terminal(void)
{
    char out[96];
    CHECK_STR(text_quote("", out, sizeof out), "");
    CHECK_STR(text_quote("plain value", out, sizeof out), "plain value");
    CHECK_STR(text_quote("it's", out, sizeof out), "it\\x27s");
    CHECK_STR(text_quote("a\\b", out, sizeof out), "a\\x5cb");
    CHECK_STR(text_quote("\x1B[2J", out, sizeof out), "\\x1b[2J");
    CHECK_STR(text_quote("a\nb\r\t\x7F", out, sizeof out), "a\\x0ab\\x0d\\x09\\x7f");
    CHECK_STR(text_quote("gr\xC3\xBCn", out, sizeof out), "gr\xC3\xBCn");
    for (int c = 1; c < 0x20; c++) {
        const char in[2] = { (char)c, '\0' };
        CHECK_INT(strlen(text_quote(in, out, sizeof out)), 4);
    }
}

static void test_quote_cuts_long_values_and_says_so(void)
{
    char in[400], out[200];
    memset(in, 'a', sizeof in - 1);
    in[sizeof in - 1] = '\0';
    CHECK(strlen(text_quote(in, out, sizeof out)) <= 80);
    CHECK_STR(out + strlen(out) - 3, "...");
    memset(in, '\n', sizeof in - 1);
    CHECK(strlen(text_quote(in, out, sizeof out)) <= 80);
    CHECK_STR(out + strlen(out) - 3, "...");
    in[40 / 4] = '\0';
    CHECK_INT(strlen(text_quote(in, out, sizeof out)), 40);
}

static void test_quote_stays_inside_any_buffer(void)
{
    char in[200];
    for (size_t len = 0; len < sizeof in; len += 3) {
        memset(in, len % 2 ? 'a' : '\1', len);
        in[len] = '\0';
        for (size_t size = 1; size < 100; size++) {
            char *out = edge_room(size);
            CHECK(text_quote(in, out, size) == out);
            CHECK(memchr(out, '\0', size) != NULL);
        }
    }
}

static void test_a_character_that_has_only_begun_is_cut_off(void)
{
    static const struct {
        const char *bytes;
        size_t whole;
    } rows[] = {
        { "", 0 },
        { "abc", 3 },
        { "a\xC3\xA9", 3 },
        { "a\xC3", 1 },
        { "\xE2\x82", 0 },
        { "x\xE2\x82\xAC", 4 },
        { "x\xF0\x9F\x98", 1 },
        { "x\xF0\x9F\x98\x80", 5 },
        { "x\x80\x80", 3 },
        { "x\xFF", 2 },
        { "\x80\x80\x80\x80", 4 },
        { "ab\xF0", 2 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[16];
        (void)snprintf(text, sizeof text, "%s", rows[i].bytes);
        text_end_whole(text);
        CHECK_INT(text_whole(rows[i].bytes, strlen(rows[i].bytes)), rows[i].whole);
        CHECK_INT(strlen(text), rows[i].whole);
    }
}

static void test_characters_are_counted_and_not_bytes(void)
{
    CHECK_INT(text_characters("", 0), 0);
    CHECK_INT(text_characters("a\xC3\xA9x\xE2\x82\xAC\xF0\x9F\x98\x80", 11), 5);
    CHECK_INT(text_characters("a\xC3\xA9x", 1), 1);
}

static void test_base64_that_was_written_is_read_back(void)
{
    char bytes[67];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 37 + 200);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        struct err e = { 0 };
        scoped(buf) text = { 0 };
        scoped(buf) back = { 0 };
        CHECK_INT(text_add_base64(&text, bytes, n, &e), 0);
        CHECK_INT(buf_add(&back, "x", 1, &e), 0);
        CHECK_INT(text_base64_decode(buf_str(&text), text.len, &back, &e), 0);
        CHECK_INT(back.len, n + 1);
        CHECK(back.data[0] == 'x' && memcmp(back.data + 1, bytes, n) == 0);
    }
}

static void test_base64_that_is_not_is_refused(void)
{
    static const char *const bad[] = {
        "A",    "AA",   "AAA",  "AAAAA", "AA==AAAA", "A===",       "====",       "=AAA",    "AA=A",
        "AB==", "AAB=", "AA A", "AAA\n", "AA-_",     "AAAA\r\n==", "AA\xC3\xBC", "AAAA===="
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err e = { 0 };
        scoped(buf) out = { 0 };
        CHECK_INT(buf_add(&out, "kept", 4, &e), 0);
        if (!CHECK_INT(text_base64_decode(bad[i], strlen(bad[i]), &out, &e), -1))
            printf("    %s\n", bad[i]);
        CHECK_INT(e.code, ERR_BAD_REQUEST);
        CHECK_INT(out.len, 4);
    }
}

static void test_what_a_terminal_would_obey_is_not_printable(void)
{
    static const struct {
        const char *bytes;
        size_t len, printable;
    } rows[] = {
        { "", 0, 0 },
        { "a", 1, 1 },
        { "'", 1, 1 },
        { "\x1b", 1, 0 },
        { "\n", 1, 0 },
        { "\x7f", 1, 0 },
        { "\x9b", 1, 0 },
        { "\xc2", 1, 0 },
        { "\xc2\x9b", 2, 0 },
        { "\xc2\xa0", 2, 2 },
        { "\xd8\x9c", 2, 0 },
        { "\xe2\x80\x8f", 3, 0 },
        { "\xe2\x80\xaa", 3, 0 },
        { "\xe2\x80\xae", 3, 0 },
        { "\xe2\x80\xaf", 3, 3 },
        { "\xe2\x81\xa6", 3, 0 },
        { "\xe2\x81\xa9", 3, 0 },
        { "\xf0\x9f\x98\x80", 4, 4 },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!CHECK_INT(text_printable(rows[i].bytes, rows[i].len), rows[i].printable))
            printf("    row %zu\n", i);
}

static void test_messages_lose_the_paths_of_this_machine(void)
{
    static const struct {
        const char *message, *shown;
    } rows[] = {
        { "", "" },
        { "no path", "no path" },
        { "/srv/state/data/belljar.db: write: the disk is full", "PATH: write: the disk is full" },
        { "open '/srv/my state/x': No such file", "open 'PATH': No such file" },
        { "open '/srv/cut in the mid", "open 'PATH in the mid" },
        { "mount /usr on /run/belljar/root, twice", "mount PATH on PATH, twice" },
        { "a=/etc/x;b=(/etc/y)", "a=PATH;b=(PATH)" },
        { "unix:/run/belljar.sock", "unix:PATH" },
        /* no path of this machine */
        { "open /sandbox: No such file", "open /sandbox: No such file" },
        { "write '/sandbox/a b/c.py'", "write '/sandbox/a b/c.py'" },
        { "make /dev/null", "make /dev/null" },
        { "the working directory of /execute", "the working directory of /execute" },
        { "GET /v1/runs", "GET /v1/runs" },
        { "the file sub/main.py", "the file sub/main.py" },
        { "1/2 of 3 / 4, and/or", "1/2 of 3 / 4, and/or" },
        { "http://host/x", "http://host/x" },
        /* only nearly */
        { "/sandboxes/x /devices", "PATH PATH" },
    };
    char out[128];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!CHECK_STR(text_hide_paths(rows[i].message, out, sizeof out), rows[i].shown))
            printf("    row %zu\n", i);
}

static void test_messages_without_paths_stay_inside_any_buffer(void)
{
    static const char message[] = "open /a and /sandbox/b and /srv/c";
    for (size_t size = 0; size < sizeof message + 8; size++) {
        char out[sizeof message + 8];
        memset(out, 'x', sizeof out);
        const char *shown = text_hide_paths(message, out, size);
        CHECK(strlen(shown) < (size > 0 ? size : 1));
        CHECK(!strstr(shown, "/a") && !strstr(shown, "/srv"));
        CHECK_INT(out[size], 'x');
    }
}

static const struct check_test tests[] = {
    TEST(test_messages_lose_the_paths_of_this_machine),
    TEST(test_messages_without_paths_stay_inside_any_buffer),
    TEST(test_what_a_terminal_would_obey_is_not_printable),
    TEST(test_well_formed_text_is_told_from_the_rest),
    TEST(test_every_code_point_is_judged_rightly),
    TEST(test_every_pair_of_bytes_is_judged_rightly),
    TEST(test_whatever_comes_in_well_formed_text_comes_out),
    TEST(test_replacement_spares_its_neighbours),
    TEST(test_replacement_appends),
    TEST(test_base64_is_that_of_rfc_4648),
    TEST(test_base64_of_all_lengths_fits_its_buffer),
    TEST(test_characters_are_counted_and_not_bytes),
    TEST(test_base64_that_was_written_is_read_back),
    TEST(test_base64_that_is_not_is_refused),
    TEST(test_quote_shows_nothing_that_moves_a_terminal),
    TEST(test_quote_cuts_long_values_and_says_so),
    TEST(test_quote_stays_inside_any_buffer),
    TEST(test_a_character_that_has_only_begun_is_cut_off),
};
CHECK_MAIN(tests)
