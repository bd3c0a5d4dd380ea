/* Errors of a network that a run has not, or not for this host, in the words of each language. */
#include "base/array.h"
#include "check.h"
#include "diagnose/core/diagnose.h"

static struct diagnosis d; /* large; of the test that runs */

static bool explain(const char *grammar, const char *text, struct diagnose_input in)
{
    struct diagnoser *g = NULL;
    struct err e;
    in.grammar = in.language = grammar;
    in.text = text;
    in.len = strlen(text);
    in.sealed = true;
    in.verdict = VERDICT_RUNTIME_ERROR;
    if (!CHECK(diagnoser_new(&g, &e) == 0))
        return false;
    bool found = diagnose(g, &in, &d);
    diagnoser_free(g);
    return found;
}

static const char *best(void)
{
    return d.n_suggestions ? d.suggestions[0].text : "";
}

static const struct {
    const char *grammar, *text;
} errors[] = {
    { "python",
      "Traceback (most recent call last):\n  File \"/sandbox/main.py\", line 2, in <module>\n"
      "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='api.foo.com', port=443): Max "
      "retries exceeded with url: / (Caused by NameResolutionError(\"<urllib3>: Failed to resolve "
      "'api.foo.com' ([Errno -2] Name or service not known)\"))\n" },
    { "node",
      "node:internal/process/promises:288\n\nTypeError: fetch failed\n    at main.js:1:1 {\n"
      "  cause: Error: getaddrinfo ENOTFOUND api.foo.com\n}\n" },
    { "shell", "curl: (6) Could not resolve host: api.foo.com\n" },
    { "shell", "wget: unable to resolve host address 'api.foo.com'\n" },
    { "shell", "fatal: unable to access 'https://api.foo.com/x.git/': Could not resolve host: "
               "api.foo.com\n" },
    { "shell", "ssh: Could not resolve hostname api.foo.com: Name or service not known\n" },
    { "go", "panic: Get \"https://api.foo.com/\": dial tcp: lookup api.foo.com on 127.0.0.1:53: no "
            "such host\n\ngoroutine 1 [running]:\nmain.main()\n\t/sandbox/main.go:9 +0x1d\n" },
    { "java", "Exception in thread \"main\" java.net.UnknownHostException: api.foo.com\n\tat "
              "java.base/java.net.Socket.connect(Socket.java:633)\n\tat Main.main(Main.java:5)\n" },
};

static void test_a_run_without_a_network_is_told_the_option_with_its_host(void)
{
    for (size_t i = 0; i < ARRAY_LEN(errors); i++)
        if (!CHECK(explain(errors[i].grammar, errors[i].text, (struct diagnose_input){ 0 }) &&
                   d.category == CATEGORY_NETWORK && d.sandbox &&
                   strstr(best(), "--allow-net api.foo.com ")))
            printf("  %s: %s\n", errors[i].text, best());
}

static void test_the_log_of_the_network_is_believed_before_the_output(void)
{
    static const char advice[] = "'api.foo.com:443' is not in this run's network list.";
    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        CHECK(explain(errors[i].grammar, errors[i].text,
                      (struct diagnose_input){ .has_network = true, .network_advice = advice }));
        CHECK_STR(best(), advice);
    }
    CHECK(explain("python",
                  "Traceback (most recent call last):\n  File \"/sandbox/main.py\", line 2, in "
                  "<module>\nConnectionResetError: [Errno 104] Connection reset by peer\n",
                  (struct diagnose_input){ .has_network = true, .network_advice = advice }));
    CHECK_STR(best(), advice);
}

static void test_a_host_that_is_not_a_plain_name_is_not_in_a_command(void)
{
    static const char *const texts[] = {
        "curl: (6) Could not resolve host: $(reboot).foo.com\n",
        "curl: (6) Could not resolve host: ;reboot\n",
        "curl: (6) Could not resolve host: -o.foo.com\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        CHECK(explain("shell", texts[i], (struct diagnose_input){ 0 }));
        CHECK(strstr(best(), "--allow-net HOST ") && !strstr(best(), "reboot"));
    }
}

#define LIST "pypi.org:443, *.example.org:80"
#define NOT_LISTED                                                                               \
    "'api.foo.com:81' is not in this run's network list; allowed are " LIST ". Add --allow-net " \
    "api.foo.com:81 (\"network\": {\"allow\": [\"api.foo.com:81\"]} in a request)."

/* The kernel of the jar has refused it, and the log does not know it. */
static void test_a_port_that_is_not_listed_is_told_by_name(void)
{
    static const struct {
        const char *grammar, *text;
    } rows[] = {
        { "shell", "curl: (7) Failed to connect to api.foo.com port 81: Connection refused\n" },
        { "shell", "ssh: connect to host api.foo.com port 81: Connection refused\n" },
        { "shell", "psql: error: connection to server at \"api.foo.com\" (198.18.63.240), port 81 "
                   "failed: Connection refused\n\tIs the server running on that host?\n" },
        { "python",
          "Traceback (most recent call last):\n  File \"/sandbox/main.py\", line 2, in <module>\n"
          "requests.exceptions.ConnectionError: HTTPConnectionPool(host='api.foo.com', port=81): "
          "Max "
          "retries exceeded with url: / (Caused by NewConnectionError('Failed to establish a new "
          "connection: [Errno 111] Connection refused'))\n" },
        { "go",
          "panic: Get \"http://api.foo.com:81/\": dial tcp 198.18.63.240:81: connect: connection "
          "refused\n\ngoroutine 1 [running]:\nmain.main()\n\t/sandbox/main.go:9 +0x1d\n" },
        { "ruby", "/usr/lib/ruby/3.1.0/socket.rb:1214:in `__connect_nonblock': Failed to open TCP "
                  "connection "
                  "to api.foo.com:81 (Connection refused - connect(2) for 198.18.63.240:81) "
                  "(Errno::ECONNREFUSED)\n\tfrom main.rb:1:in `<main>'\n" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CHECK(explain(rows[i].grammar, rows[i].text,
                      (struct diagnose_input){ .has_network = true, .network_list = LIST }));
        if (!CHECK_STR(best(), NOT_LISTED))
            printf("  %s\n", rows[i].text);
        CHECK(d.category == CATEGORY_NETWORK && d.sandbox);
    }
}

/* Words of the output that are no error, and addresses that stand for the jar itself, name no host. */
static void test_a_refused_connection_without_a_host_has_both_reasons(void)
{
    static const struct {
        const char *grammar, *text;
    } rows[] = {
        { "python", "read http://api.foo.com:81/ well\nTraceback (most recent call last):\n  File "
                    "\"/sandbox/main.py\", line 2, in <module>\nConnectionRefusedError: [Errno "
                    "111] Connection "
                    "refused\n" },
        { "shell", "curl: (7) Failed to connect to 127.0.0.1 port 81: Connection refused\n" },
        { "shell", "nc: connect to 198.18.63.240 port 81 (tcp) failed: Connection refused\n" },
        { "shell",
          "curl: (7) Failed to connect to $(reboot).foo.com port 81: Connection refused\n" },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CHECK(explain(rows[i].grammar, rows[i].text,
                      (struct diagnose_input){ .has_network = true, .network_list = LIST }));
        CHECK(strstr(best(), "allowed are " LIST) && strstr(best(), "the loopback"));
        CHECK(!strstr(best(), "foo.com") && !strstr(best(), "reboot"));
        CHECK(explain(rows[i].grammar, rows[i].text, (struct diagnose_input){ 0 }));
        CHECK(strstr(best(), "Nothing listens there") == best());
    }
}

static const struct check_test tests[] = {
    TEST(test_a_run_without_a_network_is_told_the_option_with_its_host),
    TEST(test_a_port_that_is_not_listed_is_told_by_name),
    TEST(test_a_refused_connection_without_a_host_has_both_reasons),
    TEST(test_the_log_of_the_network_is_believed_before_the_output),
    TEST(test_a_host_that_is_not_a_plain_name_is_not_in_a_command),
};
CHECK_MAIN(tests)
