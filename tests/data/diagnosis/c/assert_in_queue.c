#include <assert.h>
#include <stdio.h>

#define CAP 4

typedef struct { int data[CAP]; int head, count; } queue;

static void enqueue(queue *q, int v)
{
    assert(q->count < CAP && "queue is full");
    q->data[(q->head + q->count) % CAP] = v;
    q->count++;
}

static int dequeue(queue *q)
{
    assert(q->count > 0);
    int v = q->data[q->head];
    q->head = (q->head + 1) % CAP;
    q->count--;
    return v;
}

int main(void)
{
    queue q = { 0 };
    for (int i = 0; i < 6; i++) {
        enqueue(&q, i);
        if (i == 0)
            printf("%d\n", dequeue(&q));
    }
    return 0;
}
