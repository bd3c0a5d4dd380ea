/* Given to clang-tidy before every file but base/err.c: it sees one file at a time, and would
 * otherwise follow paths on which an error is set and success returned. */
#include "base/err.h"

#define err_set(...)  ((void)!(err_set)(__VA_ARGS__), -1)
#define err_wrap(...) ((void)!(err_wrap)(__VA_ARGS__), -1)
