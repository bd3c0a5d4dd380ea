/* bench/part_network.c — the cost of a network list: runs, connections and streams of a jar, beside plain
 * TCP, pasta and slirp4netns over the same veth. The program that measures is the same for all of them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/auto.h"
#include "base/fdio.h"
#include "bench/bench.h"
#include "bench/bench_dns.h"
#include "bench/bench_world.h"
#include "bench/die.h"
#include "bench/host.h"
#include "bench/load.h"

#define TEXT_OF_(x)   #x
#define TEXT_OF(x)    TEXT_OF_(x)
#define ALLOWED_NAMES "{\"allow\": [\"*." DNS_ZONE ":80\"]}"
#define ALLOWED       "{\"allow\": [\"" WORLD_ADDRESS ":80\", \"" WORLD_ADDRESS ":81\"]}"
/* A difference of half a millisecond needs more rounds than a run: with 60 of each, the noise of a busy machine
 * is larger. */
enum { CROWD = 64, CROWD_CONNECTIONS = 16, OUTPUT_MAX = 512, RUNS_MORE = 4, RUNS_LEAST = 300 };

/* ---- programs; each prints numbers ---- */

#define HEAD "import socket, sys, time\nhost = '" WORLD_ADDRESS "'\n"
static const char connect_program[] = HEAD "v = []\n"
                                           "for _ in range(200):\n"
                                           "    t = time.perf_counter()\n"
                                           "    with socket.create_connection((host, 80)) as s:\n"
                                           "        assert s.recv(1) == b'h'\n"
                                           "        v.append(time.perf_counter() - t)\n"
                                           "print(sorted(v)[100] * 1000)\n";
static const char stream_program[] = HEAD "b = bytearray(1 << 20)\n"
                                          "with socket.create_connection((host, 81)) as s:\n"
                                          "    n, t = 0, time.perf_counter()\n"
                                          "    while k := s.recv_into(b): n += k\n"
                                          "    t = time.perf_counter() - t\n"
                                          "assert n == 512 << 20\n"
                                          "print(n / t / (1 << 20))\n";
static const char rate_program[] = HEAD
    "n, t = 0, time.perf_counter()\n"
    "while time.perf_counter() - t < 2:\n"
    "    with socket.create_connection((host, 80)) as s: s.recv(1)\n"
    "    n += 1\n"
    "print(n)\n";
static const char crowd_program[] = HEAD
    "held = [socket.create_connection((host, 80)) for _ in range(16)]\n"
    "time.sleep(0.5)\n"
    "print(sum(s.recv(5) == b'hello' for s in held))\n";
static const char denied_program[] = HEAD
    "def name(): socket.getaddrinfo('denied.example.org', 80)\n"
    "def address(): socket.create_connection(('8.8.8.8', 80))\n"
    "def port(): socket.create_connection((host, 82))\n"
    "worst = 0\n"
    "for attempt, number in ((name, socket.EAI_NONAME), (address, 101), (port, 111)):\n"
    "    v = []\n"
    "    for _ in range(200):\n"
    "        t = time.perf_counter()\n"
    "        try: attempt()\n"
    "        except OSError as e: assert e.errno == number, e\n"
    "        else: sys.exit('it was not denied')\n"
    "        v.append(time.perf_counter() - t)\n"
    "    worst = max(worst, sorted(v)[100] * 1000)\n"
    "print(worst)\n";

/* Names that the list does not have, and a name server that lies. It prints the names that led to a refused address,
 * or -1 if the name server was not asked. */
#define NAMES 200
static const char names_program[] = HEAD "n, got = " TEXT_OF(
    DNS_CORPUS) ", 0\n"
                "def reaches(name):\n"
                "    try:\n"
                "        with socket.create_connection((name + '." DNS_ZONE "', 80), 5) as s:\n"
                "            return s.recv(5) == b'hello'\n"
                "    except OSError: return False\n"
                "for i in range(" TEXT_OF(
                    NAMES) "):\n"
                           "    try: socket.getaddrinfo(f'key{i}.denied.example.org', 80)\n"
                           "    except socket.gaierror: continue\n"
                           "    sys.exit('it was not denied')\n"
                           "served = sum(reaches(f'b{i}') for i in range(n))\n"
                           "for kind in 'bdmn': got += sum(reaches(f'{kind}{i}') for i in "
                           "range(n))\n"
                           "print(got if served == n else -1)\n";

/* ---- in a jar ---- */

/* network: the list; NULL: none. */
static double run_with(struct load_client *v, const char *code, const char *network, double *ret_ms)
{
    json_t *answer = NULL;
    json_t *request = json_pack("{s:s, s:s, s:{s:i, s:i, s:i}}", "language", "python", "code", code,
                                "limits", "memory", 64 << 20, "wall_ms", 60000, "cpu_ms", 60000);
    if (network)
        (void)json_object_set_new(request, "network", json_loads(network, 0, NULL));
    autofree char *text = json_dumps(request, JSON_COMPACT);
    json_decref(request);
    if (!text)
        bench_die("memory", NULL);
    double ms = load_client_ask(v, "POST", "/v1/runs", text, &answer);
    const char *verdict = json_string_value(json_object_get(answer, "verdict"));
    const char *output = json_string_value(json_object_get(answer, "stdout"));
    if (!verdict || strcmp(verdict, "ok") != 0 || !output) {
        const char *why = json_string_value(json_object_get(answer, "stderr"));
        bench_dief("a run with a network: %s: %s", verdict ? verdict : "no verdict",
                   why ? why : "");
    }
    double number = strtod(output, NULL);
    json_decref(answer);
    if (ret_ms)
        *ret_ms = ms;
    return number;
}

static double run_in_jar(struct load_client *v, const char *code, bool network, double *ret_ms)
{
    return run_with(v, code, network ? ALLOWED : NULL, ret_ms);
}

/* ---- other ways ---- */

enum { PLAIN, JAR, PASTA, SLIRP, CONTENDERS };
static const struct {
    const char *name, *command; /* $1: the file of the program */
} contenders[CONTENDERS] = {
    [PLAIN] = { "plain TCP", "exec /usr/bin/python3 \"$1\"" },
    [JAR] = { "a jar with a list", NULL },
    /* As another user than root, Debian's pasta cannot open the namespace that it makes. It would take the address
     * of the server, which is the gateway, for the machine itself. */
    [PASTA] = { "pasta", "exec pasta -q -f --runas 0 --no-map-gw --config-net -- /usr/bin/python3 "
                         "\"$1\"" },
    [SLIRP] = { "slirp4netns",
                "d=$(mktemp -d) && mkfifo $d/ready $d/go || exit 1\n"
                "unshare --net -- sh -c 'echo $$ >\"$2\"; read x <\"$3\"; exec /usr/bin/python3 "
                "\"$1\"' sh \"$1\" $d/ready $d/go & u=$!\n"
                "read p <$d/ready\n"
                "slirp4netns --configure --mtu=65520 --ready-fd=3 $p tap0 3>$d/up >/dev/null & "
                "s=$!\n"
                "until [ -s $d/up ]; do kill -0 $s || { kill $u; rm -r $d; exit 1; }; sleep 0.05; "
                "done\n"
                "echo >$d/go; wait $u; r=$?; kill $s; rm -r $d; exit $r" },
};

/* False: it does not work here. */
static bool run_outside(const char *command, const char *file, double *ret)
{
    int ends[2], status = 1;
    struct err e = { 0 };
    char text[OUTPUT_MAX] = "";
    if (fd_pipe(ends, &e))
        bench_die("a pipe", &e);
    autoclose int from = ends[0], to = ends[1];
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        (void)dup2(null, 0);
        (void)dup2(to, 1);
        (void)dup2(null, 2);
        (void)execl("/usr/bin/timeout", "timeout", "-k1", "30", "/bin/sh", "-c", command, "sh",
                    file, NULL);
        _exit(127);
    }
    fd_close(&to);
    ssize_t n = fd_read_full(from, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    *ret = strtod(text, NULL);
    return pid > 0 && status == 0 && *ret > 0;
}

struct race {
    const char *file, *code;
    bool absent[CONTENDERS];
    struct series results[CONTENDERS];
};

static void race_round(struct race *r, struct load_client *v)
{
    size_t order[CONTENDERS];
    bench_shuffle(order, CONTENDERS);
    for (size_t k = 0; k < CONTENDERS; k++) {
        size_t i = order[k];
        double result;
        if (r->absent[i])
            continue;
        if (i == JAR) {
            series_add(&r->results[i], run_in_jar(v, r->code, true, NULL));
            continue;
        }
        if (run_outside(contenders[i].command, r->file, &result))
            series_add(&r->results[i], result);
        else if (i == PLAIN)
            bench_dief("plain TCP does not work here: %s", r->file);
        else
            r->absent[i] = true;
    }
}

static void write_program(const char *file, const char *code)
{
    autoclose int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || fd_write_all(fd, code, strlen(code)))
        bench_die(file, NULL);
}

static double median(const struct series *s)
{
    return s->n > 0 ? series_stats(s).p50 : 0;
}

/* The median of each contender, 0 if it is absent. */
static void race(struct bench *b, struct load_client *v, const char *title, const char *unit,
                 const char *code, double ret[CONTENDERS])
{
    char file[512];
    (void)snprintf(file, sizeof file, "%s/network.py", b->site.dir);
    struct race r = { .file = file, .code = code };
    write_program(file, code);
    for (size_t i = 0; i < b->plan.networks; i++)
        race_round(&r, v);
    report_facts(b->report, title);
    for (size_t i = 0; i < CONTENDERS; i++) {
        ret[i] = r.absent[i] ? 0 : median(&r.results[i]);
        if (r.absent[i])
            report_skip(b->report, contenders[i].name);
        else
            report_fact(b->report, contenders[i].name, ret[i], unit);
        if (!r.absent[i])
            report_bar(b->report, title, unit, contenders[i].name, ret[i], i == JAR);
        series_done(&r.results[i]);
    }
}

/* ---- the rows ---- */

static void measure_runs(struct bench *b, struct load_client *v)
{
    struct series without = { 0 }, with = { 0 };
    size_t planned = RUNS_MORE * b->plan.rounds[WORK_PYTHON];
    for (size_t i = 0; i < planned || i < RUNS_LEAST; i++)
        for (size_t k = 0; k < 2; k++) {
            double ms;
            bool network = (i + k) % 2;
            (void)run_in_jar(v, "print(1)", network, &ms);
            if (i > 0)
                series_add(network ? &with : &without, ms);
        }
    report_section(b->report, "Python, print(1), warm");
    report_series(b->report, "without a network", &without, NULL);
    report_series(b->report, "with a network list", &with, &without);
    report_metric(b->report, "network_run_ms", median(&with) - median(&without));
    series_done(&without);
    series_done(&with);
}

/* Nanoseconds that the process was on a CPU. */
static double cpu_s(pid_t pid)
{
    char path[64], text[128];
    (void)snprintf(path, sizeof path, "/proc/%d/schedstat", (int)pid);
    return fd_read_file(AT_FDCWD, path, text, sizeof text) > 0 ? strtod(text, NULL) / 1e9 : 0;
}

static void measure_porter(struct bench *b, struct load_client *v,
                           const struct bench_service *service)
{
    struct service_parts parts;
    struct host_memory memory;
    if (!service_parts(service, &parts) || parts.porter == 0)
        bench_dief("the service has no porter");
    report_facts(b->report, "the porter");
    if (host_memory(parts.porter, &memory)) {
        report_fact(b->report, "private memory at rest", memory.private_mib, "MiB");
        report_metric(b->report, "porter_mib", memory.private_mib);
    }
    (void)run_in_jar(v, rate_program, true, NULL);
    double before = cpu_s(parts.porter), n = run_in_jar(v, rate_program, true, NULL);
    double used = cpu_s(parts.porter) - before;
    report_fact(b->report, "new connections, one after the other", n / 2, "a second");
    if (used > 0) {
        report_fact(b->report, "new connections for a CPU second of the porter", n / used, "");
        report_metric(b->report, "network_connections", n / used);
    }
    before = cpu_s(parts.porter);
    (void)run_in_jar(v, stream_program, true, NULL);
    report_fact(b->report, "CPU time of the porter for a stream of 512 MiB",
                (cpu_s(parts.porter) - before) * 1000, "ms");
    double denied = run_in_jar(v, denied_program, true, NULL);
    report_fact(b->report, "a denied name, address or port, the slowest p50", denied, "ms");
    report_metric(b->report, "network_denied_ms", denied);
}

static void measure_crowd(struct bench *b, const struct bench_service *service)
{
    struct load_client *v = load_client_new(service->port);
    json_t *ids = json_array();
    double answered = 0;
    json_t *request = json_pack("{s:s, s:s, s:b, s:{s:i, s:i}}", "language", "python", "code",
                                crowd_program, "wait", 0, "limits", "memory", 64 << 20, "wall_ms",
                                60000);
    (void)json_object_set_new(request, "network", json_loads(ALLOWED, 0, NULL));
    autofree char *text = json_dumps(request, JSON_COMPACT);
    json_decref(request);
    for (int i = 0; text && i < CROWD; i++) {
        json_t *answer = NULL;
        (void)load_client_ask(v, "POST", "/v1/runs", text, &answer);
        (void)json_array_append(ids, json_object_get(answer, "id"));
        json_decref(answer);
    }
    for (size_t i = 0; i < json_array_size(ids); i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "/v1/runs/%s", json_string_value(json_array_get(ids, i)));
        for (int tries = 0; tries < 600; tries++) {
            json_t *answer = load_client_get(v, path);
            const char *output = json_string_value(json_object_get(answer, "stdout"));
            const char *state = json_string_value(json_object_get(answer, "state"));
            bool over = state && strcmp(state, "finished") == 0;
            answered += over && output ? strtod(output, NULL) : 0;
            json_decref(answer);
            if (over)
                break;
            (void)usleep(100000);
        }
    }
    json_decref(ids);
    load_client_free(v);
    report_facts(b->report, "64 jars with 16 connections each");
    report_fact(b->report, "answered connections", answered, "");
    report_metric(b->report, "network_unanswered", CROWD * CROWD_CONNECTIONS - answered);
}

/* Nothing of a name leaves that the list does not have, and no lie of a name server leads to the machine. */
static void measure_names(struct bench *b, struct load_client *v, const struct dns_counts *asked)
{
    double reached = run_with(v, names_program, ALLOWED_NAMES, NULL);
    if (reached < 0 || atomic_load(&asked->served) == 0) {
        report_skip(b->report, "names: the name server of this machine has no IPv4 address");
        return;
    }
    report_facts(b->report, "names");
    report_fact(b->report, "questions for names of the list", atomic_load(&asked->served), "");
    report_fact(b->report, "questions for 200 names that it does not have",
                atomic_load(&asked->others), "");
    report_fact(b->report, "lies of a name server that led to a refused address", reached, "");
    report_metric(b->report, "network_leaks", atomic_load(&asked->others));
    report_metric(b->report, "network_rebound", reached);
}

static void report_over(struct bench *b, const char *key, double ours, double other)
{
    if (ours > 0 && other > 0)
        report_metric(b->report, key, ours / other);
}

static void measure(struct bench *b, const struct dns_counts *asked)
{
    struct bench_service service;
    double ms[CONTENDERS], speed[CONTENDERS];
    service_start(&service, &b->site, "network", SERVICE_NETWORK, NULL);
    service_settle(&service);
    struct load_client *v = load_client_new(service.port);
    measure_runs(b, v);
    race(b, v, "connect and first byte, p50", "ms", connect_program, ms);
    report_metric(b->report, "network_connect_ms", ms[JAR] - ms[PLAIN]);
    race(b, v, "one stream", "MiB/s", stream_program, speed);
    report_over(b, "network_stream_over_plain", speed[JAR], speed[PLAIN]);
    report_over(b, "network_stream_over_pasta", speed[JAR], speed[PASTA]);
    report_over(b, "network_stream_over_slirp", speed[JAR], speed[SLIRP]);
    measure_porter(b, v, &service);
    measure_names(b, v, asked);
    load_client_free(v);
    measure_crowd(b, &service);
    service_stop(&service);
}

void part_network(struct bench *b)
{
    struct bench_world world;
    char why[200], text[300];
    bench_stop_services(b);
    if (!world_enter(&world, why, sizeof why)) {
        (void)snprintf(text, sizeof text, "the network of a run: %s", why);
        report_skip(b->report, text);
        return;
    }
    measure(b, world.questions);
    world_leave(&world);
}
