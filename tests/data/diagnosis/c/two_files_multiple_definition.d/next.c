int counter = 1;

int next(void) {
    return counter++;
}
