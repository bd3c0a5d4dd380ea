/* runtime/node/fds.h — the descriptors that the interpreter made for itself: event loops, wakeups,
 * signal pipes. A child gets the same numbers but new kernel objects, because two jars could talk
 * through a shared one. */
#pragma once

/* Records and closes every descriptor above 2, except one. Returns NULL or the reason for the
 * failure. */
const char *fds_put_away(int but);
/* In the child: makes the recorded descriptors anew. Returns NULL or the reason for the failure. */
const char *fds_renew(void);
