/* bench/images_kept.c — a session of 100 MB: it wakes from the disk, goes back to a checkpoint, writes
 * its image, and has a hundred copies at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "bench/die.h"
#include "bench/host.h"
#include "bench/session_bench.h"

enum { STATE_MIB = 100, COPIES = 100, BATCH = 50 };
#define ADD    "{\"code\": \"1+1\"}"
#define SAYS   "\"result\":{\"text/plain\":\"2\"}"
/* The cells of the session, and the same for a bare python3. */
#define IMPORT "import json, random, datetime"
#define FILL   "x = bytearray(b'x') * (100 << 20)"

static void ask(struct load_client *v, const struct bench_session *s, const char *action,
                const char *json, json_t **ret, double *ret_ms)
{
    char path[128];
    json_t *answer;
    (void)snprintf(path, sizeof path, "%s/%s", s->path, action);
    double ms = load_client_ask(v, "POST", path, json, &answer);
    if (ret_ms)
        *ret_ms = ms;
    if (ret)
        *ret = answer;
    else
        json_decref(answer);
}

static void make_session(struct load_client *v, struct bench_session *ret)
{
    json_t *answer;
    (void)load_client_ask(v, "POST", "/v1/sessions",
                          "{\"language\": \"python\", \"limits\": {\"memory\": \"1g\"}}", &answer);
    const char *id = json_string_value(json_object_get(answer, "id"));
    (void)snprintf(ret->path, sizeof ret->path, "/v1/sessions/%s", id ? id : "");
    (void)snprintf(ret->exec_path, sizeof ret->exec_path, "%s/exec", ret->path);
    json_decref(answer);
    (void)bench_session_cell(v, ret, "{\"code\": \"" IMPORT "\"}", NULL);
    (void)bench_session_cell(v, ret, "{\"code\": \"" FILL "\"}", NULL);
}

/* The next cell wakes it. */
static void race_wakes(struct bench *b, struct load_client *v, const struct bench_service *s,
                       const struct bench_session *session)
{
    struct series ours = { 0 }, bare = { 0 };
    const struct way_command c = {
        .argv = { "/usr/bin/python3", "-c", IMPORT "\n" FILL "\nprint(1+1)" }, .says = "2\n"
    };
    for (size_t i = 0; i < 1 + b->plan.image_starts; i++) {
        ask(v, session, "sleep", "{}", NULL, NULL);
        service_settle(s);
        double ms = bench_session_cell(v, session, ADD, NULL);
        if (i == 0)
            continue;
        series_add(&ours, ms);
        series_add(&bare, command_once(&c));
    }
    report_section(b->report, "a sleeping session of 100 MB wakes, and 1+1");
    report_series(b->report, "bare python3 that runs its cells again", &bare, &bare);
    report_series(b->report, "from the disk", &ours, &bare);
    report_metric(b->report, "image_wake_ms", series_stats(&ours).p50);
    series_done(&ours);
    series_done(&bare);
}

static void measure_rollbacks(struct bench *b, struct load_client *v, const struct bench_service *s,
                              const struct bench_session *session)
{
    struct series ms = { 0 };
    ask(v, session, "checkpoints", "{\"name\": \"here\"}", NULL, NULL);
    for (size_t i = 0; i < 1 + b->plan.image_starts; i++) {
        double one;
        (void)bench_session_cell(v, session, "{\"code\": \"x[5] += 1\"}", NULL);
        service_settle(s);
        ask(v, session, "rollback", "{\"to\": \"here\"}", NULL, &one);
        if (i > 0)
            series_add(&ms, one);
    }
    report_section(b->report, "a session of 100 MB goes back to a checkpoint");
    report_series(b->report, "rollback", &ms, NULL);
    report_metric(b->report, "rollback_ms", series_stats(&ms).p50);
    series_done(&ms);
}

/* The peer of an image: as many bytes, copied into a new file in memory. */
static double copy_ms(const char *from, size_t bytes)
{
    uint64_t began_us = clock_us();
    autoclose int fd = memfd_create("bench", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0)
        bench_dief("no memory for a copy of an image");
    char *to = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (to == MAP_FAILED)
        bench_dief("no memory for a copy of an image");
    memcpy(to, from, bytes);
    (void)munmap(to, bytes);
    return (double)(clock_us() - began_us) / 1000;
}

static void race_writers(struct bench *b, struct load_client *v, const struct bench_service *s,
                         const struct bench_session *session)
{
    struct series ours = { 0 }, peer = { 0 };
    for (size_t i = 0; i < 1 + b->plan.image_forks; i++) {
        json_t *answer;
        struct bench_session copy;
        service_settle(s);
        ask(v, session, "fork", "{}", &answer, NULL);
        double write_ms = json_number_value(json_object_get(answer, "write_ms"));
        size_t bytes = (size_t)json_integer_value(json_object_get(answer, "image_bytes"));
        const char *id = json_string_value(
            json_object_get(json_array_get(json_object_get(answer, "sessions"), 0), "id"));
        (void)snprintf(copy.path, sizeof copy.path, "/v1/sessions/%s", id ? id : "");
        bench_session_end(v, &copy);
        json_decref(answer);
        autofree char *from = malloc(bytes);
        if (!from)
            bench_die("memory", NULL);
        memset(from, 'x', bytes);
        double copied_ms = copy_ms(from, bytes);
        if (i == 0)
            continue;
        series_add(&ours, write_ms);
        series_add(&peer, copied_ms);
    }
    report_section(b->report, "writing the image of a session of 100 MB");
    report_series(b->report, "memcpy of as many bytes into a new memfd", &peer, &peer);
    report_series(b->report, "the image, as its writer measures it", &ours, &peer);
    report_metric(b->report, "image_write_over_memcpy",
                  series_stats(&peer).p50 / series_stats(&ours).p50);
    series_done(&ours);
    series_done(&peer);
}

/* Of all processes of the service; 0: we may not look. */
static double all_private_mib(const struct bench_service *s)
{
    autofree struct host_tree *t = calloc(1, sizeof *t);
    double sum = 0;
    if (!t)
        bench_die("memory", NULL);
    host_tree(s->pid, t);
    for (size_t i = 0; i < t->n; i++) {
        struct host_memory m;
        if (host_memory(t->all[i].pid, &m))
            sum += m.private_mib;
    }
    return sum;
}

static void ask_copies(const struct bench_service *s, char paths[COPIES][80])
{
    const char *list[BATCH];
    struct series ms = { 0 };
    struct load_paced l = {
        .port = s->port, .clients = BATCH, .each = 1, .paths = list, .json = ADD, .says = SAYS
    };
    for (size_t from = 0; from < COPIES; from += BATCH) {
        for (size_t i = 0; i < BATCH; i++)
            list[i] = paths[from + i];
        load_paced(&l, &ms);
    }
    series_done(&ms);
}

static void measure_crowd(struct bench *b, struct load_client *v, const struct bench_service *s,
                          const struct bench_session *session)
{
    autofree char(*paths)[80] = calloc(COPIES, sizeof *paths);
    json_t *answer;
    if (!paths)
        bench_die("memory", NULL);
    service_settle(s);
    double before = all_private_mib(s);
    uint64_t began_us = clock_us();
    ask(v, session, "fork", "{\"count\": 100}", &answer, NULL);
    for (size_t i = 0; i < COPIES; i++) {
        const char *id = json_string_value(
            json_object_get(json_array_get(json_object_get(answer, "sessions"), i), "id"));
        (void)snprintf(paths[i], sizeof paths[i], "/v1/sessions/%s/exec", id ? id : "");
    }
    json_decref(answer);
    ask_copies(s, paths);
    double seconds = (double)(clock_us() - began_us) / 1e6;
    service_settle(s);
    double each = (all_private_mib(s) - before) / COPIES;
    report_facts(b->report, "100 forks of one session of 100 MB at once");
    report_fact(b->report, "until all have answered 1+1", seconds, "s");
    report_metric(b->report, "forks_at_once_s", seconds);
    if (before > 0) {
        report_fact(b->report, "private memory of each, with its init", each, "MiB");
        report_metric(b->report, "fork_private_mib", each);
    }
    for (size_t i = 0; i < COPIES; i++) {
        struct bench_session copy;
        (void)snprintf(copy.path, sizeof copy.path, "%.*s", (int)(strlen(paths[i]) - 5), paths[i]);
        bench_session_end(v, &copy);
    }
}

void images_kept(struct bench *b, struct load_client *v, const struct bench_service *s)
{
    struct bench_session session = { 0 };
    make_session(v, &session);
    race_wakes(b, v, s, &session);
    measure_rollbacks(b, v, s, &session);
    bench_session_end(v, &session);
    make_session(v, &session); /* it has no base: its images are whole */
    race_writers(b, v, s, &session);
    measure_crowd(b, v, s, &session);
    bench_session_end(v, &session);
}
