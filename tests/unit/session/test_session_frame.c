#include "session/frame.h"

#include <string.h>

#include "base/auto.h"
#include "check.h"
#include "session/events.h"

static struct err e;

/* A packet: head and data. */
static struct buf packet(uint16_t type, uint16_t flags, const struct buf *data)
{
    struct buf b = { 0 };
    char head[FRAME_HEAD];
    frame_write_head(
        head, &(struct session_frame){ .seq = 1, .request = 7, .type = type, .flags = flags });
    CHECK(buf_add(&b, head, sizeof head, &e) == 0);
    CHECK(buf_add(&b, buf_str(data), data->len, &e) == 0);
    return b;
}

static void add(struct buf *data, enum frame_tag tag, const char *text)
{
    CHECK(frame_add_field(data, tag, text, strlen(text), &e) == 0);
}

static void test_frames_come_back_as_they_were_written(void)
{
    scoped(buf) data = { 0 };
    struct session_frame f;
    struct frame_field field;
    add(&data, TAG_MIME, "text/plain");
    add(&data, TAG_DATA, "");
    scoped(buf) p = packet(FRAME_DISPLAY, FRAME_MORE, &data);
    CHECK(frame_read(p.data, p.len, &f, &e) == 0);
    CHECK_INT(f.seq, 1);
    CHECK_INT(f.request, 7);
    CHECK_INT(f.type, FRAME_DISPLAY);
    CHECK_INT(f.flags, FRAME_MORE);
    CHECK_INT(f.n, data.len);
    CHECK(frame_find_field(&data, TAG_DATA, &field) && field.n == 0);
    CHECK(!frame_find_field(&data, TAG_CODE, &field));
}

static void test_frames_that_are_too_short_or_too_long_are_refused(void)
{
    static const char zeros[FRAME_MAX + 1];
    struct session_frame f;
    for (size_t n = 0; n < FRAME_HEAD; n++)
        CHECK(frame_read(zeros, n, &f, &e) == -1);
    CHECK(frame_read(zeros, FRAME_MAX, &f, &e) == 0);
    CHECK(frame_read(zeros, FRAME_MAX + 1, &f, &e) == -1);
    CHECK_INT(e.code, ERR_PROTOCOL);
}

static void test_fields_that_do_not_fit_are_not_read(void)
{
    struct frame_field f;
    char data[] = "\x03\0\0\0\x05\0\0\0abcd"; /* five bytes are promised, four are there */
    size_t at = 0;
    CHECK_INT(frame_next_field(data, sizeof data - 1, &at, &f), -1);
    at = 0;
    CHECK_INT(frame_next_field(data, 7, &at, &f), -1); /* half a head */
    memset(data + 4, 0xff, 4);
    at = 0;
    CHECK_INT(frame_next_field(data, sizeof data - 1, &at, &f), -1);
}

static void test_messages_of_many_frames_are_joined_and_bounded(void)
{
    static const char bytes[FRAME_DATA_MAX];
    scoped(frame_message) m = { 0 };
    bool whole = true;
    struct session_frame f = {
        .type = FRAME_DISPLAY, .flags = FRAME_MORE, .data = bytes, .n = sizeof bytes
    };
    for (int i = 0; i < MESSAGE_IN_MAX / FRAME_DATA_MAX; i++)
        CHECK(frame_message_add(&m, &f, &whole, &e) == 0 && !whole);
    CHECK(frame_message_add(&m, &f, &whole, &e) == -1);
    CHECK_INT(e.code, ERR_PROTOCOL);
    f.type = FRAME_RESULT;
    f.n = 1;
    CHECK(frame_message_add(&m, &f, &whole, &e) ==
          -1); /* another message before the end of this one */
}

static void test_displays_are_bundles_with_repaired_text(void)
{
    scoped(frame_message) m = { .type = FRAME_DISPLAY };
    add(&m.data, TAG_MIME, "text/plain");
    add(&m.data, TAG_DATA, "a\xff");
    add(&m.data, TAG_MIME, "image/png");
    add(&m.data, TAG_DATA, "\x89PNG");
    add(&m.data, TAG_MIME, "application/json");
    add(&m.data, TAG_DATA, "{\"a\": [1]}");
    add(&m.data, TAG_MIME, "application/geo+json");
    add(&m.data, TAG_DATA, "not json");
    add(&m.data, TAG_MIME, "no slash");
    add(&m.data, TAG_DATA, "dropped");
    json_auto_t *event = event_json(&m);
    const json_t *data = json_object_get(event, "data");
    CHECK_STR(json_string_value(json_object_get(data, "text/plain")), "a\xef\xbf\xbd");
    CHECK_STR(json_string_value(json_object_get(data, "image/png")), "iVBORw==");
    CHECK(json_is_object(json_object_get(data, "application/json")));
    CHECK_STR(json_string_value(json_object_get(data, "application/geo+json")), "not json");
    CHECK_INT(json_object_size(data), 4);
}

static void journal_message(struct journal *j, uint16_t type, const struct buf *data)
{
    scoped(buf) p = packet(type, 0, data);
    CHECK(journal_add(j, JOURNAL_FRAME, 0, p.data, p.len, &e) == 0);
}

static void test_the_answer_of_a_cell_applies_updates_and_clears(void)
{
    scoped(journal) j = { 0 };
    scoped(buf) first = { 0 }, second = { 0 }, count = { 0 }, none = { 0 };
    journal_init(&j, -1);
    add(&first, TAG_DISPLAY_ID, "d");
    add(&first, TAG_MIME, "text/plain");
    add(&first, TAG_DATA, "old");
    add(&second, TAG_DISPLAY_ID, "d");
    add(&second, TAG_MIME, "text/plain");
    add(&second, TAG_DATA, "new");
    add(&count, TAG_COUNT, "12");
    journal_message(&j, FRAME_DISPLAY, &first);
    journal_message(&j, FRAME_CLEAR, &none);
    journal_message(&j, FRAME_DISPLAY, &first);
    journal_message(&j, FRAME_UPDATE, &second);
    journal_message(&j, FRAME_DONE, &count);
    json_auto_t *answer = json_object();
    size_t room = GUEST_VALUES_MAX;
    event_add_outputs(answer, &j, &room);
    const json_t *displays = json_object_get(answer, "displays");
    CHECK_INT(json_array_size(displays), 1);
    const json_t *data = json_object_get(json_array_get(displays, 0), "data");
    CHECK_STR(json_string_value(json_object_get(data, "text/plain")), "new");
    CHECK_INT(json_integer_value(json_object_get(answer, "execution_count")), 12);
    CHECK(json_is_null(json_object_get(answer, "error")));
}

/* EVENTS-2 */
static void test_json_of_too_many_values_is_text(void)
{
    enum { PAIRS = GUEST_VALUES_MAX / 4 };
    scoped(journal) j = { 0 };
    scoped(buf) json = { 0 }, display = { 0 };
    journal_init(&j, -1);
    CHECK(buf_add(&json, "[0", 2, &e) == 0);
    for (int i = 0; i < PAIRS; i++)
        CHECK(buf_add(&json, ",{}", 3, &e) == 0);
    CHECK(buf_add(&json, "]", 1, &e) == 0);
    add(&display, TAG_MIME, "application/json");
    CHECK(frame_add_field(&display, TAG_DATA, json.data, json.len, &e) == 0);
    for (size_t at = 0; at < 3 * display.len; at += FRAME_DATA_MAX) { /* one message, three times */
        size_t from = at % display.len, left = display.len - from;
        size_t n = left < FRAME_DATA_MAX ? left : FRAME_DATA_MAX;
        scoped(buf) part = { 0 };
        CHECK(buf_add(&part, display.data + from, n, &e) == 0);
        scoped(buf) p = packet(FRAME_DISPLAY, n < left ? FRAME_MORE : 0, &part);
        CHECK(journal_add(&j, JOURNAL_FRAME, 0, p.data, p.len, &e) == 0);
        at -= FRAME_DATA_MAX - n;
    }
    json_auto_t *answer = json_object();
    size_t room = GUEST_VALUES_MAX;
    event_add_outputs(answer, &j, &room);
    const json_t *displays = json_object_get(answer, "displays");
    CHECK_INT(json_array_size(displays), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *data = json_object_get(json_array_get(displays, i), "data");
        const json_t *value = json_object_get(data, "application/json");
        CHECK(i == 0 ? json_is_array(value) : json_is_string(value));
    }
}

static const struct check_test tests[] = {
    TEST(test_frames_come_back_as_they_were_written),
    TEST(test_frames_that_are_too_short_or_too_long_are_refused),
    TEST(test_fields_that_do_not_fit_are_not_read),
    TEST(test_messages_of_many_frames_are_joined_and_bounded),
    TEST(test_displays_are_bundles_with_repaired_text),
    TEST(test_the_answer_of_a_cell_applies_updates_and_clears),
    TEST(test_json_of_too_many_values_is_text),
};
CHECK_MAIN(tests)
