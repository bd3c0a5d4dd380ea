/* api/doors/door_submit.h — a request of a door becomes a run, through the admission of every
 * surface. Runs in: keeper. */
#pragma once

#include "api/kernel/api.h"
#include "api/runs/spec_work.h"

struct door_submission {
    /* The caller fills in: */
    struct api *api;
    const struct api_identity *who; /* lives until done() */
    json_t *request;     /* the JSON of POST /v1/runs; a reference, dropped before done() */
    const char *surface; /* in the history: "piston" */
    bool is_large;       /* the spec is made in a thread (API-9) */
    const char *batch;   /* of the run; NULL: none */
    struct run_watch *watch;
    /* Called once, maybe from inside door_submit(). `run` is NULL on failure; then `field` names a
     * field of the request, or is "". */
    void (*done)(struct door_submission *s, struct run *run, const struct err *e,
                 const char *field);
    /* Private: */
    struct spec_work work;
};

void door_submit(struct door_submission *s);

/* "SIGSEGV" of a number; "SIGRTMIN+1" is not known by name and becomes "SIG35". */
const char *door_signal_name(int number, char *out, size_t size);
