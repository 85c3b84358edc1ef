/* The main of a program whose own was compiled as vmpi_rank_main; wrap.c is for programs compiled as they are. */
#include "runtime.h"

int main(int argc, char **argv)
{
    return vmpi_start(argc, argv);
}
