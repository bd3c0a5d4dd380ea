/* base/thread.h — the C library's record of a thread. Runs in: zygotes, embryos, session programs. */
#pragma once

/* The address of the thread id that the C library keeps for the calling thread, or NULL. Safe in a
 * signal handler. */
int *thread_id_place(void);
