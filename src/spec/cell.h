/* spec/cell.h — one cell of a session: its limits, and its usage as the warden measured it. Pure
 * data. The keeper arms the limits when it sends a cell to the program, and disarms them when the
 * program has answered. */
#pragma once

#include <stdint.h>

enum { CELL_GRACE_MAX_MS = 60000 };

struct cell_limits {
    uint64_t number; /* chosen by the keeper; never 0 */
    uint64_t wall_ms, cpu_ms;
    uint64_t grace_ms; /* from the SIGINT to the end of the jar */
};

/* The reason of the first SIGINT. */
enum cell_interrupt {
    CELL_NOT_INTERRUPTED,
    CELL_ASKED, /* by the keeper */
    CELL_WALL,  /* it passed its deadline */
    CELL_CPU,   /* it used up its CPU time */
    CELL_INTERRUPTS_
};

struct cell_usage {
    uint64_t number;
    enum cell_interrupt interrupted;
    uint64_t wall_us, cpu_us;
    uint64_t memory_bytes; /* of the whole jar, at the end of the cell */
    uint64_t memory_peak_bytes;
    uint64_t pids;       /* of the whole jar, at the end of the cell; init does not count */
    uint64_t oom_kills;  /* processes that the kernel killed because memory ran out */
    uint64_t disk_bytes; /* of all files, at the end of the cell */
};
