#include "api/kernel/api.h"

#include <stdlib.h>

#include "api/doors/mcp/mcp_close.h"
#include "api/kernel/auth.h"
#include "api/kernel/core.h"
#include "api/meta/openapi.h"
#include "base/array.h"
#include "base/clock.h"

const struct api_route *const api_tables[] = {
    meta_routes,
    run_routes,
    batch_routes,
    comparison_routes,
    execute_routes,
    artifact_routes,
    artifact_list_routes,
    approval_routes,
    agent_routes,
    key_routes,
    diagnosis_routes,
    session_routes,
    cell_routes,
    execute_session_routes,
    session_event_routes,
    session_file_routes,
    session_fork_routes,
    session_question_routes,
    session_branch_routes,
    template_routes,
    session_checkpoint_routes,
    session_sleep_routes,
    session_image_routes,
    console_routes,
    stream_routes,
    audit_routes,
    test_routes,
    check_routes,
    NULL,
};

const struct http_header api_every_header[] = {
    { "X-Content-Type-Options", "nosniff" },
    { "X-Frame-Options", "SAMEORIGIN" },
    { "Cache-Control", "no-store" },
};
const size_t api_n_every_header = ARRAY_LEN(api_every_header);

int api_open(struct api *api, struct err *e)
{
    api->started_ms = clock_unix_ms();
    api->core = calloc(1, sizeof *api->core);
    if (!api->core)
        return err_no_memory(e, "the routes");
    if (!router_new(&api->core->router, api_tables, e) &&
        !doors_new(&api->core->doors, api_doors, e) &&
        !openapi_build(api_tables, &api->settings->limit_default, &api->settings->limit_max,
                       &api->core->openapi, e) &&
        !auth_open(api, e))
        return 0;
    api_close(api);
    return -1;
}

void api_close(struct api *api)
{
    for (const struct api_door *const *door = api_doors; *door; door++)
        if ((*door)->close)
            (*door)->close(api);
    auth_close(api);
    mcp_close(api);
    if (!api->core)
        return;
    router_free(api->core->router);
    doors_free(api->core->doors);
    buf_done(&api->core->openapi);
    allowlist_memo_done(&api->core->commands);
    free(api->core);
    api->core = NULL;
}
