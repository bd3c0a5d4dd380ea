#include "network/name.h"

#include <locale.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <wctype.h>

#include "base/text.h"
#include "network/punycode.h"

enum { LABEL_MAX = 63 };

static int refuse(const char *text, const char *why, struct err *e)
{
    return err_set(e, ERR_BAD_REQUEST, 0, "'%s' is not the name of a host: %s", QUOTED(text), why);
}

static bool is_label_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static bool is_label(const char *label, size_t n)
{
    if (n == 0 || n > LABEL_MAX || label[0] == '-' || label[n - 1] == '-')
        return false;
    for (size_t i = 0; i < n; i++)
        if (!is_label_byte(label[i]))
            return false;
    return true;
}

/* Libraries read 0x1f and 127 as parts of IPv4 addresses, and "0x" as 0. */
static bool is_number(const char *label)
{
    bool hex = label[0] == '0' && (label[1] == 'x' || label[1] == 'X');
    return hex ? label[2 + strspn(label + 2, "0123456789abcdefABCDEF")] == '\0'
               : label[strspn(label, "0123456789")] == '\0';
}

static const char *last_label(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

size_t network_name_labels(const char *name)
{
    size_t n = 1;
    for (; (name = strchr(name, '.')); name++)
        n++;
    return n;
}

/* The reason why a name is not in its one form; NULL: it is. */
static const char *fault(const char *name)
{
    size_t len = strlen(name);
    if (len == 0)
        return "it is empty";
    if (len > NETWORK_NAME_MAX)
        return "it is longer than 253 bytes";
    if (strcmp(name, "udp") == 0)
        return "this word begins an entry for UDP";
    for (const char *label = name;; label++) {
        size_t n = strcspn(label, ".");
        if (!is_label(label, n))
            return "each part between dots has 1 to 63 letters, digits, - or _, and neither begins "
                   "nor ends with -";
        label += n;
        if (!*label)
            break;
    }
    if (is_number(last_label(name)))
        return "it ends with a number, so that some programs take it for an address; write an "
               "address in full, such as 203.0.113.7";
    return NULL;
}

bool network_name_is_plain(const char *name)
{
    return !fault(name);
}

/* ---- letters beyond ASCII ---- */

/* Decodes one character of valid UTF-8. */
static uint32_t decode(const char **at)
{
    const unsigned char *s = (const unsigned char *)*at;
    unsigned more = s[0] < 0x80 ? 0 : s[0] < 0xe0 ? 1 : s[0] < 0xf0 ? 2 : 3;
    uint32_t c = more ? s[0] & (0x3fU >> more) : s[0];
    for (unsigned i = 1; i <= more; i++)
        c = c << 6 | (s[i] & 0x3fU);
    *at += more + 1;
    return c;
}

/* Lower case, and a letter or a digit of any script: no control, no blank, no second kind of dot. */
static int fold(uint32_t *c, locale_t locale)
{
    if (*c < 0x80)
        return is_label_byte((char)*c) ? 0 : -1;
    *c = (uint32_t)towlower_l((wint_t)*c, locale);
    return iswalnum_l((wint_t)*c, locale) ? 0 : -1;
}

static int encode_label(const char *label, size_t n, locale_t locale, char *out, size_t size)
{
    uint32_t points[LABEL_MAX];
    size_t count = 0;
    for (const char *at = label; at < label + n;) {
        if (count == LABEL_MAX)
            return -1;
        points[count] = decode(&at);
        if (fold(&points[count++], locale))
            return -1;
    }
    return punycode_label(points, count, out, size);
}

static bool is_ascii(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] >= 0x80)
            return false;
    return true;
}

/* ASCII labels stay; the others become A-labels. */
static int encode(const char *text, locale_t locale, char ret[NETWORK_NAME_MAX + 1])
{
    size_t used = 0;
    for (const char *label = text;; label++) {
        size_t n = strcspn(label, "."), left = NETWORK_NAME_MAX - used;
        char *out = ret + used;
        if (is_ascii(label, n)) {
            if (n > left)
                return -1;
            memcpy(out, label, n);
            out[n] = '\0';
        } else if (encode_label(label, n, locale, out, left + 1)) {
            return -1;
        }
        used += strlen(out);
        label += n;
        if (!*label)
            return 0;
        if (used == NETWORK_NAME_MAX)
            return -1;
        ret[used++] = '.';
    }
}

static int to_ascii(const char *text, char ret[NETWORK_NAME_MAX + 1], struct err *e)
{
    if (!text_is_utf8(text, strlen(text)))
        return refuse(text, "it is not UTF-8", e);
    locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    int failed = locale ? encode(text, locale, ret) : -1;
    if (locale)
        freelocale(locale);
    return failed ? refuse(text,
                           "a part cannot be written as an A-label; write the name in its "
                           "ASCII form (xn--...)",
                           e)
                  : 0;
}

/* ---- */

int network_name_parse(const char *text, char ret[NETWORK_NAME_MAX + 1], struct err *e)
{
    char lower[4 * NETWORK_NAME_MAX + 2] = "", name[NETWORK_NAME_MAX + 1];
    size_t len = strlen(text);
    if (len >= sizeof lower)
        return refuse(text, "it is longer than 253 bytes", e);
    for (size_t i = 0; i <= len; i++)
        lower[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + ('a' - 'A') : text[i]);
    if (len > 1 && lower[len - 1] == '.')
        lower[--len] = '\0';
    if (is_ascii(lower, len)) {
        const char *why = fault(lower);
        if (why)
            return refuse(text, why, e);
        memcpy(ret, lower, len + 1);
        return 0;
    }
    if (to_ascii(lower, name, e))
        return -1;
    const char *why = fault(name);
    if (why)
        return refuse(text, why, e);
    memcpy(ret, name, strlen(name) + 1);
    return 0;
}

bool network_name_is_beneath(const char *name, const char *parent)
{
    size_t n = strlen(name), p = strlen(parent);
    return n > p + 1 && name[n - p - 1] == '.' && strcasecmp(name + n - p, parent) == 0;
}
