/* runtime/plain/shown.h — what /proc shows of a program beside what it is: for drivers, in a zygote. */
#pragma once

/* /proc/PID/environ begins after the variable that preloaded us, and is then, but for the last ones, what a job without variables of its own has.
 * Where the kernel cannot do that (CONFIG_CHECKPOINT_RESTORE) it stays: nothing but a trace of how we got here. */
void shown_without_preload(void);
