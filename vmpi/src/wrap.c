/* For programs with an unmodified main: linked with --wrap=main, the process starts in __wrap_main, and each rank enters
 * the program's main. */
#include "runtime.h"
#include "vmpi.h"

int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);

int vmpi_rank_main(int argc, char **argv)
{
    return __real_main(argc, argv);
}

int __wrap_main(int argc, char **argv)
{
    return vmpi_start(argc, argv);
}
