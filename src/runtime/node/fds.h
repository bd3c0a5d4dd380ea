/* runtime/node/fds.h — the descriptors that the interpreter has made for itself: event loops, wakeups, signal pipes.
 * A child has the same ones by number, and none by kernel object: what two jars share, they can talk through. */
#pragma once

/* Remembers what there is above 2, but for one, and closes it. NULL, or what went wrong. */
const char *fds_put_away(int but);
/* In the child: the same again, new. NULL, or what went wrong. */
const char *fds_renew(void);
