/* examiner/warm.h — patterns that most diagnoses need, compiled before there is one. Runs in:
 * examiner. A reader is a copy of the examiner, and would compile them again each time. */
#pragma once

#include "diagnose/core/diagnose.h"

void warm_diagnoser(struct diagnoser *g);
/* One diagnosis, so that a new reader has its pages before it has a question. */
void warm_reader(struct diagnoser *g, struct diagnosis *ret);
