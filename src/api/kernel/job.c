#include "api/kernel/job.h"

#include <stdlib.h>

void *api_job_new(struct api_call *c, size_t size,
                  int (*work)(struct db *db, struct store_job *job, struct err *e),
                  void (*done)(struct store_job *job))
{
    struct api_job *j = calloc(1, size);
    if (!j) {
        api_fail_no_memory(c);
        return NULL;
    }
    j->store.work = work;
    j->store.done = done;
    j->call = c;
    return j;
}

void api_job_read(struct api_job *j)
{
    store_read(j->call->api->store, &j->store);
}

void api_job_write(struct api_job *j)
{
    store_write(j->call->api->store, &j->store);
}

/* ---- an answer behind writes: the store does jobs that write in their order ---- */
struct delayed_reply {
    struct api_job job;
    int status;
    json_t *answer;
};

static int write_nothing(struct db *db, struct store_job *job, struct err *e)
{
    (void)db;
    (void)job;
    (void)e;
    return 0;
}

static void send_reply(struct store_job *job)
{
    struct delayed_reply *r = (struct delayed_reply *)job;
    api_reply(r->job.call, r->status, r->answer);
    free(r);
}

void api_reply_after_writes(struct api_call *c, int status, json_t *answer)
{
    struct delayed_reply *r = api_job_new(c, sizeof *r, write_nothing, send_reply);
    if (!r) {
        json_decref(answer);
        return;
    }
    r->status = status;
    r->answer = answer;
    api_job_write(&r->job);
}
