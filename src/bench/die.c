#include "bench/die.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bench_die(const char *what, const struct err *e)
{
    int why = errno;
    (void)fflush(stdout);
    (void)fprintf(stderr, "bench: %s: %s\n", what, e && e->text[0] ? e->text : strerror(why));
    exit(BENCH_FAILED);
}

void bench_dief(const char *fmt, ...)
{
    va_list args;
    (void)fflush(stdout);
    (void)fputs("bench: ", stderr);
    va_start(args, fmt);
    (void)vfprintf(stderr, fmt, args);
    va_end(args);
    (void)fputc('\n', stderr);
    exit(BENCH_FAILED);
}
