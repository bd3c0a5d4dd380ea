#include "runtime/node/fresh.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>

#include "base/array.h"
#include "runtime/node/node_api.h"

static struct v8 {
    void *(*current)(void);
    void *(*context)(void *isolate);
    void *(*context_of)(void *object);
    void (*scope_enter)(void *scope, void *isolate);
    void (*scope_leave)(void *scope);
    void *(*generator)(void *isolate);
    void (*set_seed)(void *generator, int64_t seed);
    void (*forget_random)(uintptr_t native_context);
} v8;

static const struct {
    const char *name;
    size_t at;
} symbols[] = {
    { "_ZN2v87Isolate13TryGetCurrentEv", offsetof(struct v8, current) },
    { "_ZN2v87Isolate17GetCurrentContextEv", offsetof(struct v8, context) },
    { "_ZN2v86Object18GetCreationContextEv", offsetof(struct v8, context_of) },
    { "_ZN2v811HandleScopeC1EPNS_7IsolateE", offsetof(struct v8, scope_enter) },
    { "_ZN2v811HandleScopeD1Ev", offsetof(struct v8, scope_leave) },
    { "_ZN2v88internal7Isolate23random_number_generatorEv", offsetof(struct v8, generator) },
    { "_ZN2v84base21RandomNumberGenerator7SetSeedEl", offsetof(struct v8, set_seed) },
    { "_ZN2v88internal10MathRandom12ResetContextENS0_7ContextE",
      offsetof(struct v8, forget_random) },
};

/* v8::HandleScope, with room to spare. */
struct scope {
    _Alignas(16) char bytes[64];
};

const char *fresh_find(void)
{
    for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
        void *symbol = dlsym(RTLD_DEFAULT, symbols[i].name);
        if (!symbol)
            return symbols[i].name;
        memcpy((char *)&v8 + symbols[i].at, &symbol, sizeof symbol);
    }
    return RAND_poll ? NULL : "RAND_poll";
}

bool fresh_seed(void)
{
    int64_t seed;
    void *isolate = v8.current();
    struct scope scope;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed || RAND_poll() != 1)
        return false;
    v8.set_seed(v8.generator(isolate), seed);
    v8.scope_enter(&scope, isolate);
    v8.forget_random(*(uintptr_t *)v8.context(isolate));
    v8.scope_leave(&scope);
    return true;
}

/* A new context has a link to the one before it, at a place that depends on the version of V8. */
static size_t find_link(uintptr_t context, uintptr_t before)
{
    enum { SLOTS_MAX = 512, TAG = 1 };
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): a tagged pointer */
    const uintptr_t *slots = (const uintptr_t *)(context - TAG);
    for (size_t i = 1; i < SLOTS_MAX; i++)
        if (slots[i] == before)
            return i * sizeof *slots - TAG;
    return 0;
}

bool fresh_contexts(void *of_last, void *of_one_before, void *undefined)
{
    enum { CONTEXTS_MAX = 100000 };
    struct scope scope;
    v8.scope_enter(&scope, v8.current());
    uintptr_t *last = v8.context_of(of_last), *one_before = v8.context_of(of_one_before);
    size_t link = last && one_before ? find_link(*last, *one_before) : 0;
    uintptr_t at = link ? *last : 0, end = *(uintptr_t *)undefined;
    for (int i = 0; at && at != end && i < CONTEXTS_MAX; i++) {
        v8.forget_random(at);
        at = *(uintptr_t *)(at + link); /* NOLINT(performance-no-int-to-ptr) */
    }
    v8.scope_leave(&scope);
    return at && at == end;
}
