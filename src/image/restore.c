/* Nothing here may be outside its section: no library, no constant, no checked stack. While the code
 * runs, it is the only thing that is mapped. */
#include "image/restore.h"

#include <string.h>
#include <sys/syscall.h>

#define IN_SECTION                                                                      \
    [[gnu::section("image_restore"), gnu::noinline, gnu::used, gnu::no_stack_protector, \
      gnu::no_sanitize_address, gnu::no_sanitize_undefined]]

extern const char __start_image_restore[], __stop_image_restore[];

#if defined __x86_64__
#define RAW(result, number, args)                                                                 \
    do {                                                                                          \
        register long r10 __asm__("r10") = (args)[3];                                             \
        register long r8 __asm__("r8") = (args)[4];                                               \
        register long r9 __asm__("r9") = (args)[5];                                               \
        __asm__ volatile("syscall"                                                                \
                         : "=a"(result)                                                           \
                         : "a"(number), "D"((args)[0]), "S"((args)[1]), "d"((args)[2]), "r"(r10), \
                           "r"(r8), "r"(r9)                                                       \
                         : "rcx", "r11", "memory");                                               \
    } while (0)
#elif defined __aarch64__
#define RAW(result, number, args)                                               \
    do {                                                                        \
        register long x8 __asm__("x8") = (number);                              \
        register long x0 __asm__("x0") = (args)[0];                             \
        register long x1 __asm__("x1") = (args)[1];                             \
        register long x2 __asm__("x2") = (args)[2];                             \
        register long x3 __asm__("x3") = (args)[3];                             \
        register long x4 __asm__("x4") = (args)[4];                             \
        register long x5 __asm__("x5") = (args)[5];                             \
        __asm__ volatile("svc 0"                                                \
                         : "+r"(x0)                                             \
                         : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) \
                         : "memory");                                           \
        (result) = x0;                                                          \
    } while (0)
#else
#error "images are written for x86-64 and arm64"
#endif

IN_SECTION _Noreturn static void run_steps(const struct restore_plan *plan)
{
    long got;
    for (uint64_t i = 0; i < plan->n_steps; i++) {
        const struct restore_step *s = &plan->steps[i];
        RAW(got, s->number, s->args);
        if (s->is_checked && got != s->expected) {
            for (;;)
                RAW(got, SYS_exit_group, plan->end.args);
        }
    }
#ifdef __x86_64__
    RAW(got, SYS_arch_prctl, plan->thread.args);
#else
    __asm__ volatile("msr tpidr_el0, %0" ::"r"(plan->thread.args[1]) : "memory");
#endif
    struct image_context *c = plan->context;
    c->cookie = plan->cookie;
    c->area = plan->area;
    c->area_bytes = plan->area_bytes;
    __builtin_longjmp(c->jump, 1);
}

size_t restore_code_bytes(void)
{
    return (uintptr_t)__stop_image_restore - (uintptr_t)__start_image_restore;
}

void restore_copy_code(void *to)
{
    memcpy(to, __start_image_restore, restore_code_bytes());
    __builtin___clear_cache((char *)to, (char *)to + restore_code_bytes());
}

void restore_run(void *code, void *stack_top, const struct restore_plan *plan)
{
    const char *entry = (char *)code + ((const char *)run_steps - __start_image_restore);
#ifdef __x86_64__
    __asm__ volatile("mov %0, %%rsp\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "push $0\n\t"
                     "jmp *%1"
                     :
                     : "r"(stack_top), "r"(entry), "D"(plan)
                     : "memory");
#else
    register const struct restore_plan *first __asm__("x0") = plan;
    __asm__ volatile("mov sp, %0\n\t"
                     "br %1"
                     :
                     : "r"(stack_top), "r"(entry), "r"(first)
                     : "memory");
#endif
    __builtin_unreachable();
}
