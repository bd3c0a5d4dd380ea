import heapq

heap = [3, 1]
heapq.heapify(heap)
for _ in range(3):
    print(heapq.heappop(heap))
