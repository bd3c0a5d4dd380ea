void grow(int &n) { n++; }

int main() {
    grow(5);
}
