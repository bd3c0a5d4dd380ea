/* jar/seccomp_gen.c — turns the table of seccomp_policy.c into BPF:   seccomp_gen ARCH OUTPUT.h
 * Runs on the build machine, once. libseccomp gives the number of a call on ARCH. It cannot make
 * the programs: it has one answer for all other cases, and no way to say "this call, with any other
 * argument: ENOTTY".
 *
 * A program refuses other architectures, then does a binary search over call numbers. The leaves
 * are an answer, or the conditions of one call in the order of the table. The cost of a filter is
 * its length (the kernel compiles it) and its depth (the kernel tries every number): a search of
 * 400 instructions takes a fifth of the time of a list.
 *
 * Before a program is written it is compared with a plain reading of the table, for every call
 * number and many arguments: a mistake in this file breaks the build, not a jar. */
#include <errno.h>
#include <inttypes.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jar/seccomp.h"
#include "jar/seccomp_policy.h"

enum { CALLS_MAX = 600, RULES_PER_CALL = 12, FAR = 255 };

static const struct {
    const char *array;
    unsigned in;
    bool denies;               /* a call without a row is allowed; otherwise it answers ENOSYS */
    enum seccomp_profile over; /* an earlier one, which the process has already; 0: none */
} profiles[SECCOMP_PROFILES] = {
    [SECCOMP_JAR] = { "seccomp_filter_jar", SECCOMP_IN_JAR },
    [SECCOMP_NO_SOCKETS] = { "seccomp_filter_no_sockets", SECCOMP_IN_JAR | SECCOMP_IN_NO_SOCKETS },
    [SECCOMP_PROCESS] = { "seccomp_filter_process", SECCOMP_IN_PROCESS },
    [SECCOMP_INIT] = { "seccomp_filter_init", SECCOMP_IN_INIT },
    [SECCOMP_LISTED] = { "seccomp_filter_listed",
                         SECCOMP_IN_JAR | SECCOMP_IN_LISTED | SECCOMP_IN_NO_OWN_CODE },
    [SECCOMP_LISTED_OWN_CODE] = { "seccomp_filter_listed_own_code",
                                  SECCOMP_IN_JAR | SECCOMP_IN_LISTED },
    [SECCOMP_READER] = { "seccomp_filter_reader", SECCOMP_IN_READER },
    [SECCOMP_WARDEN] = { "seccomp_filter_warden", SECCOMP_IN_WARDEN, true },
    [SECCOMP_ZYGOTE] = { "seccomp_filter_zygote", SECCOMP_IN_JAR | SECCOMP_IN_ZYGOTE },
    [SECCOMP_EMBRYO] = { "seccomp_filter_embryo", SECCOMP_IN_JAR, .over = SECCOMP_ZYGOTE },
    [SECCOMP_EMBRYO_NO_SOCKETS] = { "seccomp_filter_embryo_no_sockets",
                                    SECCOMP_IN_JAR | SECCOMP_IN_NO_SOCKETS,
                                    .over = SECCOMP_ZYGOTE },
    [SECCOMP_COMMAND_KEEPER] = { "seccomp_filter_command_keeper",
                                 SECCOMP_IN_KEEPER | SECCOMP_IN_READS_FILES },
    [SECCOMP_CLIENT_KEEPER] = { "seccomp_filter_client_keeper",
                                SECCOMP_IN_KEEPER | SECCOMP_IN_CLIENT },
    [SECCOMP_SERVICE_KEEPER] = { "seccomp_filter_service_keeper",
                                 SECCOMP_IN_KEEPER | SECCOMP_IN_READS_FILES | SECCOMP_IN_SERVICE },
    [SECCOMP_PORTER] = { "seccomp_filter_porter", SECCOMP_IN_KEEPER | SECCOMP_IN_PORTER },
    [SECCOMP_INJECTOR_PARENT] = { "seccomp_filter_injector_parent",
                                  SECCOMP_IN_KEEPER | SECCOMP_IN_INJECTOR },
    [SECCOMP_INJECTOR] = { "seccomp_filter_injector", SECCOMP_IN_KEEPER },
};

/* The rows that name a call, in their order. None: the answer of the profile. */
struct call {
    char name[40];
    const struct seccomp_rule *rules[RULES_PER_CALL];
    size_t count;
};

struct policy {
    uint32_t arch; /* AUDIT_ARCH_… */
    int otherwise; /* the answer to a call without a row */
    struct call calls[CALLS_MAX];
};

struct code {
    struct sock_filter ops[BPF_MAXINSNS];
    size_t len;
};

[[gnu::noreturn, gnu::format(printf, 1, 2)]]
static void die(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "seccomp_gen: ");
    vfprintf(stderr, fmt, args);
    fprintf(stderr, "\n");
    va_end(args);
    exit(1);
}

static bool is_conditional(const struct seccomp_rule *rule)
{
    return rule->when[0].count > 0;
}

static uint32_t bpf_answer(int answer)
{
    if (answer == SECCOMP_ALLOW)
        return SECCOMP_RET_ALLOW;
    return SECCOMP_RET_ERRNO | (uint32_t)answer;
}

/* ---- from the table to calls
 * --------------------------------------------------------------------- */

/* The number of "name" or "name=NUMBER"; -1 for an old call that ARCH never had. Cuts the number
 * off. */
static int resolve(char *name, unsigned in, uint32_t arch)
{
    char *given = strchr(name, '=');
    if (given)
        *given++ = '\0';
    int number = seccomp_syscall_resolve_name_arch(arch, name);
    if (given) {
        int fixed = (int)strtol(given, NULL, 10);
        if (number >= 0 && number != fixed)
            die("%s is %d here, the table says %d", name, number, fixed);
        number = fixed;
    }
    if (number < 0 && (in & SECCOMP_ONLY_X86) && arch != SCMP_ARCH_X86_64)
        return -1;
    if (number < 0)
        die("%s: libseccomp does not know this call; give its number, or mark the row X86", name);
    if (number >= CALLS_MAX)
        die("%s: number %d is past the table of %d", name, number, CALLS_MAX);
    return number;
}

static void add_rule(struct call *call, const struct seccomp_rule *rule, const char *name)
{
    if (call->count > 0 && !is_conditional(call->rules[call->count - 1]))
        die("%s: a row after one without condition is never read (%s)", name, rule->why);
    if (call->count == RULES_PER_CALL)
        die("%s: more than %d rows", name, RULES_PER_CALL);
    call->rules[call->count++] = rule;
    (void)snprintf(call->name, sizeof(call->name), "%s", name);
}

static void read_table(struct policy *policy, unsigned in)
{
    for (const struct seccomp_rule *r = seccomp_policy; r < seccomp_policy + seccomp_policy_rules;
         r++) {
        if (!(r->in & in))
            continue;
        char names[1024];
        if (snprintf(names, sizeof(names), "%s", r->calls) >= (int)sizeof(names))
            die("too many names in one row: %s", r->why);
        char *rest = names, *name;
        while ((name = strsep(&rest, " ")) != NULL) {
            int number = resolve(name, r->in, policy->arch);
            if (number >= 0)
                add_rule(&policy->calls[number], r, name);
        }
    }
    for (int n = 0; n < CALLS_MAX; n++) {
        const struct call *call = &policy->calls[n];
        if (call->count > 0 && is_conditional(call->rules[call->count - 1]))
            die("%s: the last row must have no condition", call->name);
    }
}

static bool has_same_rules(const struct call *a, const struct call *b)
{
    for (size_t i = 0; i < a->count && a->count == b->count; i++)
        if (a->rules[i] != b->rules[i])
            return false;
    return a->count == b->count;
}

/* The rows of `policy` that a process needs when `had` decides already: of the answers of two
 * filters, the kernel takes the one that refuses, and of two errnos the newer one. */
static struct policy *rest_of(const struct policy *policy, const struct policy *had)
{
    static const struct seccomp_rule left = { .answer = SECCOMP_ALLOW },
                                     unlisted = { .answer = ENOSYS };
    static struct policy rest;
    rest = *policy;
    for (int n = 0; n < CALLS_MAX; n++) {
        struct call *call = &rest.calls[n];
        bool is_same = has_same_rules(call, &had->calls[n]);
        if (is_same || call->count == 0) {
            call->count = 1;
            call->rules[0] = is_same ? &left : &unlisted;
        }
    }
    return &rest;
}

/* ---- from calls to BPF
 * ---------------------------------------------------------------------------- Programs are made
 * from their end: jumps only go forward, so the target of a jump exists already. */

/* The target of a jump: an answer, if one is in reach, or the instruction that was made as number
 * `at`. */
struct label {
    bool is_answer;
    uint32_t answer;
    size_t at;
};

static struct label answer_label(int answer)
{
    return (struct label){ .is_answer = true, .answer = bpf_answer(answer) };
}

static struct label add(struct code *code, uint16_t op, size_t jt, size_t jf, uint32_t k)
{
    if (code->len == BPF_MAXINSNS)
        die("more than %d instructions", BPF_MAXINSNS);
    if (jt > UINT8_MAX || jf > UINT8_MAX)
        die("a jump over %zu instructions", jt > jf ? jt : jf);
    code->len++;
    code->ops[BPF_MAXINSNS - code->len] = (struct sock_filter){ op, (uint8_t)jt, (uint8_t)jf, k };
    return (struct label){ .at = code->len };
}

/* Makes sure that a jump after `more` other instructions reaches the label; returns the target. */
static struct label within_reach(struct code *code, struct label to, size_t more)
{
    if (!to.is_answer) {
        size_t over = code->len - to.at;
        return over + more <= FAR ? to : add(code, BPF_JMP | BPF_JA, 0, 0, (uint32_t)over);
    }
    for (size_t over = 0; over + more <= FAR && over < code->len; over++) {
        const struct sock_filter *op = &code->ops[BPF_MAXINSNS - code->len + over];
        if (op->code == (BPF_RET | BPF_K) && op->k == to.answer)
            return (struct label){ .at = code->len - over };
    }
    return add(code, BPF_RET | BPF_K, 0, 0, to.answer);
}

static struct label jump(struct code *code, uint16_t op, uint32_t k, struct label yes,
                         struct label no)
{
    yes = within_reach(code, yes, 1); /* only one, because the next line may add an instruction */
    no = within_reach(code, no, 0);
    return add(code, BPF_JMP | op | BPF_K, code->len - yes.at, code->len - no.at, k);
}

static struct label load(struct code *code, size_t offset)
{
    return add(code, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

static struct label add_condition(struct code *code, const struct seccomp_condition *c,
                                  struct label yes, struct label no)
{
    for (size_t i = c->count; i-- > 0;)
        no = jump(code, BPF_JEQ, c->values[i], yes, no);
    if (c->mask != UINT32_MAX)
        add(code, BPF_ALU | BPF_AND | BPF_K, 0, 0, c->mask);
    /* x86-64 and arm64 are little-endian: the low half comes first. */
    return load(code, offsetof(struct seccomp_data, args) + (c->arg & 7) * sizeof(uint64_t) +
                          (c->arg & SECCOMP_HIGH ? sizeof(uint32_t) : 0));
}

static struct label add_call(struct code *code, const struct call *call, int otherwise)
{
    struct label next = answer_label(otherwise);
    for (size_t r = call->count; r-- > 0;) {
        struct label yes = answer_label(call->rules[r]->answer);
        for (size_t c = SECCOMP_CONDITIONS; c-- > 0;)
            if (call->rules[r]->when[c].count > 0)
                yes = add_condition(code, &call->rules[r]->when[c], yes, next);
        next = yes;
    }
    return next;
}

/* Neighbouring numbers with the same answer. */
struct span {
    uint32_t first;
    const struct call *call;
    int otherwise;
};

static struct label add_search(struct code *code, const struct span *spans, size_t count)
{
    if (count == 1)
        return add_call(code, spans->call, spans->otherwise);
    size_t half = count / 2;
    struct label above = add_search(code, spans + half, count - half);
    struct label below = add_search(code, spans, half);
    return jump(code, BPF_JGE, spans[half].first, above, below);
}

static bool is_plain(const struct span *s)
{
    return s->call->count == 0 || !is_conditional(s->call->rules[0]);
}

static int plain_answer(const struct span *s)
{
    return s->call->count > 0 ? s->call->rules[0]->answer : s->otherwise;
}

static bool same_answer(const struct span *a, const struct span *b)
{
    return is_plain(a) && is_plain(b) && plain_answer(a) == plain_answer(b);
}

static void compile(const struct policy *policy, struct code *code)
{
    static const struct call unlisted;
    struct span spans[CALLS_MAX + 1];
    size_t count = 0;
    for (uint32_t n = 0; n <= CALLS_MAX; n++) { /* the last span has no end: x32 is in it */
        struct span s = n < CALLS_MAX ? (struct span){ n, &policy->calls[n], policy->otherwise }
                                      : (struct span){ n, &unlisted, ENOSYS };
        if (count == 0 || !same_answer(&spans[count - 1], &s))
            spans[count++] = s;
    }
    code->len = 0;
    add_search(code, spans, count);
    load(code, offsetof(struct seccomp_data, nr));
    add(code, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS);
    add(code, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, policy->arch);
    load(code, offsetof(struct seccomp_data, arch));
    memmove(code->ops, &code->ops[BPF_MAXINSNS - code->len], code->len * sizeof(code->ops[0]));
}

/* ---- the proof
 * -------------------------------------------------------------------------------------- */

struct proof {
    const struct policy *policy;
    const struct code *code, *older;
    const struct policy *tried; /* arguments of its rows are worth trying */
};

static bool holds(const struct seccomp_rule *rule, const struct seccomp_data *data)
{
    for (size_t i = 0; i < SECCOMP_CONDITIONS && rule->when[i].count > 0; i++) {
        const struct seccomp_condition *c = &rule->when[i];
        bool found = false;
        for (size_t v = 0; v < c->count; v++)
            found |= ((uint32_t)(data->args[c->arg & 7] >> (c->arg & SECCOMP_HIGH ? 32 : 0)) &
                      c->mask) == c->values[v];
        if (!found)
            return false;
    }
    return true;
}

/* The answer of the table, read as seccomp_policy.h describes. */
static uint32_t decide(const struct policy *policy, const struct seccomp_data *data)
{
    if (data->arch != policy->arch)
        return SECCOMP_RET_KILL_PROCESS;
    if (data->nr >= 0 && data->nr < CALLS_MAX) {
        const struct call *call = &policy->calls[data->nr];
        for (size_t i = 0; i < call->count; i++)
            if (holds(call->rules[i], data))
                return bpf_answer(call->rules[i]->answer);
        return bpf_answer(policy->otherwise);
    }
    return bpf_answer(ENOSYS);
}

/* The answer of the kernel: runs the program. */
static uint32_t execute(const struct code *code, const struct seccomp_data *data)
{
    uint32_t a = 0;
    for (size_t pc = 0; pc < code->len; pc++) {
        const struct sock_filter *op = &code->ops[pc];
        switch (op->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            memcpy(&a, (const char *)data + op->k, sizeof(a));
            break;
        case BPF_ALU | BPF_AND | BPF_K:
            a &= op->k;
            break;
        case BPF_JMP | BPF_JA:
            pc += op->k;
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
            pc += a == op->k ? op->jt : op->jf;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            pc += a >= op->k ? op->jt : op->jf;
            break;
        case BPF_RET | BPF_K:
            return op->k;
        default:
            die("instruction %zu has the unknown code %#x", pc, op->code);
        }
    }
    die("a program runs past its end");
}

/* The answer of the kernel to two filters; `older` may be NULL. */
static uint32_t execute_both(const struct code *newer, const struct code *older,
                             const struct seccomp_data *data)
{
    uint32_t a = execute(newer, data), b = older ? execute(older, data) : SECCOMP_RET_ALLOW;
    return (int32_t)(b & SECCOMP_RET_ACTION_FULL) < (int32_t)(a & SECCOMP_RET_ACTION_FULL) ? b : a;
}

static void compare(const struct proof *p, const struct seccomp_data *data)
{
    uint32_t want = decide(p->policy, data), got = execute_both(p->code, p->older, data);
    if (want != got)
        die("call %d, arguments %#" PRIx64 " %#" PRIx64 " %#" PRIx64 " %#" PRIx64
            ": the table says %#x, the program %#x",
            data->nr, (uint64_t)data->args[0], (uint64_t)data->args[1], (uint64_t)data->args[2],
            (uint64_t)data->args[3], want, got);
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 24;
}

/* An argument to try: a value of the table, one near it, one with its high half set, or a random
 * one. */
static uint64_t worthwhile(const struct call *call, unsigned arg, uint64_t *state)
{
    uint64_t pick = next_random(state), value = next_random(state);
    const struct seccomp_rule *rule = call->rules[next_random(state) % call->count];
    for (size_t i = 0; i < SECCOMP_CONDITIONS && rule->when[i].count > 0; i++)
        if ((rule->when[i].arg & 7) == arg)
            value = rule->when[i].values[next_random(state) % rule->when[i].count];
    if (pick & 1)
        value ^= (pick & 2) ? UINT64_C(1) << (next_random(state) % 32) : next_random(state) << 32;
    return value;
}

static void prove(const struct proof *p)
{
    static const uint32_t other_archs[] = { 0, AUDIT_ARCH_I386, AUDIT_ARCH_ARM,
                                            AUDIT_ARCH_PPC64LE };
    uint64_t state = 1;
    for (int n = -2; n < 2 * CALLS_MAX; n++) {
        struct seccomp_data data = { .nr = n, .arch = p->policy->arch };
        compare(p, &data);
        data.nr = n | 0x40000000; /* x32 */
        compare(p, &data);
        data.nr = n;
        for (size_t i = 0; i < sizeof(other_archs) / sizeof(other_archs[0]); i++) {
            data.arch = other_archs[i];
            compare(p, &data);
        }
        if (n < 0 || n >= CALLS_MAX || p->tried->calls[n].count == 0)
            continue;
        data.arch = p->policy->arch;
        for (int round = 0; round < 3000; round++) {
            for (unsigned arg = 0; arg < 6; arg++)
                data.args[arg] = worthwhile(&p->tried->calls[n], arg, &state);
            compare(p, &data);
        }
    }
}

/* ---- the header
 * ------------------------------------------------------------------------------------- */

static void write_array(FILE *out, const char *array, const struct code *code)
{
    fprintf(out, "\nstatic const struct sock_filter %s[%zu] = {\n", array, code->len);
    for (size_t i = 0; i < code->len; i++)
        fprintf(out, "    { 0x%02x, %u, %u, 0x%08x },\n", code->ops[i].code, code->ops[i].jt,
                code->ops[i].jf, code->ops[i].k);
    fprintf(out, "};\n");
}

static void write_header(const char *path, const char *arch, const struct code *codes)
{
    FILE *out = fopen(path, "we");
    if (!out)
        die("%s cannot be written", path);
    fprintf(out, "/* Made from seccomp_policy.c by seccomp_gen, for %s. Do not edit. */\n", arch);
    fprintf(out, "#pragma once\n\n#include <linux/filter.h>\n");
    for (size_t p = 0; p < SECCOMP_PROFILES; p++)
        write_array(out, profiles[p].array, &codes[p]);
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) {
        (void)remove(path);
        die("%s cannot be written", path);
    }
}

int main(int argc, char **argv)
{
    static struct code codes[SECCOMP_PROFILES];
    if (argc != 3)
        die("usage: seccomp_gen ARCH OUTPUT.h");
    uint32_t arch = seccomp_arch_resolve_name(argv[1]); /* the same number as AUDIT_ARCH_… */
    if (arch != SCMP_ARCH_X86_64 && arch != SCMP_ARCH_AARCH64)
        die("%s: the table is written for x86_64 and aarch64", argv[1]);
    for (size_t p = 0; p < SECCOMP_PROFILES; p++) {
        static struct policy policies[SECCOMP_PROFILES];
        enum seccomp_profile over = profiles[p].over;
        policies[p] = (struct policy){ .arch = arch,
                                       .otherwise = profiles[p].denies ? SECCOMP_ALLOW : ENOSYS };
        read_table(&policies[p], profiles[p].in);
        compile(over ? rest_of(&policies[p], &policies[over]) : &policies[p], &codes[p]);
        prove(&(struct proof){ .policy = &policies[p],
                               .code = &codes[p],
                               .older = over ? &codes[over] : NULL,
                               .tried = &policies[over ? over : p] });
    }
    write_header(argv[2], argv[1], codes);
    return 0;
}
