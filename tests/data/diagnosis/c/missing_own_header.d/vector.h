struct vector {
    int x, y;
};
