#include <cstdio>

int main() {
    std::map<int, int> counts;
    counts[3]++;
    std::printf("%d\n", counts[3]);
}
