/* api/artifacts/detect.h — finds the artifacts in Markdown. Runs in: keeper. Pure functions. */
#pragma once

#include <jansson.h>
#include <stddef.h>

enum { DETECT_MAX = 200 };

/* The type of an artifact: "html", "svg", "mermaid", "latex", "react" or "code". */
const char *artifact_type(const char *language);

/* The fenced blocks: [{content, language, title, artifact_type}], at most DETECT_MAX. NULL if
 * memory ran out. The language is the word of the fence. The title is the first function, class or
 * component of the code, else the heading or line that introduces the block. JavaScript that uses
 * React is of type "react". */
json_t *detect_artifacts(const char *text, size_t len);
