/* A question of a guest to the name server of its jar, and every answer to it. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "porter/dns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dns_question q;
    uint32_t ipv4;
    if (size > DNS_QUERY_MAX || dns_read(data, size, &q))
        return 0;
    if (strlen(q.name) >= DNS_NAME_SIZE || q.end > size)
        abort();
    (void)dns_reverse(q.name, &ipv4);
    for (int kind = DNS_EMPTY; kind <= DNS_REFUSED; kind++) {
        uint8_t out[DNS_ANSWER_MAX];
        struct dns_answer a = { .kind = (enum dns_answer_kind)kind, .pointer = q.name };
        if (dns_write(data, &q, &a, out) > DNS_ANSWER_MAX)
            abort();
    }
    return 0;
}
