struct Point {
    int x;
    int y;
};
