/* cli/verify/compare.h — compares an output with the expected one. Runs in: main. Pure functions.
 * White space at the ends of lines and blank lines at the end do not count. In the expected output,
 * "…" or "..." stands for any text in a line; as a whole line it stands for any number of lines. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

bool output_matches(const char *expected, size_t expected_len, const char *got, size_t got_len);
