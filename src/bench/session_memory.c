/* bench/session_memory.c — the private memory of an idle session: of all processes of its jar. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "bench/die.h"
#include "bench/host.h"
#include "bench/session_bench.h"

#define PYTHON_PLACE "import os; os.readlink('/proc/self/ns/pid')"
/* Each cell says in which pid namespace it runs: the processes there are those of the jar. */
static const struct idle {
    const char *title, *language;
    enum workload_id needs;
    const char *cell, *budget;
} idles[] = {
    { "Python", "python", WORK_PYTHON, "{\"code\": \"" PYTHON_PLACE "\"}", "session_python_mib" },
    { "Python, import numpy, pandas", "python", WORK_DATA,
      "{\"code\": \"import numpy, pandas\\n" PYTHON_PLACE "\"}", "session_data_mib" },
    { "Node", "node", WORK_NODE, "{\"code\": \"require('fs').readlinkSync('/proc/self/ns/pid')\"}",
      "session_node_mib" },
};

enum { PLACE_SIZE = 32 };

/* "pid:[4026532000]" in the answer of a cell. */
static void read_place(json_t *answer, char place[PLACE_SIZE])
{
    const char *text = json_string_value(
        json_object_get(json_object_get(answer, "result"), "text/plain"));
    const char *at = text ? strstr(text, "pid:[") : NULL;
    size_t n = at ? strcspn(at, "]") : 0;
    if (n == 0 || n + 2 > PLACE_SIZE)
        bench_dief("a session does not say where it runs: %s", text ? text : "no result");
    (void)snprintf(place, PLACE_SIZE, "%.*s]", (int)n, at);
}

static bool runs_in(pid_t pid, const char *place)
{
    char path[64], target[PLACE_SIZE];
    (void)snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)pid);
    ssize_t n = readlink(path, target, sizeof target - 1);
    target[n > 0 ? n : 0] = '\0';
    return strcmp(target, place) == 0;
}

/* The sum over the jar's processes; false if none may be read. */
static bool private_mib(const struct bench_service *s, const char *place, double *ret)
{
    autofree struct host_tree *t = calloc(1, sizeof *t);
    if (!t)
        bench_die("memory", NULL);
    *ret = 0;
    host_tree(s->pid, t);
    for (size_t i = 0; i < t->n; i++) {
        struct host_memory m;
        if (runs_in(t->all[i].pid, place) && host_memory(t->all[i].pid, &m))
            *ret += m.private_mib;
    }
    return *ret > 0;
}

void session_memory(struct bench *b, struct load_client *v, const struct bench_service *s)
{
    char text[160], place[PLACE_SIZE];
    report_facts(b->report, "private memory of an idle session");
    for (size_t i = 0; i < ARRAY_LEN(idles); i++) {
        const struct idle *idle = &idles[i];
        struct bench_session session = { 0 };
        json_t *answer;
        double mib;
        if (b->absent[idle->needs])
            continue;
        (void)bench_session_new(v, idle->language, &session); /* wakes the pool of its kind */
        bench_session_end(v, &session);
        service_settle(s);
        (void)bench_session_new(v, idle->language, &session);
        (void)bench_session_cell(v, &session, idle->cell, &answer);
        read_place(answer, place);
        json_decref(answer);
        service_settle(s);
        if (private_mib(s, place, &mib)) {
            report_fact(b->report, idle->title, mib, "MiB");
            report_metric(b->report, idle->budget, mib);
        } else {
            (void)snprintf(text, sizeof text,
                           "memory of a session, %s: we may not look (run as root)", idle->title);
            report_skip(b->report, text);
        }
        bench_session_end(v, &session);
    }
}
