#include <stdio.h>

double compute_area(double width, double height);

int main(void) {
    printf("%.2f\n", compute_area(2.0, 3.5));
    return 0;
}
