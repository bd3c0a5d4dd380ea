#include "engine/examination_pauses.h"

#include <stdio.h>
#include <string.h>

static struct examination_pause *find(const struct examination_pauses *p, const char *key)
{
    for (size_t i = 0; i < EXAMINATION_PAUSES; i++)
        if (p->all[i].losses > 0 && strcmp(p->all[i].key, key ? key : "") == 0)
            return (struct examination_pause *)&p->all[i];
    return NULL;
}

/* A free place, or the one of the oldest loss. */
static struct examination_pause *find_place(struct examination_pauses *p)
{
    struct examination_pause *oldest = &p->all[0];
    for (size_t i = 0; i < EXAMINATION_PAUSES; i++) {
        if (p->all[i].losses == 0)
            return &p->all[i];
        if (p->all[i].lost_ms < oldest->lost_ms)
            oldest = &p->all[i];
    }
    return oldest;
}

void pauses_note_loss(struct examination_pauses *p, const char *key, uint64_t now_ms)
{
    struct examination_pause *one = find(p, key);
    if (!one) {
        one = find_place(p);
        *one = (struct examination_pause){ 0 };
        (void)snprintf(one->key, sizeof one->key, "%s", key ? key : "");
    }
    one->lost_ms = now_ms;
    if (++one->losses >= EXAMINATION_LOSSES_MAX)
        one->until_ms = now_ms + EXAMINATION_PAUSE_MS;
}

void pauses_note_answer(struct examination_pauses *p, const char *key)
{
    struct examination_pause *one = find(p, key);
    if (one)
        one->losses = 0;
}

bool pauses_have(const struct examination_pauses *p, const char *key, uint64_t now_ms)
{
    const struct examination_pause *one = find(p, key);
    return one && now_ms < one->until_ms;
}
