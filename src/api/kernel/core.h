/* api/kernel/core.h — what one api keeps for itself. */
#pragma once

#include "allowlist/allowlist.h"
#include "api/kernel/api.h"
#include "api/kernel/router.h"

struct api_core {
    struct router *router;
    struct buf openapi;
    struct allowlist_memo commands; /* the list of the last run that had one */
    struct {                        /* /v1/health, as it was at `made_ms` of the loop's clock */
        char body[2048];
        size_t len;
        int status;
        uint64_t made_ms;
        bool made;
    } health;
};

/* Every surface's table, and NULL. */
extern const struct api_route *const api_tables[];
