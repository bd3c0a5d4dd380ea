#include "base/hidden.h"

#include "base/array.h"

static const char looks_like_space[] = "looks like a space, but is another character";

static const struct {
    uint32_t first, last;
    const char *why;
} ranges[] = {
    { 0x00, 0x08, "a control character" },
    { 0x0b, 0x1f, "a control character" },
    { 0x7f, 0x9f, "a control character" },
    { 0xa0, 0xa0, looks_like_space },
    { 0xad, 0xad, "a hyphen that is not shown" },
    { 0x34f, 0x34f, "a character without width" },
    { 0x61c, 0x61c, "changes the order in which the line is shown" },
    { 0x115f, 0x1160, "a letter that looks like nothing" },
    { 0x17b4, 0x17b5, "a letter that looks like nothing" },
    { 0x180b, 0x180f, "a character without width" },
    { 0x2000, 0x200a, looks_like_space },
    { 0x200b, 0x200d, "a character without width" },
    { 0x200e, 0x200f, "changes the order in which the line is shown" },
    { 0x2028, 0x2029, "ends a line for some programs" },
    { 0x202a, 0x202e, "changes the order in which the line is shown" },
    { 0x202f, 0x202f, looks_like_space },
    { 0x205f, 0x205f, looks_like_space },
    { 0x2060, 0x2065, "a character without width" },
    { 0x2066, 0x2069, "changes the order in which the line is shown" },
    { 0x206a, 0x206f, "a character without width" },
    { 0x2800, 0x2800, looks_like_space },
    { 0x3000, 0x3000, looks_like_space },
    { 0x3164, 0x3164, "a letter that looks like nothing" },
    { 0xfe00, 0xfe0e, "changes the look of the character before it" }, /* U+FE0F is in emoji */
    { 0xfeff, 0xfeff, "a character without width" },
    { 0xffa0, 0xffa0, "a letter that looks like nothing" },
    { 0xfff9, 0xfffb, "a character without width" },
    { 0x1d173, 0x1d17a, "a character without width" },
    { 0xe0000, 0xe01ef, "a character without width" },
};

const char *hidden_why(uint32_t c)
{
    for (size_t i = 0; i < ARRAY_LEN(ranges); i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return ranges[i].why;
    return NULL;
}

uint32_t hidden_next(const char *text, size_t n, size_t *at)
{
    static const struct {
        unsigned char mask, lead;
        int more;
    } forms[] = { { 0x80, 0, 0 }, { 0xe0, 0xc0, 1 }, { 0xf0, 0xe0, 2 }, { 0xf8, 0xf0, 3 } };
    unsigned char first = (unsigned char)text[(*at)++];
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if ((first & forms[i].mask) != forms[i].lead)
            continue;
        uint32_t c = first & (unsigned char)~forms[i].mask;
        for (int k = 0; k < forms[i].more; k++) {
            if (*at + (size_t)k >= n || ((unsigned char)text[*at + (size_t)k] & 0xc0) != 0x80)
                return 0xfffd;
            c = c << 6 | ((unsigned char)text[*at + (size_t)k] & 0x3f);
        }
        *at += (size_t)forms[i].more;
        return c;
    }
    return 0xfffd;
}
