int main(void) {
    char *p = NULL;
    return p != 0;
}
