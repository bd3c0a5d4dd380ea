#include <stdio.h>

int main(void) {
    int smallest = INT_MAX;
    int values[] = {4, 2, 9};
    for (int i = 0; i < 3; i++)
        if (values[i] < smallest)
            smallest = values[i];
    printf("%d\n", smallest);
    return 0;
}
