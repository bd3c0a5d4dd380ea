/* api/doors/piston/semver.h — versions and the ranges that npm's semver knows: "*", "3.x", ">=3",
 * "^1.2", "~1.2.3", "1.2 - 2", "<2 || >=3.1". Pure functions over text of strangers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct semver {
    uint32_t part[3]; /* major, minor, patch */
};
/* The first number of a text with dots: "Python 3.11.2" is 3.11.2, "17" is 17.0.0. False: none. */
bool semver_read(const char *text, struct semver *ret);
/* Whether the version is within the range. A range that cannot be read has no version. */
bool semver_within(const struct semver *v, const char *range);
