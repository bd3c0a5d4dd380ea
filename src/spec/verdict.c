#include "spec/verdict.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

const char *const verdict_words[] = {
#define X(id, word, status, limit) [id] = word,
    VERDICT_TABLE(X)
#undef X
        [VERDICT_COUNT_] = NULL,
};

static const struct {
    int exit_status;
    enum limit_id limit;
} rows[] = {
#define X(id, word, status_, limit_) [id] = { status_, limit_ },
    VERDICT_TABLE(X)
#undef X
};

const struct hoard_def hoard_defs[HOARD_COUNT_] = {
    [HOARD_CONNECTIONS] = { 256, "connections that no process accepted",
                            "Accept connections as they come, or open fewer at a time" },
    [HOARD_SOCKETS] = { 4096, "TCP sockets", "Close connections that are not needed any more" },
    [HOARD_BUFFERS] = { 8, "MiB in the buffers of its sockets",
                        "Read data as it comes, or send less at a time" },
    [HOARD_LOCKS] = { 2048, "file locks", "Lock whole files instead of many small ranges" },
};

const char *hoard_exceeded(enum hoard id, char *out, size_t size)
{
    (void)snprintf(out, size, "held more than %" PRIu64 " %s", hoard_defs[id].most,
                   hoard_defs[id].what);
    return out;
}

/* The verdict of a run that was killed from outside. */
static const enum verdict by_reason[END_REASON_COUNT_] = {
    [END_WALL] = VERDICT_TIMEOUT,        [END_CPU] = VERDICT_CPU_TIMEOUT,
    [END_MEMORY] = VERDICT_MEMORY_LIMIT, [END_OUTPUT] = VERDICT_OUTPUT_LIMIT,
    [END_CANCEL] = VERDICT_CANCELLED,    [END_FAILURE] = VERDICT_INTERNAL_ERROR,
};

/* The verdict of a run that failed by itself after it met a limit, the clearest cause first. A
 * program that met a limit and still ended well is ok; the hit is listed all the same. */
static const struct {
    limit_set hits;
    enum verdict verdict;
} by_hit[] = {
    { LIMIT_BIT(LIMIT_CPU_MS), VERDICT_CPU_TIMEOUT },
    { LIMIT_BIT(LIMIT_PIDS), VERDICT_PROCESS_LIMIT },
    { LIMIT_BIT(LIMIT_DISK) | LIMIT_BIT(LIMIT_FILES), VERDICT_DISK_LIMIT },
};

enum verdict verdict_decide(const struct evidence *ev)
{
    if (ev->reason != END_EXIT) {
        /* A reason without a row is never ok. */
        enum verdict v = (unsigned)ev->reason < END_REASON_COUNT_ ? by_reason[ev->reason]
                                                                  : VERDICT_OK;
        return v != VERDICT_OK ? v : VERDICT_INTERNAL_ERROR;
    }
    /* These two always decide: the run may have ended by itself before it could be killed for
     * them. */
    if (ev->hits & LIMIT_BIT(LIMIT_MEMORY))
        return VERDICT_MEMORY_LIMIT;
    if (ev->hits & LIMIT_BIT(LIMIT_OUTPUT))
        return VERDICT_OUTPUT_LIMIT;
    if (ev->signal == 0 && ev->exit_code == 0)
        return VERDICT_OK;
    for (unsigned i = 0; i < ARRAY_LEN(by_hit); i++)
        if (ev->hits & by_hit[i].hits)
            return by_hit[i].verdict;
    return VERDICT_RUNTIME_ERROR;
}

const char *verdict_word(enum verdict v)
{
    return (unsigned)v < VERDICT_COUNT_ ? verdict_words[v] : "internal_error";
}

int verdict_parse(const char *word, enum verdict *ret)
{
    for (int i = 0; i < VERDICT_COUNT_; i++)
        if (strcmp(word, verdict_word((enum verdict)i)) == 0) {
            *ret = (enum verdict)i;
            return 0;
        }
    return -1;
}

enum limit_id verdict_limit(enum verdict v, limit_set hits)
{
    enum limit_id id = (unsigned)v < VERDICT_COUNT_ ? rows[v].limit : LIMIT_NONE;
    bool files = hits & LIMIT_BIT(LIMIT_FILES) && !(hits & LIMIT_BIT(LIMIT_DISK));
    return id == LIMIT_DISK && files ? LIMIT_FILES : id;
}

enum verdict verdict_of_limit(enum limit_id id)
{
    for (int i = 0; i < VERDICT_COUNT_; i++)
        if (id != LIMIT_NONE && verdict_limit((enum verdict)i, LIMIT_BIT(id)) == id)
            return (enum verdict)i;
    return VERDICT_RUNTIME_ERROR;
}

static const char list[] =
#define X(id, word, status, limit) ", " word
    VERDICT_TABLE(X)
#undef X
    ;
const char *const verdict_list = list + 2;

int verdict_exit_code(enum verdict v, const struct evidence *ev)
{
    if (rows[v].exit_status >= 0)
        return rows[v].exit_status;
    return ev->signal ? 128 + ev->signal : ev->exit_code;
}
