/* diagnose/gen/tables_gen.c — turns a data file into C tables:   tables_gen INPUT OUTPUT.h
 * Runs on the build machine. README.md describes both kinds of data files: *.rules and *.words. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/gen/gen.h"

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Nothing is written before the whole input is accepted. */
static int write_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "we");
    if (out && fputs(text, out) >= 0 && fclose(out) == 0)
        return EXIT_SUCCESS;
    (void)fprintf(stderr, "%s: cannot be written: %s\n", path, strerror(errno));
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    static struct reader r;
    char *text = NULL;
    size_t size = 0;
    bool rules = argc == 3 && ends_with(argv[1], ".rules");
    if (argc != 3 || (!rules && !ends_with(argv[1], ".words"))) {
        (void)fprintf(stderr, "usage: tables_gen FILE.rules|FILE.words OUTPUT.h\n");
        return EXIT_FAILURE;
    }
    FILE *out = open_memstream(&text, &size);
    if (!out)
        abort();
    reader_open(&r, argv[1]);
    (void)fprintf(out, "#include \"diagnose/core/%s.h\"\n", rules ? "rules" : "grammar");
    (rules ? write_rules : write_words)(&r, out);
    reader_close(&r);
    if (fclose(out) != 0)
        abort();
    int status = write_file(argv[2], text);
    free(text);
    return status;
}
