/* The list of all doors. Each door is declared in the folder of its name. */
#include "api/doors/e2b/e2b.h"
#include "api/kernel/door.h"

extern const struct api_door piston_door, judge0_door, mcp_door;

const struct api_door *const api_doors[] = {
    &piston_door, &judge0_door, &e2b_door, &mcp_door, NULL,
};
