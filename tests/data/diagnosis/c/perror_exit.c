#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    FILE *f = fopen("numbers.txt", "r");
    if (f == NULL) {
        perror("numbers.txt");
        return EXIT_FAILURE;
    }
    int n;
    while (fscanf(f, "%d", &n) == 1)
        printf("%d\n", n * 2);
    fclose(f);
    return 0;
}
