#include <jansson.h>
#include <string.h>

#include "base/array.h"
#include "base/auto.h"
#include "check.h"
#include "cli/jupyter/connection.h"
#include "cli/jupyter/contents.h"
#include "cli/jupyter/message.h"

static const struct buf header = { .data = (char[]){ "{\"msg_id\":\"1\",\"msg_type\":\"x\"}" },
                                   .len = 29 };

/* A message as a client with this key writes it, with one identity. */
static void write_message(const char *key, const char *content, struct parts *out)
{
    scoped(signer) s = { 0 };
    struct err e;
    CHECK(signer_open(&s, key, &e) == 0);
    CHECK(parts_add(out, "client", 6, &e) == 0);
    CHECK(message_write(&s, "execute_request", &header, content, strlen(content), out, &e) == 0);
}

static enum err_code read_message(struct signer *s, const struct parts *in, struct request *ret)
{
    struct err e = { 0 };
    (void)!request_read(s, in, ret, &e);
    return e.code;
}

static void test_a_signed_message_is_read_once(void)
{
    scoped(signer) s = { 0 };
    scoped(parts) in = { 0 };
    scoped(request) r = { 0 }, again = { 0 };
    struct err e;
    CHECK(signer_open(&s, "key", &e) == 0);
    write_message("key", "{\"code\":\"1\"}", &in);
    CHECK_INT(read_message(&s, &in, &r), ERR_NONE);
    CHECK_STR(r.type, "execute_request");
    CHECK_STR(json_string_value(json_object_get(r.content, "code")), "1");
    if (CHECK_INT(r.identities.n, 1))
        CHECK_STR(buf_str(&r.identities.part[0]), "client");
    CHECK(strstr(buf_str(&r.header), "execute_request") != NULL);
    CHECK_INT(read_message(&s, &in, &again), ERR_DENIED);
    CHECK(again.content == NULL);
}

static void test_a_changed_byte_is_a_wrong_signature(void)
{
    for (size_t part = 2; part < 7; part++) {
        scoped(signer) s = { 0 };
        scoped(parts) in = { 0 };
        scoped(request) r = { 0 };
        struct err e;
        CHECK(signer_open(&s, "key", &e) == 0);
        write_message("key", "{}", &in);
        in.part[part].data[0] ^= 1;
        CHECK_INT(read_message(&s, &in, &r), ERR_DENIED);
        CHECK(r.content == NULL);
    }
    scoped(signer) s = { 0 };
    scoped(parts) in = { 0 };
    scoped(request) r = { 0 };
    struct err e;
    CHECK(signer_open(&s, "another key", &e) == 0);
    write_message("key", "{}", &in);
    CHECK_INT(read_message(&s, &in, &r), ERR_DENIED);
}

/* Every number of parts, and contents that are no object. */
static void test_a_message_without_its_form_is_refused(void)
{
    static const char *const contents[] = { "", "[]", "{", "\"x\"", "\xFF" };
    scoped(signer) s = { 0 };
    struct err e;
    CHECK(signer_open(&s, "key", &e) == 0);
    for (size_t n = 0; n < 7; n++) {
        scoped(parts) in = { 0 };
        scoped(request) r = { 0 };
        write_message("key", "{}", &in);
        while (in.n > n)
            buf_done(&in.part[--in.n]);
        CHECK_INT(read_message(&s, &in, &r), ERR_BAD_REQUEST);
    }
    for (size_t i = 0; i < ARRAY_LEN(contents); i++) {
        scoped(parts) in = { 0 };
        scoped(request) r = { 0 };
        write_message("key", contents[i], &in);
        CHECK_INT(read_message(&s, &in, &r), ERR_BAD_REQUEST);
        CHECK(r.content == NULL);
    }
    scoped(parts) many = { 0 };
    for (int i = 0; i < PARTS_MAX; i++)
        CHECK(parts_add(&many, "", 0, &e) == 0);
    CHECK(parts_add(&many, "", 0, &e) == -1);
}

static void test_a_connection_file_names_every_socket(void)
{
    struct connection c;
    struct err e;
    json_auto_t *o = json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i}", "key", "k", "ip",
                               "127.0.0.1", "transport", "tcp", "shell_port", 1, "control_port", 2,
                               "stdin_port", 3, "iopub_port", 4, "hb_port", 65535);
    CHECK(connection_parse(o, &c, &e) == 0);
    CHECK_STR(c.endpoint[CHANNEL_SHELL], "tcp://127.0.0.1:1");
    CHECK_STR(c.endpoint[CHANNEL_HEARTBEAT], "tcp://127.0.0.1:65535");
    (void)json_object_set_new(o, "transport", json_string("ipc"));
    (void)json_object_set_new(o, "ip", json_string("/tmp/k"));
    CHECK(connection_parse(o, &c, &e) == 0);
    CHECK_STR(c.endpoint[CHANNEL_IOPUB], "ipc:///tmp/k-4");
    (void)json_object_set_new(o, "hb_port", json_integer(65536));
    CHECK(connection_parse(o, &c, &e) == -1);
    CHECK(strstr(e.text, "'hb_port'") != NULL);
}

static void test_events_become_messages(void)
{
    static const struct {
        const char *event, *type, *content;
    } rows[] = {
        { "{\"event\":\"stdout\",\"data\":\"a\"}", "stream",
          "{\"name\":\"stdout\",\"text\":\"a\"}" },
        { "{\"event\":\"stderr\",\"data_base64\":\"Yf8=\"}", "stream",
          "{\"name\":\"stderr\",\"text\":\"a\xEF\xBF\xBD\"}" },
        { "{\"event\":\"display\",\"data\":{\"a/b\":\"c\"}}", "display_data",
          "{\"data\":{\"a/b\":\"c\"},\"metadata\":{},\"transient\":{}}" },
        { "{\"event\":\"clear\",\"wait\":true}", "clear_output", "{\"wait\":true}" },
        { "{\"event\":\"error\",\"name\":\"E\",\"message\":\"m\",\"traceback\":\"a\\nb\\n\"}",
          "error", "{\"ename\":\"E\",\"evalue\":\"m\",\"traceback\":[\"a\",\"b\"]}" },
        { "{\"event\":\"error\"}", "error",
          "{\"ename\":\"\",\"evalue\":\"\",\"traceback\":[\": \"]}" },
        { "{\"event\":\"display\",\"data\":7,\"display_id\":8}", "display_data",
          "{\"data\":{},\"metadata\":{},\"transient\":{}}" },
        { "{\"event\":\"queued\"}", "", "" },
        { "[]", "", "" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *type = "";
        json_auto_t *event = json_loads(rows[i].event, 0, NULL);
        json_auto_t *content = content_of_event(event, &type);
        autofree char *text = content ? json_dumps(content, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
        CHECK_STR(type, rows[i].type);
        CHECK_STR(text ? text : "", rows[i].content);
    }
}

static const struct check_test tests[] = {
    TEST(test_a_signed_message_is_read_once),
    TEST(test_a_changed_byte_is_a_wrong_signature),
    TEST(test_a_message_without_its_form_is_refused),
    TEST(test_a_connection_file_names_every_socket),
    TEST(test_events_become_messages),
};
CHECK_MAIN(tests)
