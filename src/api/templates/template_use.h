/* api/templates/template_use.h — the field `template` of a request. Runs in: keeper. */
#pragma once

#include "api/kernel/api.h"
#include "session/templates.h"

enum { TEMPLATE_OWNER_SIZE = 256 };
/* The owner of the templates that a caller makes: its key. */
void template_owner(const struct api_identity *who, char out[TEMPLATE_OWNER_SIZE]);
/* The template that an owner names. ERR_NOT_FOUND with the names that it may use. */
[[nodiscard]] int template_named(const struct api *api, const char *owner, const char *name,
                                 struct saved_image **ret, struct err *e);
/* Whether the template that a request names, if any, exists. Of the spec, the key and the requester
 * are known. */
[[nodiscard]] int template_check(const struct api *api, const json_t *request,
                                 const struct run_spec *spec, char *ret_field, size_t field_size,
                                 struct err *e);
/* The language of a request that names a template and no language; NULL: it names no template. */
const char *template_language(const struct api *api, const json_t *request,
                              const struct run_spec *spec);
/* Lets the run begin in the template that its request names, if any. ret_field gets the name of a
 * field that does not go together with a template. */
[[nodiscard]] int template_apply(const struct api *api, const json_t *request,
                                 struct run_spec *spec, char *ret_field, size_t field_size,
                                 struct err *e);
