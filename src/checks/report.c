/* The report of the script:
 *
 *     check LANGUAGE STEP TOOL STATUS NAME_BYTES TEXT_BYTES
 *     NAME
 *     TEXT
 *     ...
 *     check end
 *
 * Lengths say where a text ends, because the text of a tool quotes lines of the code. */
#include <string.h>

#include "checks/checks.h"

const char *const check_steps[] = {
#define X(id, word) word,
    CHECK_STEP_TABLE(X)
#undef X
        NULL,
};

const char *const check_states[] = {
#define X(id, word) word,
    CHECK_STATE_TABLE(X)
#undef X
        NULL,
};

struct check_report check_report_of(const char *text, size_t n)
{
    if (n > CHECKS_REPORT_MAX)
        n = CHECKS_REPORT_MAX;
    return (struct check_report){ .at = text, .end = text + n };
}

/* The next word of a line, and the one byte after it. */
static bool take_word(struct check_report *r, char after, char *out, size_t size)
{
    size_t left = (size_t)(r->end - r->at), n = 0;
    while (n < left && r->at[n] > ' ' && r->at[n] < 0x7f)
        n++;
    if (n == 0 || n >= size || n == left || r->at[n] != after)
        return false;
    memcpy(out, r->at, n);
    out[n] = '\0';
    r->at += n + 1;
    return true;
}

static bool take_number(struct check_report *r, char after, size_t max, size_t *ret)
{
    char word[8];
    *ret = 0;
    if (!take_word(r, after, word, sizeof word))
        return false;
    for (const char *c = word; *c; c++) {
        if (*c < '0' || *c > '9')
            return false;
        *ret = *ret * 10 + (size_t)(*c - '0');
    }
    return *ret <= max;
}

static bool take_text(struct check_report *r, size_t n, const char **ret)
{
    if ((size_t)(r->end - r->at) <= n || r->at[n] != '\n')
        return false;
    *ret = r->at;
    r->at += n + 1;
    return true;
}

/* The place of a word in a list; -1: it is not there. */
static int place_of(const char *const *list, const char *word)
{
    for (int i = 0; list[i]; i++)
        if (strcmp(list[i], word) == 0)
            return i;
    return -1;
}

/* An exit status, or the word of a state that has none. */
static bool take_status(struct check_report *r, struct check_entry *ret)
{
    enum { STATUS_MAX = 255 };
    char word[16];
    struct check_report there = *r;
    size_t status;
    if (take_number(r, ' ', STATUS_MAX, &status)) {
        ret->status = (int)status;
        ret->state = status ? CHECK_FAILED : CHECK_OK;
        return true;
    }
    *r = there;
    int state = take_word(r, ' ', word, sizeof word) ? place_of(check_states, word) : -1;
    if (state != CHECK_NONE && state != CHECK_SKIPPED && state != CHECK_NOT_INSTALLED)
        return false;
    ret->state = (enum check_state)state;
    return true;
}

static bool take_entry(struct check_report *r, struct check_entry *ret)
{
    char step[16];
    if (!take_word(r, ' ', ret->language, sizeof ret->language) ||
        !take_word(r, ' ', step, sizeof step) || !take_word(r, ' ', ret->tool, sizeof ret->tool) ||
        !take_status(r, ret) || !take_number(r, ' ', CHECKS_NAME_MAX, &ret->name_len) ||
        !take_number(r, '\n', CHECKS_TEXT_MAX, &ret->text_len) ||
        !take_text(r, ret->name_len, &ret->name) || !take_text(r, ret->text_len, &ret->text))
        return false;
    int place = place_of(check_steps, step);
    ret->step = place < 0 ? CHECK_SYNTAX : (enum check_step)place;
    return place >= 0;
}

bool check_report_next(struct check_report *r, struct check_entry *ret)
{
    static const char mark[] = "check ", end[] = "check end\n";
    size_t left = (size_t)(r->end - r->at);
    *ret = (struct check_entry){ 0 };
    if (left == sizeof end - 1 && memcmp(r->at, end, left) == 0) {
        r->complete = true;
        return false;
    }
    if (left < sizeof mark || memcmp(r->at, mark, sizeof mark - 1) != 0)
        return false;
    r->at += sizeof mark - 1;
    return take_entry(r, ret);
}
