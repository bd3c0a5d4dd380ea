/* api/artifacts/detect.h — finds the artifacts in Markdown. Runs in: keeper. Pure functions. */
#pragma once

#include <jansson.h>
#include <stddef.h>

enum { DETECT_MAX = 200 };

/* The type of an artifact: "html", "svg", "mermaid", "latex" or "code". */
const char *artifact_type(const char *language);

/* The fenced blocks: [{content, language, title, artifact_type}], at most DETECT_MAX. NULL if
 * memory ran out. */
json_t *detect_artifacts(const char *text, size_t len);
