#include "spec/samples.h"

#include <stddef.h>

/* Keeps the first and every second one after it. */
static void halve(struct samples *s)
{
    for (size_t i = 1; 2 * i < s->n; i++)
        s->at[i] = s->at[2 * i];
    s->n = (s->n + 1) / 2;
    s->interval_us *= 2;
}

void samples_add(struct samples *s, const struct sample *x)
{
    if (s->interval_us == 0)
        s->interval_us = SAMPLES_FIRST_US;
    if (s->n > 1 && x->at_us < s->at[s->n - 2].at_us + s->interval_us) {
        s->at[s->n - 1] = *x;
        return;
    }
    if (s->n == SAMPLES_MAX)
        halve(s);
    s->at[s->n++] = *x;
}

uint64_t samples_due_us(const struct samples *s)
{
    return s->n == 0 ? 0 : s->at[s->n - 1].at_us + s->interval_us;
}

bool samples_valid(const struct samples *s)
{
    if (s->n > SAMPLES_MAX)
        return false;
    for (uint32_t i = 1; i < s->n; i++)
        if (s->at[i].at_us < s->at[i - 1].at_us || s->at[i].cpu_us < s->at[i - 1].cpu_us)
            return false;
    return true;
}
