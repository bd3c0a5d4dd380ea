/* cli/commands/warm_view.h — what a running service says of its warm starts. Runs in: `belljar doctor`. */
#pragma once

#include <jansson.h>

/* {"pools": {…}, "memory_pressure": …} of GET /v1/stats; NULL when no service of ours answers. As root the process
 * becomes the owner of the service's data first, for good: what a service says is not read with root's rights. */
json_t *warm_ask(void);
/* The same for people. */
void warm_print(const json_t *warm);
