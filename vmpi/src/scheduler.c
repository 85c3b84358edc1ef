/* The scheduler: a first-in first-out queue of ready ranks, and the detection of deadlocks. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime.h"
#include "vmpi.h"

/* A rank that polls (MPI_Test, MPI_Iprobe) without success this often rests until a message arrives for it or no other
 * rank can run. Thousands of ranks that poll for the last message would otherwise cost (ranks)^2 switches. */
#define POLLS_BEFORE_REST 4
/* Only unsuccessful polls for this long: a notice says once which ranks poll. It is no error: a rank inside a call
 * that returns may do something else next. */
#define NOTICE_NS ((int64_t)10 * 1000000000)
#define RANKS_NAMED 16

vmpi_rank *vmpi_current;
int vmpi_world_size;

static vmpi_rank *ranks;
static vmpi_rank *ready_first, *ready_last;
static fiber *scheduler;
static int finished, worst_status;
static int program_argc;
static char **program_argv;
static int sleepers, noticed;
static int64_t idle_since_ns; /* when only unsuccessful polls began; 0: there was progress */

static pthread_t thread; /* of all ranks */

/* C++'s exceptions in flight, which its library keeps per thread. */
vmpi_exceptions *__cxa_get_globals(void) __attribute__((weak));

vmpi_rank *vmpi_rank_at(int world)
{
    return ranks ? &ranks[world] : NULL;
}

void *vmpi_alloc(size_t count, size_t bytes)
{
    void *memory = calloc(count ? count : 1, bytes ? bytes : 1);
    if (!memory)
        vmpi_fail("out of memory (%zu x %zu bytes)", count, bytes);
    return memory;
}

void *vmpi_resize(void *old, size_t count, size_t bytes)
{
    void *memory = realloc(old, count * bytes);
    if (!memory)
        vmpi_fail("out of memory (%zu x %zu bytes)", count, bytes);
    return memory;
}

void vmpi_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);
    if (vmpi_current)
        fprintf(stderr, "vmpi: rank %d in %s: ", vmpi_current->world,
                vmpi_current->call ? vmpi_current->call : "no MPI call");
    else
        fprintf(stderr, "vmpi: ");
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    vmpi_stop(70);
}

/* The source line of an address, by addr2line of the binutils, which every C compiler includes; empty without debug
 * information (-g) or without the tool. */
static void find_line(void *where, char *line, int room)
{
    extern char __executable_start; /* from the linker: load address of the program */
    char command[512], program[384];
    line[0] = '\0';
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0 || memchr(program, '\'', (size_t)length))
        return;
    program[length] = '\0';
    uintptr_t start = (uintptr_t)&__executable_start, address = (uintptr_t)where - 1;
    /* Addresses of a position-independent program start at 0; other programs use absolute addresses. */
    snprintf(command, sizeof command, "addr2line -e '%s' 0x%llx 2>/dev/null", program,
             (unsigned long long)(start > 0x1000000 ? address - start : address));
    FILE *output = popen(command, "r");
    if (!output)
        return;
    if (!fgets(line, room, output) || line[0] == '?')
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    pclose(output);
}

void vmpi_unsupported(const char *call, void *where)
{
    char line[384];
    find_line(where, line, sizeof line);
    vmpi_current->call = call;
    if (line[0])
        vmpi_fail("vmpi does not support this call in %s", line);
    vmpi_fail("vmpi does not support this call (compile the program with -g to see its line)");
}

void vmpi_enter(const char *call)
{
    vmpi_current->call = call;
    vmpi_current->detail[0] = '\0';
    if (vmpi_current->depth == 0)
        vmpi_current->object = NULL;
    if (!vmpi_current->initialised)
        vmpi_fail("called before MPI_Init");
    if (vmpi_current->finalised)
        vmpi_fail("called after MPI_Finalize");
    vmpi_trace_entered();
}

static void append(vmpi_rank *rank)
{
    rank->state = RANK_READY;
    rank->next_ready = NULL;
    if (ready_last)
        ready_last->next_ready = rank;
    else
        ready_first = rank;
    ready_last = rank;
}

void vmpi_wake(vmpi_rank *rank)
{
    rank->failed_polls = 0;
    idle_since_ns = 0;
    if (rank->state == RANK_BLOCKED || rank->state == RANK_POLLING)
        append(rank);
}

/* Only the thread of all ranks can continue another rank. */
static int in_other_thread(void)
{
    return !pthread_equal(pthread_self(), thread);
}

static void leave(enum rank_state state)
{
    if (in_other_thread())
        vmpi_fail("the call has to wait, but comes from a thread that the rank has started, which is not supported");
    vmpi_current->state = state;
    fiber_switch(vmpi_current->fiber, scheduler);
}

void vmpi_block(void)
{
    leave(RANK_BLOCKED);
}

void vmpi_poll(void)
{
    if (in_other_thread())
        return;
    if (++vmpi_current->failed_polls < POLLS_BEFORE_REST) {
        append(vmpi_current);
        leave(RANK_READY);
    } else {
        leave(RANK_POLLING);
    }
}

void vmpi_sleep(int64_t ns)
{
    vmpi_current->wake_ns = vmpi_now_ns() + ns;
    sleepers++;
    leave(RANK_SLEEPING);
}

void vmpi_end_rank(int status, const char *how, int destruct)
{
    vmpi_rank *rank = vmpi_current;
    if (rank->initialised && !rank->finalised) {
        fflush(stdout);
        fprintf(stderr, "vmpi: rank %d ended by %s(%d) without MPI_Finalize\n", rank->world, how, status);
        vmpi_stop(status & 255 ? status & 255 : 70);
    }
    if (destruct)
        vmpi_globals_destruct();
    if ((status & 255) > worst_status)
        worst_status = status & 255;
    finished++;
    idle_since_ns = 0;
    leave(RANK_FINISHED);
    abort(); /* a finished rank is never continued */
}

/* Programs permute their argv and cut its texts (strtok), so each rank gets a copy of both, in one piece. */
static char **copy_arguments(void)
{
    size_t pointers = ((size_t)program_argc + 1) * sizeof(char *), bytes = pointers;
    for (int i = 0; i < program_argc; i++)
        bytes += strlen(program_argv[i]) + 1;
    char **argv = vmpi_alloc(1, bytes);
    char *text = (char *)argv + pointers;
    for (int i = 0; i < program_argc; i++) {
        size_t length = strlen(program_argv[i]) + 1;
        argv[i] = memcpy(text, program_argv[i], length);
        text += length;
    }
    return argv;
}

static void rank_entry(void *argument)
{
    (void)argument;
    vmpi_globals_construct();
    int status = vmpi_rank_main(program_argc, copy_arguments());
    vmpi_end_rank(status, "return", 1);
}

static void list_ranks(void)
{
    int named = 0;
    for (int i = 0; i < vmpi_world_size; i++) {
        if (ranks[i].state == RANK_FINISHED)
            continue;
        if (named++ == RANKS_NAMED) {
            fprintf(stderr, "vmpi:   and %d more\n", vmpi_world_size - finished - RANKS_NAMED);
            break;
        }
        fprintf(stderr, "vmpi:   rank %d in %s%s%s\n", i, ranks[i].call, ranks[i].detail[0] ? " " : "",
                ranks[i].detail);
    }
}

static void report_deadlock(void)
{
    fflush(stdout);
    vmpi_current = NULL;
    fprintf(stderr, "vmpi: deadlock: %d of %d ranks wait and none can continue\n", vmpi_world_size - finished,
            vmpi_world_size);
    list_ranks();
    vmpi_stop(71);
}

static void notice_idle(void)
{
    int64_t now = vmpi_now_ns();
    if (idle_since_ns == 0)
        idle_since_ns = now;
    if (noticed || now - idle_since_ns < NOTICE_NS)
        return;
    noticed = 1;
    fprintf(stderr, "vmpi: for %d s ranks have only polled without success; the run goes on\n",
            (int)(NOTICE_NS / 1000000000));
    list_ranks();
}

/* Continues sleepers whose time has come, and returns when the next one's comes. */
static int64_t wake_sleepers(void)
{
    int64_t now = vmpi_now_ns(), next = INT64_MAX;
    for (int i = 0; i < vmpi_world_size; i++) {
        if (ranks[i].state != RANK_SLEEPING)
            continue;
        if (ranks[i].wake_ns <= now) {
            sleepers--;
            append(&ranks[i]);
        } else if (ranks[i].wake_ns < next) {
            next = ranks[i].wake_ns;
        }
    }
    return next;
}

/* No rank is ready: lets the resting ranks poll again, or waits for a sleeping one. Returns 0 if all are blocked. */
static int find_ready(void)
{
    int64_t next = sleepers ? wake_sleepers() : 0;
    for (int i = 0; i < vmpi_world_size; i++)
        if (ranks[i].state == RANK_POLLING)
            append(&ranks[i]);
    if (!ready_first && sleepers) {
        int64_t ns = next - vmpi_now_ns();
        vmpi_current = NULL;
        if (ns > 0)
            nanosleep(&(struct timespec){ns / 1000000000, ns % 1000000000}, NULL);
        return find_ready();
    }
    if (!sleepers)
        notice_idle();
    return ready_first != NULL;
}

static void create_ranks(size_t stack_bytes)
{
    ranks = vmpi_alloc((size_t)vmpi_world_size, sizeof *ranks);
    for (int i = 0; i < vmpi_world_size; i++) {
        ranks[i].world = i;
        ranks[i].recording = 1;
        ranks[i].call = "main";
        ranks[i].fiber = fiber_create(stack_bytes, rank_entry, &ranks[i]);
        if (!ranks[i].fiber)
            vmpi_fail("no memory for the stack of rank %d of %d (two mappings each; see vm.max_map_count)", i,
                      vmpi_world_size);
        append(&ranks[i]);
    }
}

int vmpi_schedule(int count, size_t stack_bytes, int argc, char **argv)
{
    vmpi_world_size = count;
    thread = pthread_self();
    program_argc = argc;
    program_argv = argv;
    scheduler = fiber_of_thread();
    if (!scheduler)
        vmpi_fail("out of memory");
    vmpi_globals_start(count);
    create_ranks(stack_bytes);
    while (finished < vmpi_world_size) {
        if (!ready_first && !find_ready())
            report_deadlock();
        vmpi_rank *next = ready_first;
        ready_first = next->next_ready;
        if (!ready_first)
            ready_last = NULL;
        vmpi_current = next;
        vmpi_globals_enter(next);
        if (__cxa_get_globals)
            *__cxa_get_globals() = next->exceptions;
        fiber_switch(scheduler, next->fiber);
        if (__cxa_get_globals)
            next->exceptions = *__cxa_get_globals();
        if (next->state == RANK_FINISHED) {
            fiber_destroy(next->fiber);
            vmpi_globals_leave(next);
            next->fiber = NULL;
        }
    }
    vmpi_current = NULL;
    free(ranks);
    ranks = NULL;
    free(scheduler);
    return worst_status;
}

uint16_t vmpi_phase(uint16_t phase)
{
    uint16_t before = vmpi_current->phase;
    vmpi_trace_phase_ends();
    vmpi_current->phase = phase;
    return before;
}

uint16_t vmpi_step(uint16_t step)
{
    uint16_t before = vmpi_current->step;
    vmpi_current->step = step;
    return before;
}

int vmpi_recording(int on)
{
    int before = vmpi_current->recording;
    vmpi_current->recording = on != 0;
    return before;
}

void **vmpi_rank_slot(void)
{
    return &vmpi_current->slot;
}
