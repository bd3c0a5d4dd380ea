#include <stdio.h>

int area(int width, int height);

int main(void) {
    printf("%d\n", area(2, 3));
    return 0;
}

double area(double width, double height) {
    return width * height;
}
