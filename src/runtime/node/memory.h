/* runtime/node/memory.h — searches the memory of this process for values whose address is not
 * known. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Calls fn for every aligned word in private writable memory that is present, except the main
 * stack. fn returns false to stop. */
typedef bool (*memory_fn)(uint64_t *word, void *context);
/* Returns false if fn stopped the walk or the memory cannot be listed. */
bool memory_walk(memory_fn fn, void *context);
