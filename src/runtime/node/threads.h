/* runtime/node/threads.h — keeps the interpreter's other threads across a fork, which copies only
 * one.
 *
 * A signal stops each thread. The thread records its position and ends; its stack and its
 * thread-local storage stay, and the fork copies them like all memory. In the child each thread is
 * started again on that stack and returns from the signal handler as if nothing had happened. All
 * threads are idle by then: they wait in a system call that a signal may interrupt. */
#pragma once

/* Afterwards the calling thread is the only one. Returns NULL or the reason for the failure. */
const char *threads_park(void);
/* In the child: starts all of them again. Returns NULL or the reason for the failure. */
const char *threads_revive(void);
