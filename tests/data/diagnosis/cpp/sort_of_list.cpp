#include <algorithm>
#include <list>

int main() {
    std::list<int> values{3, 1, 2};
    std::sort(values.begin(), values.end());
    return values.front();
}
