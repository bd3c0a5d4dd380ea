#include <iostream>
#include <string>
#include <thread>
#include <vector>

int main() {
    std::vector<std::string> inputs = {"10", "abc"};
    std::vector<int> out(inputs.size());
    std::vector<std::thread> pool;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        pool.emplace_back([&, i] { out[i] = std::stoi(inputs[i]); });
    for (auto &t : pool) t.join();
    std::cout << out[0] << "\n";
}
