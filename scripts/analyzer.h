/* clang-tidy reads this before every file except base/err.c. It sees one file at a time, and would
 * otherwise follow paths on which err_set() returns success. */
#include "base/err.h"

#define err_set(...)       ((void)!(err_set)(__VA_ARGS__), -1)
#define err_no_memory(...) ((void)!(err_no_memory)(__VA_ARGS__), -1)
#define err_wrap(...)      ((void)!(err_wrap)(__VA_ARGS__), -1)
