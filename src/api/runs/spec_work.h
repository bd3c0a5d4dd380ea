/* api/runs/spec_work.h — makes the spec of one run in a thread of libuv's pool, because a large
 * program takes long. Runs in: keeper; the thread reads the request, the caller and a copy of the
 * settings. */
#pragma once

#include "api/kernel/api.h"
#include "api/runs/run_spec.h"

struct spec_work {
    /* The caller fills in: */
    struct api *api;
    const struct api_identity *who; /* lives until done() */
    const json_t *request;          /* the same; nobody changes it meanwhile */
    const char *surface;
    bool validate; /* against the fields of a run first */
    void (*done)(struct spec_work *w);
    /* For done(), which is called on the loop: */
    struct run_spec spec; /* if err.code is ERR_NONE; done() owns it */
    struct err err;
    char field[128];
    /* Private: */
    uv_work_t work;
    struct settings settings;
    int workspace_fd;
};

[[nodiscard]] int spec_work_start(struct spec_work *w, struct err *e);
