/* api/kernel/job.h — a job of the store on behalf of a call. Runs in: keeper; `work` runs in a
 * thread of the store. */
#pragma once

#include "api/kernel/api.h"

struct api_job {
    struct store_job store;
    struct api_call *call;
};

/* A zeroed object of `size` bytes that begins with a struct api_job. The caller frees it in done().
 * NULL if memory ran out; the call is failed then. */
void *api_job_new(struct api_call *c, size_t size,
                  int (*work)(struct db *db, struct store_job *job, struct err *e),
                  void (*done)(struct store_job *job));
void api_job_read(struct api_job *j);
void api_job_write(struct api_job *j);

/* Sends the answer, whose reference is taken over, once every write that was submitted before is in
 * the database. */
void api_reply_after_writes(struct api_call *c, int status, json_t *answer);
