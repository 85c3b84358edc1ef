/* Collectives, for one form of counts (recorder.h). Included by collectives.c alone. */

COLLECTIVE(Bcast, Ibcast, (void *buffer, COUNT count, MPI_Datatype type, int root), (buffer, count, type, root),
           write_call(name, comm, handle,
                      (line_collective){.action = "bcast", .root = root, .received = recorder_bytes(type, count)}))
COLLECTIVE(Gather, Igather, (SENT, RECEIVED, int root), (OF_SENT, OF_RECEIVED, root),
           write_gather(name, comm, handle, OF_SENT, count, type, root))
COLLECTIVE(Scatter, Iscatter, (SENT, RECEIVED, int root), (OF_SENT, OF_RECEIVED, root),
           write_scatter(name, comm, handle, send_count, send_type, OF_RECEIVED, root))
COLLECTIVE(Gatherv, Igatherv, (SENT, RECEIVED_EACH, int root), (OF_SENT, OF_RECEIVED_EACH, root),
           write_gatherv(name, comm, handle, OF_SENT, COUNTS(counts), type, root))
COLLECTIVE(Scatterv, Iscatterv, (SENT_EACH, RECEIVED, int root), (OF_SENT_EACH, OF_RECEIVED, root),
           write_scatterv(name, comm, handle, COUNTS(send_counts), send_type, OF_RECEIVED, root))
COLLECTIVE(Allgather, Iallgather, (SENT, RECEIVED), (OF_SENT, OF_RECEIVED),
           write_blocks(name, comm, handle, "allgather", OF_RECEIVED))
COLLECTIVE(Alltoall, Ialltoall, (SENT, RECEIVED), (OF_SENT, OF_RECEIVED),
           write_blocks(name, comm, handle, "alltoall", OF_RECEIVED))
COLLECTIVE(Allgatherv, Iallgatherv, (SENT, RECEIVED_EACH), (OF_SENT, OF_RECEIVED_EACH),
           write_allgatherv(name, comm, handle, OF_SENT, COUNTS(counts), type))
COLLECTIVE(Alltoallv, Ialltoallv, (SENT_EACH, RECEIVED_EACH), (OF_SENT_EACH, OF_RECEIVED_EACH),
           write_alltoallv(name, comm, handle, send, COUNTS(send_counts), send_type, NULL, COUNTS(counts), type, NULL))
COLLECTIVE(Alltoallw, Ialltoallw,
           (const void *send, const COUNT send_counts[], const PLACE send_places[], const MPI_Datatype send_types[],
            void *receive, const COUNT counts[], const PLACE places[], const MPI_Datatype types[]),
           (send, send_counts, send_places, send_types, receive, counts, places, types),
           write_alltoallv(name, comm, handle, send, COUNTS(send_counts), MPI_DATATYPE_NULL, send_types, COUNTS(counts),
                           MPI_DATATYPE_NULL, types))
COLLECTIVE(Reduce, Ireduce, (REDUCED, int root), (OF_REDUCED, root),
           write_reduction(name, comm, handle, "reduce", count, type, root))
COLLECTIVE(Allreduce, Iallreduce, (REDUCED), (OF_REDUCED),
           write_reduction(name, comm, handle, "allreduce", count, type, 0))
COLLECTIVE(Scan, Iscan, (REDUCED), (OF_REDUCED), write_reduction(name, comm, handle, "scan", count, type, 0))
COLLECTIVE(Exscan, Iexscan, (REDUCED), (OF_REDUCED), write_reduction(name, comm, handle, "scan", count, type, 0))
COLLECTIVE(Reduce_scatter, Ireduce_scatter,
           (const void *send, void *receive, const COUNT counts[], MPI_Datatype type, MPI_Op op),
           (send, receive, counts, type, op), write_reduce_scatter(name, comm, handle, COUNTS(counts), 0, type))
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, (REDUCED), (OF_REDUCED),
           write_reduce_scatter(name, comm, handle, NO_COUNTS, count, type))

COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, (SENT, RECEIVED), (OF_SENT, OF_RECEIVED),
           ((void)name, write_neighbours(comm, handle, (part){send_count, NO_COUNTS, send_type, NULL},
                                         (part){count, NO_COUNTS, type, NULL})))
COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, (SENT, RECEIVED_EACH), (OF_SENT, OF_RECEIVED_EACH),
           ((void)name, write_neighbours(comm, handle, (part){send_count, NO_COUNTS, send_type, NULL},
                                         (part){0, COUNTS(counts), type, NULL})))
COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, (SENT, RECEIVED), (OF_SENT, OF_RECEIVED),
           ((void)name, write_neighbours(comm, handle, (part){send_count, NO_COUNTS, send_type, NULL},
                                         (part){count, NO_COUNTS, type, NULL})))
COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, (SENT_EACH, RECEIVED_EACH), (OF_SENT_EACH, OF_RECEIVED_EACH),
           ((void)name, write_neighbours(comm, handle, (part){0, COUNTS(send_counts), send_type, NULL},
                                         (part){0, COUNTS(counts), type, NULL})))
COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw,
           (const void *send, const COUNT send_counts[], const MPI_Aint send_places[], const MPI_Datatype send_types[],
            void *receive, const COUNT counts[], const MPI_Aint places[], const MPI_Datatype types[]),
           (send, send_counts, send_places, send_types, receive, counts, places, types),
           ((void)name, write_neighbours(comm, handle, (part){0, COUNTS(send_counts), MPI_DATATYPE_NULL, send_types},
                                         (part){0, COUNTS(counts), MPI_DATATYPE_NULL, types})))
