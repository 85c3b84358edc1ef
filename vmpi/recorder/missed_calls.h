/* One-sided calls, for one form of counts (recorder.h). Included by calls.c alone. */

MISSED_CALL(Put, (const void *at, COUNT count, MPI_Datatype type, TARGET, MPI_Win window),
            (at, count, type, OF_TARGET, window))
MISSED_CALL(Get, (void *at, COUNT count, MPI_Datatype type, TARGET, MPI_Win window),
            (at, count, type, OF_TARGET, window))
MISSED_CALL(Accumulate, (const void *at, COUNT count, MPI_Datatype type, TARGET, MPI_Op op, MPI_Win window),
            (at, count, type, OF_TARGET, op, window))
MISSED_CALL(Rput, (const void *at, COUNT count, MPI_Datatype type, TARGET, MPI_Win window, MPI_Request *handle),
            (at, count, type, OF_TARGET, window, handle))
MISSED_CALL(Rget, (void *at, COUNT count, MPI_Datatype type, TARGET, MPI_Win window, MPI_Request *handle),
            (at, count, type, OF_TARGET, window, handle))
MISSED_CALL(Raccumulate,
            (const void *at, COUNT count, MPI_Datatype type, TARGET, MPI_Op op, MPI_Win window, MPI_Request *handle),
            (at, count, type, OF_TARGET, op, window, handle))
MISSED_CALL(Get_accumulate,
            (const void *at, COUNT count, MPI_Datatype type, void *result, COUNT result_count, MPI_Datatype result_type,
             TARGET, MPI_Op op, MPI_Win window),
            (at, count, type, result, result_count, result_type, OF_TARGET, op, window))
