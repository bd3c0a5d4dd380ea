#include "api/runs/spec_work.h"

static void make(uv_work_t *work)
{
    struct spec_work *w = work->data;
    const struct api here = { .settings = &w->settings,
                              .workspace_fd = w->workspace_fd,
                              .output_dir_fd = -1 };
    json_t *request = (json_t *)w->request;
    if (!w->validate ||
        api_validate(request, run_fields, false, w->field, sizeof w->field, &w->err) == 0)
        (void)!run_spec_from_json(&here, w->who, request, w->surface, &w->spec, w->field,
                                  sizeof w->field, &w->err);
}

static void made(uv_work_t *work, int status)
{
    struct spec_work *w = work->data;
    bool has_spec = w->err.code == ERR_NONE && status == 0;
    if (status != 0 && w->err.code == ERR_NONE)
        (void)!err_set(&w->err, ERR_UNAVAILABLE, 0, "the service is stopping");
    if (has_spec &&
        run_spec_check_here(w->api, w->request, &w->spec, w->field, sizeof w->field, &w->err))
        run_spec_done(&w->spec);
    w->done(w);
}

int spec_work_start(struct spec_work *w, struct err *e)
{
    w->settings = *w->api->settings;
    w->workspace_fd = w->api->workspace_fd;
    w->work.data = w;
    if (uv_queue_work(w->api->loop, &w->work, make, made) != 0)
        return err_set(e, ERR_UNAVAILABLE, 0, "start a thread for a large program");
    return 0;
}
