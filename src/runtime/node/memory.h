/* runtime/node/memory.h — this process's own memory, looked through for values whose place is not told. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* For every aligned word in private writable memory that is there, but for the main stack. false ends the walk. */
typedef bool (*memory_fn)(uint64_t *word, void *context);
/* false: ended by fn, or memory cannot be listed. */
bool memory_walk(memory_fn fn, void *context);
