#include "spec/job.h"

#include "base/strv.h"

void job_spec_wipe(struct job_spec *job)
{
    strv_wipe(&job->argv);
    strv_wipe(&job->envp);
    strv_wipe(&job->executes);
    strv_wipe(&job->reads);
    strv_wipe(&job->mounts);
}

void job_spec_done(struct job_spec *job)
{
    job_spec_wipe(job);
    strv_wipe(&job->outputs);
}

int job_spec_copy(const struct job_spec *job, struct job_spec *ret, struct err *e)
{
    struct job_spec copy = *job;
    copy.plumbing = NULL;
    copy.plumbing_fd = -1;
    copy.argv = strv_copy(job->argv);
    copy.envp = strv_copy(job->envp);
    copy.outputs = strv_copy(job->outputs);
    copy.executes = strv_copy(job->executes);
    copy.reads = strv_copy(job->reads);
    copy.mounts = strv_copy(job->mounts);
    if (!copy.argv || !copy.envp || !copy.outputs || !copy.executes || !copy.reads ||
        !copy.mounts) {
        job_spec_done(&copy);
        return err_no_memory(e, "a job");
    }
    *ret = copy;
    return 0;
}
