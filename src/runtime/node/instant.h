/* runtime/node/instant.h — when the program began.
 *
 * While the interpreter boots, time stands still: every clock shows the instant at which the driver was loaded. What the
 * interpreter keeps of it (performance.timeOrigin, process.uptime) is found in its memory, and in a child is set to the
 * child's own beginning. */
#pragma once

/* Finds the copies, and lets time go on. NULL, or what went wrong. */
const char *instant_find(void);
/* In the child: now is when it began. */
void instant_set(void);
