/* jar/state.h — the inside of a struct jar, for the four files that make one live: spawn.c brings it up, evidence.c
 * watches it, collect.c takes its outputs, jar.c holds the states together. Nobody else includes this. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "jar/jar.h"

enum jar_state { BUILDING, STARTING, RUNNING, CLEARING, COLLECTING, REMOVING, GONE };

struct jar {
    struct jar_host *host;
    enum jar_state state;
    uint64_t due_us;
    struct limits limits;
    bool writable_root;
    char **argv, **envp; /* NULL once the program has them */
    char **outputs;
    int stdio[3], bundle_fd, outputs_fd;

    bool has_cgroup, has_uid;
    int remove_tries; /* of the cgroup */
    struct cgroup cgroup;
    uint32_t uid;
    char home[256]; /* level process: the private directory on the host; empty otherwise */
    int scratch_fd; /* the tmpfs, or the private directory */

    int init_pidfd; /* -1 at level process */
    pid_t program;  /* its number is its own while it is not reaped */
    int program_pidfd;
    bool program_reaped;
    int collector_pidfd;

    int report_fd; /* of init while BUILDING, of the program while STARTING */
    size_t report_len;
    struct err reports[2];

    bool started; /* execve succeeded */
    uint64_t started_us, deadline_us;
    struct cgroup_stats stats;
    struct jar_outcome outcome;
};

/* No namespaces: its files lie on the host, and only its process group holds it together. */
static inline bool jar_on_host(const struct jar *j)
{
    return j->host->isolation.level == LEVEL_PROCESS;
}

/* spawn.c. Failure leaves what there is for jar_free(). */
[[nodiscard]] int jar_build(struct jar *j, const struct jar_spec *spec, struct err *e);
[[nodiscard]] int jar_start_program(struct jar *j, struct err *e);
void jar_close_job(struct jar *j);

/* evidence.c */
void jar_note_counters(struct jar *j);
void jar_tick(struct jar *j, uint64_t now_us);
void jar_reap_program(struct jar *j, uint64_t now_us);
uint64_t jar_next_look(const struct jar *j, uint64_t now_us);
void jar_fail(struct jar *j, const struct err *why);

/* collect.c. jar_collect() is false when there is nothing to collect. */
bool jar_collect(struct jar *j);
void jar_collected(struct jar *j);
