/* The main of a program that was compiled with -Dmain=vmpi_rank_main; wrap.c is for unmodified programs. */
#include "runtime.h"

int main(int argc, char **argv)
{
    return vmpi_start(argc, argv);
}
