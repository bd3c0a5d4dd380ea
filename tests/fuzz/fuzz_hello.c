/* The first bytes of a guest on a connection. A name is found only in a whole message, and more bytes
 * do not change it. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "porter/hello.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[HELLO_NAME_SIZE] = "", part[HELLO_NAME_SIZE] = "";
    if (size > HELLO_MAX)
        return 0;
    enum hello whole = hello_read(data, size, name);
    if (whole == HELLO_NAME && strlen(name) == 0)
        abort();
    enum hello half = hello_read(data, size / 2, part);
    if (half != HELLO_MORE && (half != whole || strcmp(part, name) != 0))
        abort();
    return 0;
}
