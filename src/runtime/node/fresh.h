/* runtime/node/fresh.h — random generators after a copy of the process. OpenSSL reseeds by itself only
 * for a new process id, and ids repeat between jars.
 * Runs in: embryos, session programs that became an image. */
#pragma once

#include <stdbool.h>

/* Finds the functions of V8. Returns NULL, or the name of one that this Node does not have. */
const char *fresh_find(void);
/* Reseeds every generator of the process and that of the current context. False: do not go on. */
bool fresh_seed(void);
/* Forgets the numbers that each context has drawn in advance. The arguments are handles: an object of
 * the last context that was made, one of the context before, and undefined. False: V8 keeps its list
 * of contexts elsewhere. */
bool fresh_contexts(void *of_last, void *of_one_before, void *undefined);
