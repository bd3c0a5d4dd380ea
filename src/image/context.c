#include "image/context.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "image/maps.h"

enum { RSEQ_BYTES = 32, RSEQ_LEAVE = 1, RANDOM_BYTES = 16 };
#ifdef __aarch64__
#define RSEQ_SIGNATURE 0xd428bc00u
#else
#define RSEQ_SIGNATURE 0x53053053u
#endif
#define BIT_OF(number) (UINT64_C(1) << ((number)-1))
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

static bool has_rseq(void)
{
    return &__rseq_offset && &__rseq_size && __rseq_size > 0;
}

static long set_rseq(int flags)
{
    return syscall(SYS_rseq, (char *)__builtin_thread_pointer() + __rseq_offset, RSEQ_BYTES, flags,
                   RSEQ_SIGNATURE);
}

/* The C library's record of the thread has its number, then 16 bytes further the list of robust
 * locks: it is the list if it is empty or points nowhere else than its own offset says. */
static void find_thread_record(struct image_context *c)
{
    enum { LOOKED_AT = 512, LIST = 4 };
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): a thread is its record */
    int *record = (int *)pthread_self(), id = (int)gettid();
    c->thread_id = NULL;
    c->robust = NULL;
    for (int i = 0; i < LOOKED_AT && !c->thread_id; i++)
        if (record[i] == id)
            c->thread_id = &record[i];
    if (!c->thread_id)
        return;
    struct robust_list_head *list = (struct robust_list_head *)(c->thread_id + LIST);
    if (list->list.next == &list->list)
        c->robust = list;
}

void image_context_save(struct image_context *c)
{
    for (int i = 0; i < IMAGE_SIGNALS; i++)
        (void)syscall(SYS_rt_sigaction, i + 1, NULL, &c->actions[i], sizeof c->mask);
    (void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &c->mask, sizeof c->mask);
    (void)sigaltstack(NULL, &c->alternate);
    (void)fegetenv(&c->floats);
    /* Interrupts (SIGINT, SIGURG) were meant for the original, and children are not carried. */
    (void)syscall(SYS_rt_sigpending, &c->pending, sizeof c->pending);
    c->pending &= ~(BIT_OF(SIGINT) | BIT_OF(SIGURG) | BIT_OF(SIGCHLD));
    for (int i = 0; i < IMAGE_TIMERS; i++)
        (void)getitimer((__itimer_which_t)i, &c->timers[i]);
    c->mask_of_files = umask(0);
    (void)umask(c->mask_of_files);
    find_thread_record(c);
}

/* The end of the heap is the kernel's number, which no program can move to another place. If it lies
 * beyond the image's, the C library would take a refusal for a success: it has to go on from there.
 * If it lies before, the kernel refuses, and the library takes other memory. */
static void renew_heap_end(void)
{
    void *end = (void *)syscall(SYS_brk, 0); /* NOLINT(performance-no-int-to-ptr) */
    if ((uintptr_t)end > (uintptr_t)sbrk(0))
        (void)!brk(end);
}

void image_context_restore(struct image_context *c)
{
    (void)munmap(c->area, c->area_bytes);
    renew_heap_end();
    if (c->thread_id) {
        *c->thread_id = (int)gettid();
        (void)syscall(SYS_set_tid_address, c->thread_id);
    }
    (void)syscall(SYS_set_robust_list, c->robust, sizeof(struct robust_list_head));
    if (has_rseq())
        (void)set_rseq(0);
    /* Sixteen random bytes; some programs and libraries make their seeds from them. */
    void *bytes = (void *)getauxval(AT_RANDOM); /* NOLINT(performance-no-int-to-ptr) */
    if (bytes && getrandom(bytes, RANDOM_BYTES, 0) != RANDOM_BYTES)
        _exit(127); /* no process is better than one that shares its secrets */
    for (int i = 0; i < IMAGE_SIGNALS; i++)
        (void)syscall(SYS_rt_sigaction, i + 1, &c->actions[i], NULL, sizeof c->mask);
    c->alternate.ss_flags &= ~SS_ONSTACK;
    (void)sigaltstack(&c->alternate, NULL);
    (void)umask(c->mask_of_files);
    (void)fesetenv(&c->floats);
    /* Every signal is blocked here. */
    for (int i = 0; i < IMAGE_SIGNALS; i++)
        if (c->pending >> i & 1)
            (void)syscall(SYS_tgkill, getpid(), gettid(), i + 1);
    for (int i = 0; i < IMAGE_TIMERS; i++)
        (void)setitimer((__itimer_which_t)i, &c->timers[i], NULL);
    (void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &c->mask, NULL, sizeof c->mask);
}

int image_context_leave(char why[IMAGE_WHY])
{
    uint64_t all = ~UINT64_C(0), before = 0;
    stack_t none = { .ss_flags = SS_DISABLE };
    (void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    if (has_rseq() && set_rseq(RSEQ_LEAVE) < 0 && errno != ENOSYS) {
        (void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
        return image_refuse(why, "the kernel does not release the thread's record: %s",
                            strerror(errno));
    }
    (void)sigaltstack(&none, NULL);
    (void)syscall(SYS_set_tid_address, NULL);
    (void)syscall(SYS_set_robust_list, NULL, sizeof(struct robust_list_head));
    return 0;
}
