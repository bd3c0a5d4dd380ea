enum class Color { Red, Green };
int main() { int c = Color::Red; return c; }
