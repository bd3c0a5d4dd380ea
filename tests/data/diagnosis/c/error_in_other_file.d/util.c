int sum(const int *values, int n) {
    int total = 0;
    for (int i = 0; i < n; i++) totl += values[i];
    return total;
}
