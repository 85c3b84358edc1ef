/* For programs whose variables outside functions are private to each rank: linked with --wrap=__cxa_atexit beside
 * wrap.c. */
#include <getopt.h>

#include "runtime.h"

typedef void constructor(int, char **, char **);
extern constructor *__init_array_start[] __attribute__((visibility("hidden")));
extern constructor *__init_array_end[] __attribute__((visibility("hidden")));
extern char **environ;

static void capture(int argc, char **argv, char **environment);

static void run_constructors(void)
{
    static char *no_arguments[] = {NULL};
    for (constructor **c = __init_array_start; c < __init_array_end; c++)
        if (*c != capture)
            (*c)(0, no_arguments, environ);
}

/* Before the program's constructors, after those of its libraries: 101 is the first priority that is free. */
__attribute__((constructor(101))) static void capture(int argc, char **argv, char **environment)
{
    (void)argc, (void)argv, (void)environment;
    /* getopt's place is a variable of the C library; code that uses it makes the linker put it among the program's. */
    optind = 1;
    vmpi_globals_capture(run_constructors);
}

int __wrap___cxa_atexit(void (*function)(void *), void *argument, void *library);
int __wrap___cxa_atexit(void (*function)(void *), void *argument, void *library)
{
    (void)library;
    return vmpi_at_exit(function, argument);
}
