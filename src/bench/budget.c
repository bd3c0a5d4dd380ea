#include "bench/budget.h"
#include "base/array.h"

const struct budget budget_table[] = {
    { "python_over_bare", "Python print(1) over HTTP, fresh jar, p50, over bare python3", AT_MOST,
      0.25, "x" },
    { "data_over_bare", "the same with import numpy, pandas", AT_MOST, 0.03, "x" },
    { "node_over_bare", "Node hello over HTTP, fresh jar, p50, over bare node", AT_MOST, 0.25,
      "x" },
    { "rate_over_bare", "Python runs a second, history on, over spawning bare python3", AT_LEAST,
      10, "x" },
    { "docker_run_over_python", "docker run python3, p50, over ours", AT_LEAST, 100, "x" },
    { "docker_exec_over_python", "docker exec python3, p50, over ours", AT_LEAST, 30, "x" },
    { "bwrap_over_python", "bubblewrap + python3, p50, over ours", AT_LEAST, 10, "x" },
    { "session_ms", "1+1 in a Python session over HTTP, p50, above p50 of /v1/health", AT_MOST, 1,
      "ms" },
    { "ipykernel_over_session", "1+1 in an ipykernel, p50, over ours", AT_LEAST, 3, "x" },
    { "session_start_ms", "create a Python session and run its first cell, p50", AT_MOST, 8, "ms" },
    { "ipykernel_start_over_session", "start an ipykernel and run a cell, p50, over ours", AT_LEAST,
      50, "x" },
    { "session_python_mib", "idle session, private memory, Python", AT_MOST, 8, "MiB" },
    { "session_data_mib", "idle session, private memory, with numpy and pandas", AT_MOST, 16,
      "MiB" },
    { "session_node_mib", "idle session, private memory, Node", AT_MOST, 12, "MiB" },
    { "sessions_unanswered", "many sessions, cells without a good answer", AT_MOST, 0, "" },
    { "sessions_busy_over_alone", "many sessions, a cell's p95 over that of one alone", AT_MOST, 3,
      "x" },
    { "session_plot_over_bare", "first df.plot() of a session, p50, over bare python3", AT_MOST,
      0.15, "x" },
    { "image_start_ms", "a session from an image of 100 MB, and 1+1, p50", AT_MOST, 10, "ms" },
    { "image_large_start_ms", "the same, 900 MB", AT_MOST, 15, "ms" },
    { "image_node_start_ms", "the same, Node, 250 MB", AT_MOST, 20, "ms" },
    { "image_pause_ms", "pause of a session of 100 MB that is forked, p50", AT_MOST, 5, "ms" },
    { "image_large_pause_ms", "the same, 900 MB", AT_MOST, 25, "ms" },
    { "image_wake_ms", "a session of 100 MB wakes from the disk, and 1+1, p50", AT_MOST, 25, "ms" },
    { "rollback_ms", "rollback of a session of 100 MB, p50", AT_MOST, 12, "ms" },
    { "image_write_over_memcpy", "speed of writing an image, over memcpy into a new memfd",
      AT_LEAST, 0.8, "x" },
    { "forks_at_once_s", "100 forks of a session of 100 MB, until all have answered", AT_MOST, 2,
      "s" },
    { "fork_private_mib", "each of them, private memory", AT_MOST, 8, "MiB" },
    { "sleepers_start_over_none", "service start with 1,000 sleeping sessions, p50, over none",
      AT_MOST, 1.1, "x" },
    { "sleepers_processes", "1,000 sleeping sessions, processes", AT_MOST, 0, "" },
    { "sleeper_kib", "a sleeping session, memory of the keeper", AT_MOST, 8, "KiB" },
    { "template_run_ms", "a run from a template with a frame of 100 MB, p50", AT_MOST, 12, "ms" },
    { "bare_over_template_run", "bare python3 with the same setup, p50, over such a run", AT_LEAST,
      50, "x" },
    { "embryo_python_mib", "waiting embryo, private memory, Python", AT_MOST, 4, "MiB" },
    { "embryo_data_mib", "waiting embryo, private memory, with numpy and pandas", AT_MOST, 12,
      "MiB" },
    { "at_rest_mib", "keeper + warden at rest, no pools", AT_MOST, 20, "MiB" },
    { "history_over_empty", "a run with the longest history, p50, over an empty one", AT_MOST, 1.1,
      "x" },
    { "health_beside_large_ms", "/v1/health beside requests of 15 MiB, p99", AT_MOST, 50, "ms" },
    { "sustained_p99_drift", "sustained load, p99 of the last fifth over the first, by bare's",
      AT_MOST, 1.5, "x" },
    { "sustained_growth_mib", "sustained load, memory, last fifth less the second", AT_MOST, 4,
      "MiB" },
    { "go_over_bare", "Go hello over HTTP, never seen, p50, over bare go build and run", AT_MOST,
      1.2, "x" },
    { "go_first_over_again", "Go, a program's first run, p50, over its second", AT_LEAST, 10, "x" },
    { "cpp_first_over_again", "the same, C++", AT_LEAST, 10, "x" },
    { "rust_first_over_again", "the same, Rust", AT_LEAST, 10, "x" },
    { "network_run_ms", "warm Python run with a network list, p50, above one without", AT_MOST, 0.5,
      "ms" },
    { "network_connect_ms", "connect and first byte in a jar, p50, above plain TCP", AT_MOST, 0.3,
      "ms" },
    { "network_stream_over_plain", "one stream into a jar, over plain TCP", AT_LEAST, 0.5, "x" },
    { "network_stream_over_pasta", "the same, over pasta", AT_LEAST, 1, "x" },
    { "network_stream_over_slirp", "the same, over slirp4netns", AT_LEAST, 3, "x" },
    { "network_connections", "new connections for a CPU second of the porter", AT_LEAST, 5000, "" },
    { "network_unanswered", "64 jars with 16 connections each, connections without an answer",
      AT_MOST, 0, "" },
    { "network_denied_ms", "a denied name, address or port, p50 of the slowest", AT_MOST, 1, "ms" },
    { "network_leaks", "questions to a name server for names that no list has", AT_MOST, 0, "" },
    { "network_rebound", "lies of a name server that lead to a refused address", AT_MOST, 0, "" },
    { "porter_mib", "porter at rest, private memory", AT_MOST, 3, "MiB" },
    { "burst_unanswered", "bursts, requests without a good answer", AT_MOST, 0, "" },
};
const size_t n_budget_table = ARRAY_LEN(budget_table);

enum budget_verdict budget_judge(const struct budget *b, double value)
{
    bool holds = b->sense == AT_MOST ? value <= b->bound : value >= b->bound;
    return holds ? BUDGET_PASS : BUDGET_MISS;
}

const char *budget_verdict_word(enum budget_verdict v)
{
    static const char *const words[] = {
        [BUDGET_PASS] = "pass",
        [BUDGET_MISS] = "MISS",
        [BUDGET_NOT_MEASURED] = "not measured",
    };
    return words[v];
}
