/* Error objects. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "library/library.h"

struct belljar_error {
    enum belljar_error_code code;
    unsigned retry_after_s;
    char *message, *field;
};

/* Nobody writes to it: belljar_error_free() knows it. */
static const struct belljar_error no_memory = { BELLJAR_ERROR_NO_MEMORY, 0,
                                                (char *)"there is no memory left", NULL };

static const struct {
    enum err_code from;
    enum belljar_error_code to;
} codes[] = {
    { ERR_USAGE, BELLJAR_ERROR_BAD_REQUEST },   { ERR_BAD_REQUEST, BELLJAR_ERROR_BAD_REQUEST },
    { ERR_NOT_FOUND, BELLJAR_ERROR_NOT_FOUND }, { ERR_GONE, BELLJAR_ERROR_GONE },
    { ERR_TOO_LARGE, BELLJAR_ERROR_TOO_LARGE }, { ERR_CONFLICT, BELLJAR_ERROR_CONFLICT },
    { ERR_DENIED, BELLJAR_ERROR_DENIED },       { ERR_NO_KEY, BELLJAR_ERROR_UNAUTHORIZED },
    { ERR_METHOD, BELLJAR_ERROR_BAD_REQUEST },  { ERR_MEDIA_TYPE, BELLJAR_ERROR_BAD_REQUEST },
    { ERR_QUOTA, BELLJAR_ERROR_QUOTA },         { ERR_STORAGE, BELLJAR_ERROR_STORAGE },
    { ERR_BUSY, BELLJAR_ERROR_BUSY },           { ERR_UNAVAILABLE, BELLJAR_ERROR_UNAVAILABLE },
    { ERR_KERNEL, BELLJAR_ERROR_SYSTEM },       { ERR_PROTOCOL, BELLJAR_ERROR_PROTOCOL },
    { ERR_NO_MEMORY, BELLJAR_ERROR_NO_MEMORY },
};

static enum belljar_error_code code_of(enum err_code from)
{
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (codes[i].from == from)
            return codes[i].to;
    return BELLJAR_ERROR_PROTOCOL;
}

static int give(struct belljar_error **error, const struct belljar_error *given)
{
    if (!error)
        return -1;
    struct belljar_error *x = malloc(sizeof *x);
    char *message = text_copy(given->message), *field = text_copy(given->field);
    if (!x || !message || (given->field && !field)) {
        free(x);
        free(message);
        free(field);
        *error = (struct belljar_error *)&no_memory;
        return -1;
    }
    *x = (struct belljar_error){ given->code, given->retry_after_s, message, field };
    *error = x;
    return -1;
}

int library_fail(struct belljar_error **error, enum belljar_error_code code, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    text_end_whole(text);
    return give(error, &(struct belljar_error){ .code = code, .message = text });
}

int library_fail_memory(struct belljar_error **error)
{
    if (error)
        *error = (struct belljar_error *)&no_memory;
    return -1;
}

int library_fail_err(struct belljar_error **error, const struct err *e)
{
    char text[sizeof e->text];
    (void)snprintf(text, sizeof text, "%s", e->text);
    return give(error, &(struct belljar_error){ .code = code_of(e->code), .message = text });
}

/* Sentences go to terminals, so control characters are removed. */
static void clean(char *text)
{
    for (; text && *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7F)
            *text = ' ';
}

int library_fail_answer(struct belljar_error **error, const struct client *c)
{
    struct err e = { 0 };
    size_t len;
    const char *body = client_body(c, &len);
    (void)!client_refusal(c, &e);
    json_t *answer = json_loadb(body, len, JSON_ALLOW_NUL, NULL);
    const json_t *object = json_object_get(answer, "error");
    /* client_refusal() cuts the sentence, and has no field. */
    char *message = text_copy(json_string_value(json_object_get(object, "message")));
    char *field = text_copy(json_string_value(json_object_get(object, "field")));
    clean(message);
    clean(field);
    (void)!give(error, &(struct belljar_error){ .code = code_of(e.code),
                                                .retry_after_s = client_response(c)->retry_after_s,
                                                .message = message ? message : e.text,
                                                .field = field });
    free(message);
    free(field);
    json_decref(answer);
    return -1;
}

enum belljar_error_code belljar_error_code(const struct belljar_error *error)
{
    return error->code;
}

const char *belljar_error_message(const struct belljar_error *error)
{
    return error->message;
}

const char *belljar_error_field(const struct belljar_error *error)
{
    return error->field;
}

unsigned belljar_error_retry_after_s(const struct belljar_error *error)
{
    return error->retry_after_s;
}

void belljar_error_free(struct belljar_error *error)
{
    if (!error || error == &no_memory)
        return;
    free(error->message);
    free(error->field);
    free(error);
}

/* ---- structs of the caller ---- */

int library_take_struct(const void *given, void *ret, size_t size, size_t least, const char *name,
                        struct belljar_error **error)
{
    size_t has = 0;
    if (given)
        memcpy(&has, given, sizeof has);
    if (!given || has < least)
        return library_fail(error, BELLJAR_ERROR_BAD_REQUEST,
                            "size of struct %s is %zu: set it to sizeof(struct %s), which is %zu "
                            "in this version",
                            name, has, name, size);
    /* A program for a later version: members that this version does not know must not be set. */
    for (size_t i = size; i < has; i++)
        if (((const unsigned char *)given)[i])
            return library_fail(error, BELLJAR_ERROR_BAD_REQUEST,
                                "struct %s has a member that version %s of the library does not "
                                "know: leave it 0 or use a later version",
                                name, belljar_version());
    memset(ret, 0, size);
    memcpy(ret, given, has < size ? has : size);
    return 0;
}

void library_give_struct(void *ret, const void *own, size_t size)
{
    size_t has;
    memcpy(&has, ret, sizeof has);
    if (has <= sizeof has)
        return;
    if (has > size)
        memset((char *)ret + size, 0, has - size);
    memcpy((char *)ret + sizeof has, (const char *)own + sizeof has,
           (has < size ? has : size) - sizeof has);
}
