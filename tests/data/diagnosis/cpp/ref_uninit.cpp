int main() { int &r; r = 3; }
