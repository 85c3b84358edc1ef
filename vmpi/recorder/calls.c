/* The start and the end of a program, communicators, and calls that are not recorded. */
#include "recorder.h"

/* Threads would call at the same time; a trace is one sequence for each rank. */
static int at_most_serialized(int level)
{
    return level > MPI_THREAD_SERIALIZED ? MPI_THREAD_SERIALIZED : level;
}

int MPI_Init(int *argc, char ***argv)
{
    CALL;
    int error = REAL(Init)(argc, argv);
    if (error == MPI_SUCCESS && recorder_depth == 1)
        recorder_open();
    return error;
}
TWO_NAMES(Init)

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *provided)
{
    CALL;
    int error = REAL(Init_thread)(argc, argv, at_most_serialized(wanted), provided);
    if (error != MPI_SUCCESS || recorder_depth > 1)
        return error;
    recorder_open();
    if (wanted > MPI_THREAD_SERIALIZED && recorder_rank == 0)
        fprintf(stderr, "odonata: MPI_THREAD_MULTIPLE becomes MPI_THREAD_SERIALIZED while calls are recorded\n");
    return error;
}
TWO_NAMES(Init_thread)

int MPI_Finalize(void)
{
    CALL;
    if (recorder_file && recorder_depth == 1)
        line_plain(recorder_place(0), "finalize");
    recorder_close();
    return REAL(Finalize)();
}
TWO_NAMES(Finalize)

int MPI_Abort(MPI_Comm comm, int code)
{
    if (recorder_file)
        fflush(recorder_file);
    return REAL(Abort)(comm, code);
}
TWO_NAMES(Abort)

/* ---- communicators ---- */

/* A call whose ranks are all of `comm`. */
#define CREATING_CALL(Name, parameters, arguments)                                                                     \
    int MPI_##Name parameters                                                                                          \
    {                                                                                                                  \
        CALL;                                                                                                          \
        int error = REAL(Name) arguments;                                                                              \
        if (IS_RECORDED(error))                                                                                        \
            recorder_created(recorder_communicator(comm), *made);                                                      \
        return error;                                                                                                  \
    }                                                                                                                  \
    TWO_NAMES(Name)

CREATING_CALL(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
CREATING_CALL(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made), (comm, info, made))
CREATING_CALL(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made))
CREATING_CALL(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),
              (comm, type, key, info, made))
CREATING_CALL(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made))
CREATING_CALL(Cart_create,
              (MPI_Comm comm, int dimensions, const int extents[], const int periods[], int reorder, MPI_Comm *made),
              (comm, dimensions, extents, periods, reorder, made))
CREATING_CALL(Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm *made), (comm, remain, made))
CREATING_CALL(Graph_create,
              (MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder, MPI_Comm *made),
              (comm, nodes, index, edges, reorder, made))
CREATING_CALL(Dist_graph_create,
              (MPI_Comm comm, int count, const int sources[], const int degrees[], const int destinations[],
               const int weights[], MPI_Info info, int reorder, MPI_Comm *made),
              (comm, count, sources, degrees, destinations, weights, info, reorder, made))
CREATING_CALL(Dist_graph_create_adjacent,
              (MPI_Comm comm, int in, const int sources[], const int source_weights[], int out,
               const int destinations[], const int destination_weights[], MPI_Info info, int reorder, MPI_Comm *made),
              (comm, in, sources, source_weights, out, destinations, destination_weights, info, reorder, made))

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *handle)
{
    CALL;
    int error = REAL(Comm_idup)(comm, made, handle);
    if (IS_RECORDED(error))
        recorder_duplicate(comm, made, *handle);
    return error;
}
TWO_NAMES(Comm_idup)

static void release(MPI_Comm comm)
{
    if (comm != MPI_COMM_NULL && comm != MPI_COMM_WORLD)
        recorder_freed(recorder_communicator(comm));
}

int MPI_Comm_free(MPI_Comm *comm)
{
    CALL;
    MPI_Comm before = *comm;
    if (recorder_file && recorder_depth == 1)
        release(before);
    return REAL(Comm_free)(comm);
}
TWO_NAMES(Comm_free)

int MPI_Comm_disconnect(MPI_Comm *comm)
{
    CALL;
    MPI_Comm before = *comm;
    if (recorder_file && recorder_depth == 1)
        release(before);
    return REAL(Comm_disconnect)(comm);
}
TWO_NAMES(Comm_disconnect)

/* ---- calls that move data and are not recorded ---- */

#define MISSED_CALL(Name, parameters, arguments)                                                                       \
    int MPI_NAME(Name) parameters                                                                                      \
    {                                                                                                                  \
        CALL;                                                                                                          \
        int error = REAL(FORM(Name)) arguments;                                                                        \
        if (IS_RECORDED(error))                                                                                        \
            recorder_miss("MPI_" STRING(FORM(Name)));                                                                  \
        return error;                                                                                                  \
    }                                                                                                                  \
    TWO_NAMES(FORM(Name))
#define TARGET int rank, MPI_Aint place, COUNT target_count, MPI_Datatype target_type
#define OF_TARGET rank, place, target_count, target_type


#define FORM(Name) Name
#define COUNT int
#include "missed_calls.h"
MISSED_CALL(Fetch_and_op,
            (const void *at, void *result, MPI_Datatype type, int rank, MPI_Aint place, MPI_Op op, MPI_Win window),
            (at, result, type, rank, place, op, window))
MISSED_CALL(Compare_and_swap,
            (const void *at, const void *compared, void *result, MPI_Datatype type, int rank, MPI_Aint place,
             MPI_Win window),
            (at, compared, result, type, rank, place, window))
MISSED_CALL(Win_fence, (int assertion, MPI_Win window), (assertion, window))

#if MPI_VERSION >= 4
#undef FORM
#undef COUNT
#define FORM(Name) Name##_c
#define COUNT MPI_Count
#include "missed_calls.h"
#endif
