#include <iostream>
#include <thread>
#include <vector>

void worker(int id) {
    long sum = 0;
    for (int i = 0; i < 1000; ++i) sum += i * id;
    if (sum < 0) std::cout << "negative\n";
}

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back(worker, i);
    std::cout << "started" << std::endl;
    return 0;
}
