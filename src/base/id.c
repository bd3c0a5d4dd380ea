#include "base/id.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>

#include "base/clock.h"

void id_make(const char *prefix, char out[ID_SIZE])
{
    uint64_t random = 0;
    while (getrandom(&random, sizeof random, 0) !=
           sizeof random) /* interrupted: 8 bytes never fail */
        ;
    uint64_t ms = (uint64_t)clock_unix_ms() & 0xfffffffffff;
    (void)snprintf(out, ID_SIZE, "%.4s%011" PRIx64 "%016" PRIx64, prefix, ms, random);
}
