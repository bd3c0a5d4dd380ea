#include <thread>
#include <vector>
int main() { std::vector<std::thread> v; std::thread t([]{}); v.push_back(t); t.join(); }
