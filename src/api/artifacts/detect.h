/* api/artifacts/detect.h — artifacts in a text of Markdown. Runs in: keeper. Pure functions. */
#pragma once

#include <jansson.h>
#include <stddef.h>

enum { DETECT_MAX = 200 };

/* "html", "svg", "mermaid", "latex" or "code". */
const char *artifact_type(const char *language);

/* Its fenced blocks: [{content, language, title, artifact_type}], at most DETECT_MAX. NULL when memory ran out. */
json_t *detect_artifacts(const char *text, size_t len);
