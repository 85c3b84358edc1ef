/* For programs whose global variables are private to each rank; linked with --wrap=__cxa_atexit and wrap.c. */
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

/* Runs before the program's constructors and after its libraries' constructors: 101 is the first free priority. */
__attribute__((constructor(101))) static void capture(int argc, char **argv, char **environment)
{
    (void)argc, (void)argv, (void)environment;
    /* optind and similar are variables of the C library; a program that uses them gets copies in its own data. */
    optind = 1;
    vmpi_globals_capture(run_constructors);
}

int __wrap___cxa_atexit(void (*function)(void *), void *argument, void *library);
int __wrap___cxa_atexit(void (*function)(void *), void *argument, void *library)
{
    (void)library;
    return vmpi_at_exit(function, argument);
}
