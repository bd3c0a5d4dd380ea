#include "api/execute/execute_request.h"

#include <string.h>
#include <strings.h>

#include "api/kernel/json_in.h"
#include "base/array.h"
#include "runtime/language.h"
#include "spec/bundle.h"

void execute_request_done(struct execute_request *q)
{
    payload_done(&q->payload);
}

static bool is_json(const char *type)
{
    if (!type)
        return false;
    size_t n = strcspn(type, ";");
    while (n > 0 && (type[n - 1] == ' ' || type[n - 1] == '\t'))
        n--;
    static const char plain[] = "application/json", suffix[] = "+json";
    size_t s = strlen(suffix);
    return (n == strlen(plain) && strncasecmp(type, plain, n) == 0) ||
           (n > s && strncasecmp(type, "application/", 12) == 0 &&
            strncasecmp(type + n - s, suffix, s) == 0);
}

static int refuse(struct err *e, const char *sentence)
{
    return err_set(e, ERR_BAD_REQUEST, 0, "%s", sentence);
}

int execute_check_type(const struct http_request *q, struct err *e)
{
    return is_json(http_request_header(q, "Content-Type")) ? 0 : refuse(e, "Request must be JSON");
}

int execute_read_body(const struct buf *bytes, json_t **ret, struct err *e)
{
    if (json_in_bounds(buf_str(bytes), bytes->len, e))
        return err_wrap(e, "Invalid JSON data");
    json_t *body = json_loadb(buf_str(bytes), bytes->len, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
    if (!body || json_is_null(body)) {
        json_decref(body);
        return refuse(e, "Invalid JSON data");
    }
    if (!json_is_object(body)) {
        json_decref(body);
        return refuse(e,
                      "Invalid JSON data: an object with generated_code and timeout is accepted");
    }
    *ret = body;
    return 0;
}

/* The words of clients that are not names or aliases of our languages. */
static const struct {
    const char *word, *name;
} words[] = { { "ipython", "python" }, { "shell", "bash" } };

static const struct language *find_language(const char *given)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strcmp(words[i].word, given) == 0)
            return language_find(words[i].name);
    return language_find(given);
}

static int read_language(const json_t *body, struct execute_request *q, struct err *e)
{
    const json_t *given = json_object_get(body, "language");
    if (given && !json_is_null(given)) {
        if (!json_is_string(given))
            return refuse(e, "language must be a string such as \"python\"");
        q->needs_session = strcmp(json_string_value(given), words[0].word) == 0;
        q->language = find_language(json_string_value(given));
        return q->language ? 0 : refuse(e, "Only python execution is supported");
    }
    if (q->payload.language[0])
        q->language = find_language(q->payload.language);
    if (!q->language)
        q->language = language_find("python");
    return q->language ? 0 : refuse(e, "Only python execution is supported");
}

static int read_timeout(const struct api *api, const json_t *given, struct execute_request *q,
                        struct err *e)
{
    uint64_t max_ms = api->settings->limit_max.v[LIMIT_WALL_MS];
    double seconds = json_number_value(given);
    if (!json_is_number(given) || !(seconds > 0 && seconds * 1000 <= (double)max_ms))
        return err_set(e, ERR_BAD_REQUEST, 0,
                       "timeout must be a number of seconds greater than 0 and up to %g",
                       (double)max_ms / 1000);
    q->timeout = given;
    q->wall_ms = (uint64_t)(seconds * 1000);
    q->wall_ms += (double)q->wall_ms < seconds * 1000; /* rounds up */
    return 0;
}

/* Unknown fields are ignored, as clients of this route expect. A caller who sends one of these means
 * something that would not happen. */
static int check_foreign(const json_t *body, struct err *e)
{
    static const struct {
        const char *name, *instead;
    } foreign[] = {
        { "limits", "timeout bounds the time, and POST /v1/runs takes limits" },
        { "stream", "POST /v1/runs streams" },
        { "stdin", "the field is std_input" },
    };
    for (size_t i = 0; i < ARRAY_LEN(foreign); i++) {
        const json_t *given = json_object_get(body, foreign[i].name);
        if (given && !json_is_null(given) && !json_is_false(given))
            return err_set(e, ERR_BAD_REQUEST, 0, "%s is not accepted here: %s", foreign[i].name,
                           foreign[i].instead);
    }
    return 0;
}

static int read_optional(const json_t *body, struct execute_request *q, struct err *e)
{
    const json_t *input = json_object_get(body, "std_input");
    const json_t *max = json_object_get(body, "max_output_characters");
    if (input && !json_is_null(input)) {
        if (!json_is_string(input))
            return refuse(e, "std_input must be a string");
        q->std_input = input;
    }
    if (max && !json_is_null(max)) {
        if (!json_is_integer(max) || json_integer_value(max) < 0)
            return refuse(e, "max_output_characters must be a whole number, 0 or more");
        q->cuts = true;
        q->max_characters = (uint64_t)json_integer_value(max);
    }
    return 0;
}

int execute_read_request(const struct api *api, const json_t *body, struct execute_request *q,
                         struct err *e)
{
    const json_t *code = json_object_get(body, "generated_code");
    const json_t *timeout = json_object_get(body, "timeout");
    if (!code)
        return refuse(e, "Missing required field: generated_code");
    if (!timeout)
        return refuse(e, "Missing required field: timeout");
    if (!json_is_string(code))
        return refuse(e, "generated_code must be a string");
    if (payload_unwrap(json_string_value(code), json_string_length(code), NULL, &q->payload, e) ||
        read_language(body, q, e) || read_timeout(api, timeout, q, e))
        return -1;
    struct buf *program = &q->payload.code;
    if (memchr(buf_str(program), '\0', program->len))
        return refuse(e, "generated_code must not contain a NUL character");
    /* To run nothing is no mistake here. A run needs a byte. */
    if (program->len == 0 && buf_add(program, "\n", 1, e))
        return -1;
    if (program->len > BUNDLE_FILE_MAX_BYTES)
        return err_set(e, ERR_TOO_LARGE, 0, "generated_code has more than %d MiB",
                       (int)(BUNDLE_FILE_MAX_BYTES >> 20));
    return check_foreign(body, e) || read_optional(body, q, e) ? -1 : 0;
}

int execute_cut(struct buf *b, uint64_t max, struct err *e)
{
    uint64_t seen = 0;
    for (size_t i = 0; i < b->len; i++) {
        if (((unsigned char)b->data[i] & 0xC0) == 0x80 || seen++ < max)
            continue;
        b->len = i;
        return buf_add(b, "<output cut>", strlen("<output cut>"), e);
    }
    return 0;
}
