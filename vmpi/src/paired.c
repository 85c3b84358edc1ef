/* Combined sends and receives, and the send modes. All modes are equal here, because messages are copied at once. */
#include <stdlib.h>

#include "runtime.h"

int MPI_Sendrecv(const void *send, int send_count, MPI_Datatype send_type, int destination, int send_tag,
                 void *receive, int receive_count, MPI_Datatype receive_type, int source, int receive_tag,
                 MPI_Comm comm, MPI_Status *status)
{
    VMPI_ENTER("MPI_Sendrecv");
    int both = destination != MPI_PROC_NULL && source != MPI_PROC_NULL;
    if (both) /* avoids waiting for each other */
        vmpi_trace_sendrecv(vmpi_comm(comm), destination, vmpi_packed_bytes(send_type, send_count), source,
                            vmpi_packed_bytes(receive_type, receive_count));
    vmpi_current->quiet += both;
    MPI_Send(send, send_count, send_type, destination, send_tag, comm);
    MPI_Recv(receive, receive_count, receive_type, source, receive_tag, comm, status);
    vmpi_current->quiet -= both;
    return MPI_SUCCESS;
}

/* Copies the message before the buffer is overwritten. */
int MPI_Sendrecv_replace(void *buffer, int count, MPI_Datatype type, int destination, int send_tag, int source,
                         int receive_tag, MPI_Comm comm, MPI_Status *status)
{
    return MPI_Sendrecv(buffer, count, type, destination, send_tag, buffer, count, type, source, receive_tag, comm,
                        status);
}

#define AS_SEND(name)                                                                                                  \
    int name(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm)                \
    {                                                                                                                  \
        return MPI_Send(buffer, count, type, destination, tag, comm);                                                  \
    }
#define AS_ISEND(name)                                                                                                 \
    int name(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,                \
             MPI_Request *request)                                                                                     \
    {                                                                                                                  \
        return MPI_Isend(buffer, count, type, destination, tag, comm, request);                                        \
    }
#define AS_SEND_INIT(name)                                                                                             \
    int name(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,                \
             MPI_Request *request)                                                                                     \
    {                                                                                                                  \
        return MPI_Send_init(buffer, count, type, destination, tag, comm, request);                                    \
    }
AS_SEND(MPI_Ssend)
AS_SEND(MPI_Bsend)
AS_SEND(MPI_Rsend)
AS_ISEND(MPI_Issend)
AS_ISEND(MPI_Ibsend)
AS_SEND_INIT(MPI_Ssend_init)
AS_SEND_INIT(MPI_Bsend_init)
AS_SEND_INIT(MPI_Rsend_init)

int MPI_Start(MPI_Request *request)
{
    return MPI_Startall(1, request);
}

/* Buffers are allocated as needed; an attached buffer is only returned. */
typedef struct {
    void *buffer;
    int size;
} attached_buffer;

int MPI_Buffer_attach(void *buffer, int size)
{
    VMPI_ENTER("MPI_Buffer_attach");
    attached_buffer *kept = vmpi_alloc(1, sizeof *kept);
    *kept = (attached_buffer){buffer, size};
    free(vmpi_current->attached);
    vmpi_current->attached = kept;
    return MPI_SUCCESS;
}

int MPI_Buffer_detach(void *buffer, int *size)
{
    VMPI_ENTER("MPI_Buffer_detach");
    attached_buffer *kept = vmpi_current->attached;
    if (!kept)
        vmpi_fail("no buffer is attached");
    *(void **)buffer = kept->buffer;
    *size = kept->size;
    free(kept);
    vmpi_current->attached = NULL;
    return MPI_SUCCESS;
}
