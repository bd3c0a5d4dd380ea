/* base/array.h — the number of elements of an array. Runs in: every process. */
#pragma once

/* Only for arrays: the length of a pointer is not known. */
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
