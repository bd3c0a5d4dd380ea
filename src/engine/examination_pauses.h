/* engine/examination_pauses.h — keys whose examinations are lost again and again. Runs in: keeper.
 * Pure.
 *
 * PAUSE-1 Losses of a key pause the examinations of that key alone. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "store/key_rows.h"

enum {
    EXAMINATION_LOSSES_MAX = 3,   /* in a row; then there is a pause */
    EXAMINATION_PAUSE_MS = 10000, /* in which every examination of the key is lost at once */
    EXAMINATION_PAUSES = 16,      /* keys that are remembered; beyond it the oldest is forgotten */
};

struct examination_pauses {
    struct examination_pause {
        char key[KEY_NAME_MAX + 1]; /* "": no key */
        unsigned losses;            /* in a row; 0: the place is free */
        uint64_t lost_ms, until_ms;
    } all[EXAMINATION_PAUSES];
};

/* key NULL: a client without one. */
void pauses_note_loss(struct examination_pauses *p, const char *key, uint64_t now_ms);
void pauses_note_answer(struct examination_pauses *p, const char *key);
bool pauses_have(const struct examination_pauses *p, const char *key, uint64_t now_ms);
