/* cli/jupyter/languages.h — the languages of sessions, as Jupyter describes them. Pure data. */
#pragma once

#include <jansson.h>

#include "runtime/language.h"

/* The name for people: "Python (Belljar)". */
const char *jupyter_display_name(const struct language *l, char *out, size_t size);
/* The member language_info of a kernel_info_reply. */
json_t *jupyter_language_info(const struct language *l);
