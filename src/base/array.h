/* base/array.h — arrays and their lengths. Runs in: every process. */
#pragma once

/* Only for arrays: the length of a pointer is not known. */
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* A NULL-terminated list of words, at least one. As an argument of a macro it fills its lines. */
#define WORDS(...)        \
    (const char *const[]) \
    {                     \
        __VA_ARGS__, NULL \
    }
#define NO_WORDS          \
    (const char *const[]) \
    {                     \
        NULL              \
    }
