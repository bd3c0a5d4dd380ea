#include <stdio.h>
int main(void) {
    char *cmd = "go";
    switch (cmd) {
    case "go": puts("x"); break;
    }
    return 0;
}
