#include "point.h"

struct Line {
    Point a, b;
};
