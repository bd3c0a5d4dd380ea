/* runtime/node/instant.h — the time at which the program began.
 *
 * While the interpreter boots, every clock shows the instant at which the driver was loaded. The
 * driver finds the interpreter's copies of that value (performance.timeOrigin, process.uptime) in
 * memory and, in a child, sets them to the child's own start. */
#pragma once

/* Finds the copies and lets the clocks run again. Returns NULL or the reason for the failure. */
const char *instant_find(void);
/* In the child: the program begins now. */
void instant_set(void);
