#include "base/nearest.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

enum { BEGINNING_MIN = 3 }; /* shorter beginnings fit too many names */

/* "cdoe" for "code": two neighbours changed places. */
static bool is_swap(const char *a, const char *b)
{
    size_t i = 0;
    while (a[i] && a[i] == b[i])
        i++;
    return a[i] && b[i] && a[i + 1] && a[i] == b[i + 1] && a[i + 1] == b[i] &&
           strcmp(a + i + 2, b + i + 2) == 0;
}

size_t nearest_distance(const char *wanted, const char *candidate)
{
    size_t len = strlen(wanted), other = strlen(candidate), longer = len > other ? len : other;
    if (len == 0 || len > NEAREST_WORD_MAX || other > NEAREST_WORD_MAX)
        return SIZE_MAX;
    if (strcasecmp(wanted, candidate) == 0)
        return 0;
    if (is_swap(wanted, candidate))
        return 1;
    size_t distance = text_distance(wanted, candidate);
    /* Edits count by the length: two long names with the same ending are not alike. */
    size_t accepted = (len + 2) / 4 > 1 ? (len + 2) / 4 : 1;
    if (distance <= accepted && distance * 3 <= longer)
        return distance;
    return len >= BEGINNING_MIN && strncmp(wanted, candidate, len) == 0 ? longer : SIZE_MAX;
}

void nearest_offer(struct nearest *n, const char *candidate)
{
    size_t distance = nearest_distance(n->wanted, candidate);
    if (distance == SIZE_MAX || (n->name[0] && distance >= n->distance) ||
        strlen(candidate) >= sizeof n->name)
        return;
    n->distance = distance;
    (void)snprintf(n->name, sizeof n->name, "%s", candidate);
}
