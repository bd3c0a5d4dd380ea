/* runtime/plain/proc_environ.h — makes /proc/PID/environ of a zygote look like that of a cold
 * start. For drivers. */
#pragma once

/* Cuts the variable that preloaded the driver off the start of /proc/PID/environ, and the variables
 * for the boot off its end. The rest is the environment of a job without variables of its own. A
 * kernel without CONFIG_CHECKPOINT_RESTORE cannot do that; the variables then stay visible, which
 * is harmless. */
void proc_environ_hide_boot(void);
