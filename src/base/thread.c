#include "base/thread.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The C library registers this address with the kernel when a thread starts, to be cleared at its
 * end. A kernel without CONFIG_CHECKPOINT_RESTORE does not tell it, and musl registers another
 * address. Then we search for the thread id in the library's record of the thread: all libraries
 * have it in the first two kilobytes. */
int *thread_id_place(void)
{
    enum { LOOKED_AT = 512 };
    int *place = NULL, id = (int)gettid();
    if (prctl(PR_GET_TID_ADDRESS, &place, 0, 0, 0) == 0 && place && *place == id)
        return place;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): a thread is its record */
    place = (int *)pthread_self();
    for (int i = 0; i < LOOKED_AT; i++)
        if (place[i] == id)
            return &place[i];
    return NULL;
}
