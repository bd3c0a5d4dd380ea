#include "vectr.h"

int main(void) {
    struct vector v = {1, 2};
    return v.x + v.y;
}
