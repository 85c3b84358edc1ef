#define _GNU_SOURCE
#include "fiber.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

struct fiber {
    void *stack_pointer; /* x86-64: address of the saved registers */
    void *mapping;
    size_t mapping_bytes;
    void (*entry)(void *);
    void *argument;
#if !defined(__x86_64__)
    ucontext_t context;
#endif
};

/* Large, because a frame with a large array may start far below the stack; it costs addresses only. */
#define GUARD_BYTES ((size_t)1 << 20)

static int map_stack(fiber *f, size_t stack_bytes)
{
    f->mapping_bytes = stack_bytes + GUARD_BYTES;
    f->mapping = mmap(NULL, f->mapping_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (f->mapping == MAP_FAILED) {
        f->mapping = NULL;
        return -1;
    }
    madvise(f->mapping, f->mapping_bytes, MADV_NOHUGEPAGE); /* else the first write could take 2 MiB */
    return mprotect(f->mapping, GUARD_BYTES, PROT_NONE);
}

#if defined(__x86_64__)

/* ucontext's swapcontext makes a system call each time (for the signal mask). Thousands of ranks switch some 10^8
 * times. So on x86-64 this code swaps the callee-saved registers of the System V ABI itself: rbx, rbp, r12-r15, and
 * the two floating-point control words. */
void vmpi_switch_stack(void **save_stack_pointer, void *load_stack_pointer);
void vmpi_fiber_start(void);

__asm__(".text\n"
        ".globl vmpi_switch_stack\n"
        ".hidden vmpi_switch_stack\n"
        ".type vmpi_switch_stack,@function\n"
        "vmpi_switch_stack:\n"
        "  pushq %rbp\n"
        "  pushq %rbx\n"
        "  pushq %r12\n"
        "  pushq %r13\n"
        "  pushq %r14\n"
        "  pushq %r15\n"
        "  subq $8, %rsp\n"
        "  stmxcsr (%rsp)\n"
        "  fnstcw 4(%rsp)\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  ldmxcsr (%rsp)\n"
        "  fldcw 4(%rsp)\n"
        "  addq $8, %rsp\n"
        "  popq %r15\n"
        "  popq %r14\n"
        "  popq %r13\n"
        "  popq %r12\n"
        "  popq %rbx\n"
        "  popq %rbp\n"
        "  ret\n"
        ".size vmpi_switch_stack,.-vmpi_switch_stack\n"
        ".globl vmpi_fiber_start\n"
        ".hidden vmpi_fiber_start\n"
        ".type vmpi_fiber_start,@function\n"
        "vmpi_fiber_start:\n" /* first entry: rbx = entry, r12 = argument */
        "  movq %r12, %rdi\n"
        "  callq *%rbx\n"
        "  ud2\n"
        ".size vmpi_fiber_start,.-vmpi_fiber_start\n"
        ".section .note.GNU-stack,\"\",@progbits\n"
        ".text\n");

static void prepare(fiber *f)
{
    uintptr_t top = ((uintptr_t)f->mapping + f->mapping_bytes) & ~(uintptr_t)15;
    /* vmpi_switch_stack pops in this order: control words, r15, r14, r13, r12, rbx, rbp, return address. The stack
     * pointer is 16-byte aligned on entry to vmpi_fiber_start, as its call instruction requires. */
    uint64_t frame[8] = {0};
    uint32_t mxcsr = 0x1f80;
    uint16_t x87 = 0x037f;
    memcpy((char *)&frame[0], &mxcsr, sizeof mxcsr);
    memcpy((char *)&frame[0] + 4, &x87, sizeof x87);
    frame[4] = (uint64_t)(uintptr_t)f->argument;
    frame[5] = (uint64_t)(uintptr_t)f->entry;
    frame[7] = (uint64_t)(uintptr_t)vmpi_fiber_start;
    char *where = (char *)(top - 64);
    memcpy(where, frame, sizeof frame);
    f->stack_pointer = where;
}

void fiber_switch(fiber *from, fiber *to)
{
    vmpi_switch_stack(&from->stack_pointer, to->stack_pointer);
}

#else

static void start(unsigned high, unsigned low)
{
    fiber *f = (fiber *)(uintptr_t)(((uint64_t)high << 32) | low);
    f->entry(f->argument);
    abort();
}

static void prepare(fiber *f)
{
    uint64_t self = (uint64_t)(uintptr_t)f;
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = f->mapping;
    f->context.uc_stack.ss_size = f->mapping_bytes;
    f->context.uc_link = NULL;
    makecontext(&f->context, (void (*)(void))start, 2, (unsigned)(self >> 32), (unsigned)self);
}

void fiber_switch(fiber *from, fiber *to)
{
    swapcontext(&from->context, &to->context);
}

#endif

fiber *fiber_create(size_t stack_bytes, void (*entry)(void *), void *argument)
{
    fiber *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->entry = entry;
    f->argument = argument;
    if (map_stack(f, stack_bytes) != 0) {
        fiber_destroy(f);
        return NULL;
    }
    prepare(f);
    return f;
}

fiber *fiber_of_thread(void)
{
    return calloc(1, sizeof(fiber));
}

int fiber_overflows(const fiber *f, const void *address)
{
    const char *guard = f->mapping;
    return guard && (const char *)address >= guard && (const char *)address < guard + GUARD_BYTES;
}

void fiber_destroy(fiber *f)
{
    if (f && f->mapping)
        munmap(f->mapping, f->mapping_bytes);
    free(f);
}
