int main() { int x = 1; switch (x) { case 1: int y = 2; break; case 2: return 3; } return 0; }
