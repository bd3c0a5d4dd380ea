/* porter/hello.h — the server name in the first message of a TLS client. Pure.
 * Runs in: porter. The bytes are a guest's. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { HELLO_MAX = 16 << 10, HELLO_NAME_SIZE = 254 };

enum hello {
    HELLO_MORE, /* the message is not complete */
    HELLO_NONE, /* it is not TLS, or it names no server */
    HELLO_NAME, /* the name is in ret_name, in lower case */
    HELLO_BAD,  /* it begins like TLS and cannot be read, or its name is none of a host */
};
enum hello hello_read(const uint8_t *bytes, size_t n, char ret_name[HELLO_NAME_SIZE]);
