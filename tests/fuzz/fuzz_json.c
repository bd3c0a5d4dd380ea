/* Bodies of requests: bytes to JSON to the tables of fields. An error is always whole text in its
 * buffers. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel/api.h"
#include "api/kernel/json_in.h"

static const char *const modes[] = { "auto", "ask", NULL };
static const struct api_field inner[] = {
    { .name = "x", .type = FIELD_INT, .required = true, .min = 1, .max = 9 },
    { .name = "ratio", .type = FIELD_NUMBER, .min = 0, .max = 1 },
    { 0 },
};
/* One of each type, and the shape of a run. */
static const struct api_field fields[] = {
    { .name = "language", .type = FIELD_STRING, .min = 1, .max = 32 },
    { .name = "code", .type = FIELD_DATA },
    { .name = "files", .type = FIELD_FILES },
    { .name = "args", .type = FIELD_STRINGS, .max = 16 },
    { .name = "env", .type = FIELD_STRING_MAP, .max = 16 },
    { .name = "limits", .type = FIELD_LIMITS },
    { .name = "wait", .type = FIELD_BOOL },
    { .name = "permission_mode", .type = FIELD_STRING, .one_of = modes },
    { .name = "metadata", .type = FIELD_ANY },
    { .name = "one", .type = FIELD_OBJECT, .fields = inner },
    { .name = "many", .type = FIELD_OBJECTS, .fields = inner, .max = 8 },
    { 0 },
};

static void check_error(const struct err *e, const char *field)
{
    if (e->code == ERR_NONE || !memchr(e->text, '\0', sizeof e->text) || e->text[0] == '\0' ||
        strpbrk(e->text, "\n\r\x1b") || !memchr(field, '\0', 128))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct limits defaults = limits_default(), max, got;
    char field[128] = "";
    struct err e = { 0 };
    json_t *body;
    for (int i = 0; i < LIMIT_COUNT; i++)
        max.v[i] = limit_defs[i].max;
    if (json_in_object((const char *)data, size, &body, &e)) {
        check_error(&e, field);
        return 0;
    }
    if (api_validate(body, fields, true, field, sizeof field, &e))
        check_error(&e, field);
    e = (struct err){ 0 };
    if (api_validate(body, fields, false, field, sizeof field, &e)) {
        check_error(&e, field);
    } else {
        api_drop_nulls(body, fields);
        if (api_limits(json_object_get(body, "limits"), &defaults, &max, &got, field, sizeof field,
                       &e))
            check_error(&e, field); /* bounds are checked here alone */
        else if (limits_check(&got, &e))
            abort(); /* no limit is out of bounds, for any request */
    }
    json_decref(body);
    return 0;
}
