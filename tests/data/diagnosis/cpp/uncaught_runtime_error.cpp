#include <stdexcept>
#include <string>

static int parse(const std::string &text) {
    if (text.empty())
        throw std::runtime_error("empty input");
    return std::stoi(text);
}

int main() {
    return parse("");
}
