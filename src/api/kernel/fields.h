/* api/kernel/fields.h — shared by the validation of fields, limits, files and queries. Pure
 * functions. */
#pragma once

#include "api/kernel/api.h"

/* "limits.memory", "files[2].name": the place of the field that is checked. */
struct field_path {
    char text[128]; /* cut at the end if the names are longer */
};
size_t field_path_push(struct field_path *p, const char *name); /* returns the old length */
size_t field_path_push_index(struct field_path *p, size_t index);
void field_path_pop(struct field_path *p, size_t before);

/* "the text 'yes'", "the number 5", "true", "a list": a value for a message. */
const char *json_describe(const json_t *v, char *out, size_t size);

/* The row of that name, or NULL. */
const struct api_field *field_find(const struct api_field *fields, const char *name);

/* The name in a list that is most similar, or NULL. name_at(context, i) is NULL at the end of the
 * list. */
const char *nearest_name(const char *name, const char *(*name_at)(const void *context, size_t i),
                         const void *context);

/* "a, b, …": as many names of such a list as fit. */
const char *names_listed(const char *(*name_at)(const void *context, size_t i), const void *context,
                         char *out, size_t size);
/* Whether a row of holder->fields is accepted but not documented. holder NULL: false. */
bool field_is_hidden(const struct api_field *holder, const char *name);

/* One limit, at most *max. `name` is the path of the field, for the error. With max NULL only the
 * form is checked; api_limits() checks the bounds. */
[[nodiscard]] int limit_from_json(const struct limit_def *d, const json_t *v, const uint64_t *max,
                                  const char *name, uint64_t *ret, struct err *e);
/* The row of limit_defs with that key. The error for an unknown key names the nearest one. */
[[nodiscard]] int limit_find(const char *key, const char *name, enum limit_id *ret, struct err *e);

/* Encodings of bytes in a JSON string: "utf-8", "base64". NULL-terminated. */
extern const char *const content_encodings[];
/* Appends the bytes of the string; encoding NULL is utf-8. */
[[nodiscard]] int content_decode(const json_t *content, const char *encoding, struct buf *b,
                                 struct err *e);
/* Checks the names, types and encodings of the files of a request. */
[[nodiscard]] int files_validate(const json_t *files, bool lenient, struct field_path *path,
                                 struct err *e);
