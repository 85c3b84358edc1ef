/* A collective is two MPI functions with the same arguments. One blocks, the other returns a request. This defines both:
 *
 *   VMPI_COLLECTIVE(Bcast, Ibcast, (void *buffer, int count, ...), broadcast, .receive = buffer, ...)
 *
 * defines MPI_Bcast(void *buffer, int count, ..., MPI_Comm comm), and MPI_Ibcast with a request as last argument. Both
 * call broadcast(arrival, comm, request). The arguments are members of vmpi_arrival; the request is NULL in the blocking
 * form. */
#ifndef VMPI_COLLECTIVE_H
#define VMPI_COLLECTIVE_H

#include "runtime.h"

#define VMPI_INSIDE(...) __VA_ARGS__

#define VMPI_COLLECTIVE(Name, IName, arguments, exchange, ...)                                                         \
    int MPI_##Name(VMPI_INSIDE arguments, MPI_Comm comm)                                                               \
    {                                                                                                                  \
        VMPI_ENTER("MPI_" #Name);                                                                                      \
        return exchange((vmpi_arrival){.call = "MPI_" #Name, __VA_ARGS__}, comm, NULL);                                \
    }                                                                                                                  \
    int MPI_##IName(VMPI_INSIDE arguments, MPI_Comm comm, MPI_Request *request)                                        \
    {                                                                                                                  \
        VMPI_ENTER("MPI_" #IName);                                                                                     \
        return exchange((vmpi_arrival){.call = "MPI_" #IName, __VA_ARGS__}, comm, request);                            \
    }

/* Common argument lists and their members: one block, or one per rank, sent and received. */
#define VMPI_SENT const void *send, int send_count, MPI_Datatype send_type
#define VMPI_SENT_EACH const void *send, const int send_counts[], const int send_displacements[], MPI_Datatype send_type
#define VMPI_RECEIVED void *receive, int receive_count, MPI_Datatype receive_type
#define VMPI_RECEIVED_EACH void *receive, const int counts[], const int displacements[], MPI_Datatype receive_type

#define VMPI_OF_SENT .send = send, .send_count = send_count, .send_type = send_type
#define VMPI_OF_SENT_EACH                                                                                              \
    .send = send, .send_counts = send_counts, .send_displacements = send_displacements, .send_type = send_type
#define VMPI_OF_RECEIVED .receive = receive, .receive_count = receive_count, .receive_type = receive_type
#define VMPI_OF_RECEIVED_EACH                                                                                          \
    .receive = receive, .counts = counts, .displacements = displacements, .receive_type = receive_type

#endif
