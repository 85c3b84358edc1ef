/* Collectives with a root: each blocking and not. */
#include "runtime.h"

static void broadcast(MPI_Comm comm)
{
    vmpi_arrival *root = &comm->at[comm->at[0].root];
    for (int i = 0; i < comm->size; i++)
        vmpi_move(root->receive, root->receive_count, root->receive_type, comm->at[i].receive,
                  comm->at[i].receive_count, comm->at[i].receive_type);
}

void vmpi_gather_into(MPI_Comm comm, vmpi_arrival *to)
{
    for (int i = 0; i < comm->size; i++) {
        vmpi_arrival *from = &comm->at[i];
        int count = to->counts ? to->counts[i] : to->receive_count;
        ptrdiff_t offset = to->displacements ? to->displacements[i] : (ptrdiff_t)i * to->receive_count;
        if (from->send != MPI_IN_PLACE)
            vmpi_move(from->send, from->send_count, from->send_type, vmpi_at(to->receive, offset, to->receive_type),
                      count, to->receive_type);
        else if (from != to) /* all-gather in place: the data lies at the sender's own position of its result */
            vmpi_move(vmpi_at(from->receive, offset, to->receive_type), count, to->receive_type,
                      vmpi_at(to->receive, offset, to->receive_type), count, to->receive_type);
    }
}

static void gather_to_root(MPI_Comm comm)
{
    vmpi_gather_into(comm, &comm->at[comm->at[0].root]);
}

static void scatter_from_root(MPI_Comm comm)
{
    vmpi_arrival *root = &comm->at[comm->at[0].root];
    for (int i = 0; i < comm->size; i++) {
        vmpi_arrival *to = &comm->at[i];
        int count = root->counts ? root->counts[i] : root->send_count;
        ptrdiff_t offset = root->displacements ? root->displacements[i] : (ptrdiff_t)i * root->send_count;
        if (to->receive != MPI_IN_PLACE)
            vmpi_move(vmpi_at((void *)root->send, offset, root->send_type), count, root->send_type, to->receive,
                      to->receive_count, to->receive_type);
    }
}

size_t vmpi_bytes_sent(const void *send, MPI_Datatype type, int count)
{
    return send == MPI_IN_PLACE ? 0 : vmpi_packed_bytes(type, count);
}

static int bcast(const char *call, void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
                 MPI_Request *request)
{
    vmpi_arrival mine = {
        .call = call, .action = "bcast", .receive = buffer, .receive_count = count, .receive_type = type, .root = root};
    return vmpi_exchange(mine, comm, vmpi_packed_bytes(type, count), broadcast, request);
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    VMPI_ENTER("MPI_Bcast");
    return bcast("MPI_Bcast", buffer, count, type, root, comm, NULL);
}

int MPI_Ibcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request)
{
    VMPI_ENTER("MPI_Ibcast");
    return bcast("MPI_Ibcast", buffer, count, type, root, comm, request);
}

static int gather(const char *call, const void *send, int send_count, MPI_Datatype send_type, void *receive,
                  int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Request *request)
{
    vmpi_arrival mine = {.call = call,
                         .action = "gather",
                         .send = send,
                         .send_count = send_count,
                         .send_type = send_type,
                         .receive = receive,
                         .receive_count = receive_count,
                         .receive_type = receive_type,
                         .root = root};
    return vmpi_exchange(mine, comm, vmpi_bytes_sent(send, send_type, send_count), gather_to_root, request);
}

int MPI_Gather(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
               MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    VMPI_ENTER("MPI_Gather");
    return gather("MPI_Gather", send, send_count, send_type, receive, receive_count, receive_type, root, comm, NULL);
}

int MPI_Igather(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Request *request)
{
    VMPI_ENTER("MPI_Igather");
    return gather("MPI_Igather", send, send_count, send_type, receive, receive_count, receive_type, root, comm,
                  request);
}

static int gatherv(const char *call, const void *send, int send_count, MPI_Datatype send_type, void *receive,
                   const int counts[], const int displacements[], MPI_Datatype receive_type, int root, MPI_Comm comm,
                   MPI_Request *request)
{
    vmpi_arrival mine = {.call = call,
                         .action = "gatherv",
                         .send = send,
                         .send_count = send_count,
                         .send_type = send_type,
                         .receive = receive,
                         .counts = counts,
                         .displacements = displacements,
                         .receive_type = receive_type,
                         .root = root};
    return vmpi_exchange(mine, comm, vmpi_bytes_sent(send, send_type, send_count), gather_to_root, request);
}

int MPI_Gatherv(const void *send, int send_count, MPI_Datatype send_type, void *receive, const int counts[],
                const int displacements[], MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    VMPI_ENTER("MPI_Gatherv");
    return gatherv("MPI_Gatherv", send, send_count, send_type, receive, counts, displacements, receive_type, root, comm,
                   NULL);
}

int MPI_Igatherv(const void *send, int send_count, MPI_Datatype send_type, void *receive, const int counts[],
                 const int displacements[], MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Request *request)
{
    VMPI_ENTER("MPI_Igatherv");
    return gatherv("MPI_Igatherv", send, send_count, send_type, receive, counts, displacements, receive_type, root,
                   comm, request);
}

static int scatter(const char *call, const void *send, int send_count, MPI_Datatype send_type, void *receive,
                   int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Request *request)
{
    vmpi_arrival mine = {.call = call,
                         .action = "scatter",
                         .send = send,
                         .send_count = send_count,
                         .send_type = send_type,
                         .receive = receive,
                         .receive_count = receive_count,
                         .receive_type = receive_type,
                         .root = root};
    return vmpi_exchange(mine, comm, vmpi_packed_bytes(receive_type, receive_count), scatter_from_root, request);
}

int MPI_Scatter(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    VMPI_ENTER("MPI_Scatter");
    return scatter("MPI_Scatter", send, send_count, send_type, receive, receive_count, receive_type, root, comm, NULL);
}

int MPI_Iscatter(const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
                 MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Request *request)
{
    VMPI_ENTER("MPI_Iscatter");
    return scatter("MPI_Iscatter", send, send_count, send_type, receive, receive_count, receive_type, root, comm,
                   request);
}

static int scatterv(const char *call, const void *send, const int counts[], const int displacements[],
                    MPI_Datatype send_type, void *receive, int receive_count, MPI_Datatype receive_type, int root,
                    MPI_Comm comm, MPI_Request *request)
{
    vmpi_arrival mine = {.call = call,
                         .action = "scatterv",
                         .send = send,
                         .counts = counts,
                         .displacements = displacements,
                         .send_type = send_type,
                         .receive = receive,
                         .receive_count = receive_count,
                         .receive_type = receive_type,
                         .root = root};
    return vmpi_exchange(mine, comm, vmpi_packed_bytes(receive_type, receive_count), scatter_from_root, request);
}

int MPI_Scatterv(const void *send, const int counts[], const int displacements[], MPI_Datatype send_type, void *receive,
                 int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm)
{
    VMPI_ENTER("MPI_Scatterv");
    return scatterv("MPI_Scatterv", send, counts, displacements, send_type, receive, receive_count, receive_type, root,
                    comm, NULL);
}

int MPI_Iscatterv(const void *send, const int counts[], const int displacements[], MPI_Datatype send_type,
                  void *receive, int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm,
                  MPI_Request *request)
{
    VMPI_ENTER("MPI_Iscatterv");
    return scatterv("MPI_Iscatterv", send, counts, displacements, send_type, receive, receive_count, receive_type, root,
                    comm, request);
}
