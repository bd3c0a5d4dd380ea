#include <stdio.h>
#include "shapes.h"

int main(void)
{
    double total = 0;
    for (int r = 1; r < 4; r++)
        total += area_of_circle(r);
    printf("%.2f\n", total);
    return 0;
}
