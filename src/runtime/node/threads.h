/* runtime/node/threads.h — keeps the interpreter's other threads across a fork or an image, which
 * copy only one.
 *
 * A signal stops each thread. The thread records its position and ends, or waits; its stack and its
 * thread-local storage stay, and the copy of the memory has them. In the copy each thread is started
 * again on that stack and returns from the signal handler as if nothing had happened. The handler's
 * frame has all its registers, so that a thread may be anywhere, also inside the collector. While
 * the threads are stopped, the caller must not use the allocator or any other lock of a library: one
 * of them may hold it. */
#pragma once

/* Waits until all threads are asleep, and ends them: the calling thread is the only one afterwards.
 * Returns NULL or the reason for the failure. */
const char *threads_park(void);
/* The same without waiting. */
const char *threads_end(void);
/* In the child, or in a process that became an image, or again here: starts the threads. Returns
 * NULL or the reason for the failure. */
const char *threads_revive(void);

/* Stops all threads where they are. mark() is called in each, in a signal handler: a thread with
 * another result than 0 is not started again by threads_revive(). *ret_marked counts them. Returns
 * NULL, or the reason for the failure; the threads run then. */
const char *threads_hold(int (*mark)(void), unsigned *ret_marked);
/* Lets the held threads go on. */
void threads_release(void);
