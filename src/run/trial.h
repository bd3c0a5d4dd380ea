/* run/trial.h — proof that a warden can do what it promises: /bin/true in a jar. Runs in: doctor. */
#pragma once

#include "base/err.h"
#include "warden/warden.h"

/* Starts a warden at this level, runs one jar, stops it. What it promised is in *ret. */
[[nodiscard]] int level_try(enum level level, struct isolation *ret, struct err *e);
