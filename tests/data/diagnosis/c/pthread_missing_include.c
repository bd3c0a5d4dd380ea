#include <stdio.h>
#include <stdlib.h>

static int counter;

static void *work(void *arg)
{
    for (int i = 0; i < 1000; i++)
        counter++;
    return arg;
}

int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", counter);
    return 0;
}
