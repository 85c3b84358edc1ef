/* What a program does to its process, it does here to its rank: ending, sleeping, setting variables of the environment.
 * And the reports of faults, with rank and call.
 *
 * These functions replace functions of the C library, for the program and for the shared libraries that it loads. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime.h"

extern char **environ;
static pid_t process; /* a child that a rank has forked is no rank */

/* ---- the end ---- */

void vmpi_stop(int status)
{
    fflush(NULL);
    vmpi_record_close();
    vmpi_trace_close();
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}

static int is_rank(void)
{
    return vmpi_current && getpid() == process;
}

void exit(int status)
{
    if (is_rank())
        vmpi_end_rank(status, "exit", 1);
    void (*real)(int) = (void (*)(int))dlsym(RTLD_NEXT, "exit");
    real(status);
    __builtin_unreachable();
}

void _exit(int status)
{
    if (is_rank())
        vmpi_end_rank(status, "_exit", 0);
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}

void _Exit(int status)
{
    _exit(status);
}

/* Functions inside the C library that end the process (error, err) do not call the ones above. */
static void at_end(int status, void *unused)
{
    (void)unused;
    if (!is_rank())
        return;
    fprintf(stderr, "vmpi: rank %d ended the process inside a library\n", vmpi_current->world);
    vmpi_stop(status ? status : 70);
}

/* ---- faults ---- */

static size_t stack_kib;

/* Allocates nothing and continues no rank. Afterwards the signal has its usual effect. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    const vmpi_rank *rank = vmpi_current;
    fflush(stdout);
    if (rank)
        fprintf(stderr, "vmpi: rank %d %s %s: ", rank->world, rank->depth > 0 ? "in" : "after",
                rank->call ? rank->call : "its start");
    else
        fprintf(stderr, "vmpi: ");
    if (number == SIGSEGV && rank && fiber_overflows(rank->fiber, info->si_addr))
        fprintf(stderr, "the stack of %zu KiB is too small: give a larger one with -stack KIB", stack_kib);
    else
        fprintf(stderr, "SIG%s (%s)", sigabbrev_np(number), sigdescr_np(number));
    if (number == SIGSEGV || number == SIGBUS)
        fprintf(stderr, " at address %p", info->si_addr);
    fputc('\n', stderr);
    vmpi_record_close();
    vmpi_trace_close();
    raise(number);
}

void vmpi_watch_faults(void)
{
    const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigaction(faults[i], &action, NULL);
}

void vmpi_process_start(size_t stack_bytes)
{
    static char stack[64 * 1024]; /* a rank's own may be used up */
    process = getpid();
    stack_kib = stack_bytes / 1024;
    on_exit(at_end, NULL);
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    vmpi_watch_faults();
}

/* ---- sleep: other ranks run meanwhile ---- */

int64_t vmpi_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int nanosleep(const struct timespec *time, struct timespec *rest)
{
    if (!is_rank())
        return (int)syscall(SYS_nanosleep, time, rest);
    if (time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec > 999999999) {
        errno = EINVAL;
        return -1;
    }
    vmpi_sleep((int64_t)time->tv_sec * 1000000000 + time->tv_nsec);
    return 0;
}

int usleep(useconds_t microseconds)
{
    return nanosleep(&(struct timespec){microseconds / 1000000, (long)(microseconds % 1000000) * 1000}, NULL);
}

unsigned sleep(unsigned seconds)
{
    nanosleep(&(struct timespec){seconds, 0}, NULL);
    return 0;
}

/* ---- the environment: a list per rank. The C library's would free what other ranks see. ---- */

/* The place of a variable in the caller's list, or of its end. */
static char **find_variable(const char *name, size_t length)
{
    char **link = environ;
    while (link && *link && !(strncmp(*link, name, length) == 0 && (*link)[length] == '='))
        link++;
    return link;
}

static void replace(const char *name, size_t length, char *text)
{
    char **old = find_variable(name, length);
    if (old && *old) {
        *old = text;
        return;
    }
    size_t count = old ? (size_t)(old - environ) : 0;
    char **longer = vmpi_alloc(count + 2, sizeof *longer);
    if (count)
        memcpy(longer, environ, count * sizeof *longer);
    longer[count] = text;
    environ = longer; /* the program may have kept the old list, so it is not freed */
}

/* The first change of a rank gives it a list of its own. */
static void separate(void)
{
    size_t count = 0;
    if (!vmpi_current || vmpi_current->has_environment || !environ)
        return;
    while (environ[count])
        count++;
    char **own = vmpi_alloc(count + 1, sizeof *own);
    memcpy(own, environ, count * sizeof *own);
    environ = own;
    vmpi_current->has_environment = 1;
}

int setenv(const char *name, const char *value, int overwrite)
{
    size_t length = strlen(name);
    if (length == 0 || strchr(name, '=')) {
        errno = EINVAL;
        return -1;
    }
    char **old = find_variable(name, length);
    if (old && *old && !overwrite)
        return 0;
    char *text = vmpi_alloc(length + strlen(value) + 2, 1);
    memcpy(text, name, length); // NOLINT(bugprone-not-null-terminated-result): the rest follows
    text[length] = '=';
    memcpy(text + length + 1, value, strlen(value) + 1);
    separate();
    replace(name, length, text);
    return 0;
}

int unsetenv(const char *name)
{
    if (!*name || strchr(name, '=')) {
        errno = EINVAL;
        return -1;
    }
    separate();
    for (char **link = find_variable(name, strlen(name)); link && *link; link++)
        *link = link[1];
    return 0;
}

int putenv(char *text)
{
    const char *equals = strchr(text, '=');
    if (!equals)
        return unsetenv(text);
    separate();
    replace(text, (size_t)(equals - text), text);
    return 0;
}

int clearenv(void)
{
    environ = NULL;
    if (vmpi_current)
        vmpi_current->has_environment = 1;
    return 0;
}
