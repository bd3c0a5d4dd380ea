/* api/doors/mcp/mcp_close.h — the end of the door, for api.c. Runs in: keeper. */
#pragma once

#include "api/kernel/api.h"

/* Every request is over. */
void mcp_close(struct api *api);
