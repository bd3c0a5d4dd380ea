struct Counter {
    int n = 0;
    int next() const {
        return ++n;
    }
};

int main() {
    return Counter().next();
}
