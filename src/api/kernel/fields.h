/* api/kernel/fields.h — what the validation of fields and limits share. Pure functions. */
#pragma once

#include "api/kernel/api.h"

/* "limits.memory", "files[2].name": grows downwards and shrinks again. */
struct field_path {
    char text[128]; /* cut at its end when a caller's names are longer */
};
size_t field_path_push(struct field_path *p, const char *name); /* the length before */
size_t field_path_push_index(struct field_path *p, size_t index);
void field_path_pop(struct field_path *p, size_t before);

/* "the text 'yes'", "the number 5", "true", "a list": a value in a sentence. */
const char *json_shown(const json_t *v, char *out, size_t size);

/* The row of that name, or NULL. */
const struct api_field *field_find(const struct api_field *fields, const char *name);

/* The name in a list that was probably meant, or NULL. name_at(context, i) is NULL at its end. */
const char *nearest_name(const char *name, const char *(*name_at)(const void *context, size_t i),
                         const void *context);

/* "a, b, …": names of such a list, as many whole ones as fit. */
const char *names_listed(const char *(*name_at)(const void *context, size_t i), const void *context,
                         char *out, size_t size);
/* Whether a row of holder->fields is accepted, but not offered. holder NULL: none is. */
bool field_is_hidden(const struct api_field *holder, const char *name);

/* One limit, of at most `max`; `name` is the field's path, for the error. With max NULL only its form is looked at: bounds
 * are told by who knows those in force. */
[[nodiscard]] int limit_from_json(const struct limit_def *d, const json_t *v, const uint64_t *max,
                                  const char *name, uint64_t *ret, struct err *e);
/* The row of limit_defs with that key; an unknown one is refused, naming the nearest. */
[[nodiscard]] int limit_find(const char *key, const char *name, enum limit_id *ret, struct err *e);

/* How bytes stand in a JSON string: "utf-8" or "base64". */
extern const char *const content_encodings[];
/* Appends what the string stands for; encoding NULL is utf-8. */
[[nodiscard]] int content_decode(const json_t *content, const char *encoding, struct buf *b,
                                 struct err *e);
/* The files of a request: names, types, encodings. */
[[nodiscard]] int files_validate(const json_t *files, bool lenient, struct field_path *path,
                                 struct err *e);
