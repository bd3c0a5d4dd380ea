#include "base/secret_name.h"

#include <string.h>

#include "base/array.h"

enum { NAME_SEEN = 128 };

/* Anywhere in the name, in small letters and without the marks between its words. */
static const char *const parts[] = { "password",  "passwd",          "passphrase", "secret",
                                     "token",     "credential",      "apikey",     "privatekey",
                                     "accesskey", "authorization",   "bearer",     "cookie",
                                     "sessionid", "connectionstring" };
/* As a word of the name. */
static const char *const words[] = { "pwd", "auth", "jwt", "pin", "otp", "cvv", "ssn", "dsn" };
static const char *const harmless[] = { "key", "keys", "tokens" };
static const char *const keys[] = { "key", "keys" };

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static char lower(char c)
{
    return is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

static bool is_letter(char c)
{
    return lower(c) >= 'a' && lower(c) <= 'z';
}

static bool is_among(const char *const *list, size_t n_list, const char *word, size_t n)
{
    for (size_t i = 0; i < n_list; i++)
        if (strlen(list[i]) == n && memcmp(list[i], word, n) == 0)
            return true;
    return false;
}

/* The word that begins at *at: letters up to another character, or up to a capital letter behind a
 * small one. Returns its length; *at becomes the place behind it. */
static size_t next_word(const char *name, size_t n, size_t *at, char ret_word[NAME_SEEN])
{
    size_t len = 0;
    while (*at < n && !is_letter(name[*at]))
        (*at)++;
    for (; *at < n && is_letter(name[*at]); (*at)++) {
        if (len > 0 && is_upper(name[*at]) && !is_upper(name[*at - 1]))
            break;
        ret_word[len++] = lower(name[*at]);
    }
    return len;
}

static bool has_secret_word(const char *name, size_t n)
{
    char word[NAME_SEEN];
    size_t at = 0, len, n_words = 0;
    bool key = false;
    while ((len = next_word(name, n, &at, word)) > 0) {
        n_words++;
        key = is_among(keys, ARRAY_LEN(keys), word, len);
        if (is_among(words, ARRAY_LEN(words), word, len))
            return true;
    }
    return key && (n_words > 1 || is_upper(name[0]));
}

bool secret_name(const char *name, size_t n)
{
    char joined[NAME_SEEN + 1];
    size_t len = 0;
    for (size_t i = n; i > 0; i--)
        if (name[i - 1] == '.') {
            name += i;
            n -= i;
            break;
        }
    n = n < NAME_SEEN ? n : NAME_SEEN;
    if (is_among(harmless, ARRAY_LEN(harmless), name, n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (is_letter(name[i]))
            joined[len++] = lower(name[i]);
    joined[len] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (strstr(joined, parts[i]) && !strstr(joined, "tokeniz"))
            return true;
    return has_secret_word(name, n);
}
