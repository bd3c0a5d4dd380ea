/* cli/commands/warm_view.h — the warm starts of a running service. Runs in: `belljar doctor`. */
#pragma once

#include <jansson.h>

/* {"pools": {…}, "memory_pressure": …} of GET /v1/stats; NULL if no service of ours answers. A
 * process of root first becomes the owner of the data of the service, for good: it reads the answer
 * without the rights of root. */
json_t *warm_ask(void);
/* Prints the same as text. */
void warm_print(const json_t *warm);
