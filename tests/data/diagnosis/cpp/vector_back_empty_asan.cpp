#include <iostream>
#include <vector>

int evaluate(const std::vector<int> &tokens) {
    std::vector<int> stack;
    for (int t : tokens) {
        if (t >= 0) {
            stack.push_back(t);
        } else {
            int b = stack.back();
            stack.pop_back();
            int a = stack.back();
            stack.pop_back();
            stack.push_back(a + b);
        }
    }
    return stack.back();
}

int main() {
    std::cout << evaluate({1, 2, -1}) << "\n";
    std::cout << evaluate({1, -1}) << "\n";
}
