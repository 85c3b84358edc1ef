/* The environment: start and end, threads, names, errors, time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

int vmpi_per_node = 1;

int MPI_Init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    vmpi_current->call = "MPI_Init";
    if (vmpi_current->initialised)
        vmpi_fail("called twice");
    vmpi_current->initialised = 1;
    vmpi_trace_plain("init");
    vmpi_trace_entered();
    vmpi_trace_left(NULL);
    return MPI_SUCCESS;
}

int MPI_Initialized(int *flag)
{
    *flag = vmpi_current && vmpi_current->initialised; /* a library may ask before main */
    return MPI_SUCCESS;
}

int MPI_Finalized(int *flag)
{
    *flag = vmpi_current && vmpi_current->finalised;
    return MPI_SUCCESS;
}

int MPI_Finalize(void)
{
    VMPI_ENTER("MPI_Finalize");
    if (vmpi_current->self)
        vmpi_attributes_free(vmpi_current->self); /* libraries tidy up so */
    vmpi_trace_plain("finalize");
    vmpi_current->finalised = 1;
    return MPI_SUCCESS;
}

int MPI_Abort(MPI_Comm comm, int code)
{
    (void)comm;
    VMPI_ENTER("MPI_Abort");
    fflush(stdout);
    fprintf(stderr, "vmpi: rank %d called MPI_Abort(%d)\n", vmpi_current->world, code);
    vmpi_stop(code & 255 ? code & 255 : 1);
}

/* Wall-clock time of this process. Messages take no time, so it shows only the ranks' own work. */
double MPI_Wtime(void)
{
    return 1e-9 * (double)vmpi_now_ns();
}

double MPI_Wtick(void)
{
    return 1e-9;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int status = MPI_Init(argc, argv);
    *provided = vmpi_current->threads = required < MPI_THREAD_SERIALIZED ? required : MPI_THREAD_SERIALIZED;
    return status;
}

int MPI_Query_thread(int *provided)
{
    *provided = vmpi_current->threads;
    return MPI_SUCCESS;
}

int MPI_Is_thread_main(int *flag)
{
    *flag = 1;
    return MPI_SUCCESS;
}

/* Option -per-node sets the ranks per node; ranks fill nodes in order. */
int MPI_Get_processor_name(char *name, int *length)
{
    VMPI_ENTER("MPI_Get_processor_name");
    *length = snprintf(name, MPI_MAX_PROCESSOR_NAME, "node%d", vmpi_current->world / vmpi_per_node);
    return MPI_SUCCESS;
}

int MPI_Get_version(int *version, int *subversion)
{
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

int MPI_Get_library_version(char *version, int *length)
{
    *length = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "vmpi, virtual ranks in one process");
    return MPI_SUCCESS;
}

int MPI_Pcontrol(const int level, ...)
{
    (void)level;
    return MPI_SUCCESS;
}
