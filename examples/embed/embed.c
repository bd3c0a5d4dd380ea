/* Runs a Python program in a jar, with its output as it comes, and then a session.
 *     embed [FILE]           in a private service of this process
 *     embed [FILE] ADDRESS   at a service: the path of its unix socket, or http://HOST:PORT
 * $BELLJAR_KEY is the API key. $BELLJAR is the program belljar, if it is not installed. */
#include <stdio.h>
#include <stdlib.h>

#include <belljar.h>

static void die(const struct belljar_error *error)
{
    fprintf(stderr, "embed: %s\n", belljar_error_message(error));
    exit(1);
}

static int on_output(void *user, int stream, const void *bytes, size_t len)
{
    (void)user;
    fwrite(bytes, 1, len, stream == BELLJAR_STDERR ? stderr : stdout);
    return 0; /* anything else would cancel the run */
}

static char *read_file(const char *path)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(1);
    }
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void run(struct belljar *jars, const char *code)
{
    struct belljar_limits limits = { .size = sizeof limits,
                                     .wall_ms = 5000,
                                     .memory_bytes = 64 << 20 };
    struct belljar_request request = {
        .size = sizeof request, .language = "python", .code = code, .limits = &limits
    };
    struct belljar_diagnosis why = { .size = sizeof why };
    struct belljar_error *error = NULL;
    struct belljar_run *run;
    struct belljar_result *result;
    if (belljar_run_start(jars, &request, &run, &error))
        die(error);
    belljar_run_on_output(run, on_output, NULL);
    if (belljar_run_wait(run, -1, &result, &error))
        die(error);
    printf("verdict: %s\n", belljar_result_verdict(result));
    if (belljar_result_diagnosis(result, &why))
        printf("line %d: %s: %s\n%s\n", why.line, why.type, why.message, why.hint ? why.hint : "");
    belljar_result_free(result);
    belljar_run_free(run);
}

static void talk(struct belljar *jars)
{
    static const char *const cells[] = { "ages = [31, 45, 27]", "sorted(ages)[1]" };
    struct belljar_session_options options = { .size = sizeof options, .language = "python" };
    struct belljar_error *error = NULL;
    struct belljar_session *session;
    if (belljar_session_open(jars, &options, &session, &error))
        die(error);
    for (int i = 0; i < 2; i++) {
        struct belljar_result *result;
        if (belljar_session_exec(session, cells[i], &result, &error))
            die(error);
        const char *value = belljar_result_value(result, "text/plain");
        printf("In:  %s\n", cells[i]);
        if (value)
            printf("Out: %s\n", value);
        belljar_result_free(result);
    }
    belljar_session_close(session, NULL);
}

int main(int argc, char **argv)
{
    struct belljar_options options = { .size = sizeof options,
                                       .service = argc > 2 ? argv[2] : NULL,
                                       .key = getenv("BELLJAR_KEY"),
                                       .program = getenv("BELLJAR") };
    struct belljar_error *error = NULL;
    struct belljar *jars;
    if (belljar_open(&options, &jars, &error))
        die(error);
    run(jars, argc > 1 ? read_file(argv[1]) : "print('hello')\nprint(1 / 0)\n");
    talk(jars);
    belljar_close(jars);
    return 0;
}
