/* runtime/node/threads.h — the interpreter's other threads, across a fork that takes only one along.
 *
 * Each is stopped by a signal, remembers where it was, and ends; its stack and its thread-local storage stay where they
 * are and are copied by the fork as all memory is. In the child each is started again on that stack and returns from the
 * signal, as if nothing had been. They are idle by then: waiting in a system call that a signal may interrupt at any time. */
#pragma once

/* Afterwards this thread is the only one. NULL, or what went wrong. */
const char *threads_park(void);
/* In the child: all are there again. NULL, or what went wrong. */
const char *threads_revive(void);
