#include "shapes.h"

static double area(double r) { return 3.14159 * r * r; }

double circle_area(double r) { return area(r); }
