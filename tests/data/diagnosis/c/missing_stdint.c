#include <stdio.h>

int main(void) {
    uint32_t hash = 5381;
    const char *text = "hello";
    while (*text)
        hash = hash * 33 + (unsigned char)*text++;
    printf("%u\n", hash);
    return 0;
}
