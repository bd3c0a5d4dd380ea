#include <stdio.h>

int main(void) {
    double sides[] = {1.5, 2.5};
    double all = perimeter(sides, 2);
    printf("%.1f\n", all);
    return 0;
}

double perimeter(const double *side, int n) {
    double total = 0;
    for (int i = 0; i < n; i++)
        total += side[i];
    return total;
}
