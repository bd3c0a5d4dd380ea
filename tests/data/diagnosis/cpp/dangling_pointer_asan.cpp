#include <iostream>
#include <string>

struct Node {
    std::string label;
    Node *next = nullptr;
};

void clear(Node *head) {
    for (Node *n = head; n != nullptr; n = n->next)
        delete n;
}

int main() {
    Node *a = new Node{"a", nullptr};
    Node *b = new Node{"b", a};
    clear(b);
    std::cout << "cleared\n";
}
