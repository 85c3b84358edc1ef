/* Collectives with a root, in blocking and nonblocking form. */
#include "collective.h"

static void broadcast(const vmpi_sides *s)
{
    vmpi_arrival *root = vmpi_root_in(s, s->from, s->senders);
    for (int i = 0; root && i < s->receivers; i++)
        vmpi_move(root->receive, root->receive_count, root->receive_type, s->to[i].receive, s->to[i].receive_count,
                  s->to[i].receive_type);
}

void vmpi_gather_into(const vmpi_sides *s, vmpi_arrival *to)
{
    for (int i = 0; i < s->senders; i++) {
        vmpi_arrival *from = &s->from[i];
        int count = to->counts ? to->counts[i] : to->receive_count;
        ptrdiff_t offset = to->displacements ? to->displacements[i] : (ptrdiff_t)i * to->receive_count;
        if (from->send != MPI_IN_PLACE)
            vmpi_move(from->send, from->send_count, from->send_type, vmpi_at(to->receive, offset, to->receive_type),
                      count, to->receive_type);
        else if (from != to) /* all-gather in place: the data is at the sender's own position in its result */
            vmpi_move(vmpi_at(from->receive, offset, to->receive_type), count, to->receive_type,
                      vmpi_at(to->receive, offset, to->receive_type), count, to->receive_type);
    }
}

static void gather_to_root(const vmpi_sides *s)
{
    vmpi_arrival *root = vmpi_root_in(s, s->to, s->receivers);
    if (root)
        vmpi_gather_into(s, root);
}

static void scatter_from_root(const vmpi_sides *s)
{
    vmpi_arrival *root = vmpi_root_in(s, s->from, s->senders);
    for (int i = 0; root && i < s->receivers; i++) {
        vmpi_arrival *to = &s->to[i];
        int count = root->counts ? root->counts[i] : root->send_count;
        ptrdiff_t offset = root->displacements ? root->displacements[i] : (ptrdiff_t)i * root->send_count;
        if (to->receive != MPI_IN_PLACE)
            vmpi_move(vmpi_at((void *)root->send, offset, root->send_type), count, root->send_type, to->receive,
                      to->receive_count, to->receive_type);
    }
}

size_t vmpi_bytes_sent(const vmpi_arrival *mine)
{
    int nothing = mine->send == MPI_IN_PLACE || mine->root == MPI_ROOT || mine->root == MPI_PROC_NULL;
    return nothing ? 0 : vmpi_packed_bytes(mine->send_type, mine->send_count);
}

static size_t bytes_received(const vmpi_arrival *mine)
{
    int nothing = mine->receive == MPI_IN_PLACE || mine->root == MPI_PROC_NULL;
    return nothing ? 0 : vmpi_packed_bytes(mine->receive_type, mine->receive_count);
}

static int from_root(vmpi_arrival mine, MPI_Comm comm, MPI_Request *request)
{
    return vmpi_exchange(mine, comm, bytes_received(&mine), broadcast, request);
}

static int gather(vmpi_arrival mine, MPI_Comm comm, MPI_Request *request)
{
    return vmpi_exchange(mine, comm, vmpi_bytes_sent(&mine), gather_to_root, request);
}

static int scatter(vmpi_arrival mine, MPI_Comm comm, MPI_Request *request)
{
    return vmpi_exchange(mine, comm, bytes_received(&mine), scatter_from_root, request);
}

VMPI_COLLECTIVE(Bcast, Ibcast, (void *buffer, int count, MPI_Datatype type, int root), from_root, .action = "bcast",
                .receive = buffer, .receive_count = count, .receive_type = type, .root = root)
VMPI_COLLECTIVE(Gather, Igather, (VMPI_SENT, VMPI_RECEIVED, int root), gather, .action = "gather", VMPI_OF_SENT,
                VMPI_OF_RECEIVED, .root = root)
VMPI_COLLECTIVE(Gatherv, Igatherv, (VMPI_SENT, VMPI_RECEIVED_EACH, int root), gather, .action = "gatherv", VMPI_OF_SENT,
                VMPI_OF_RECEIVED_EACH, .root = root)
VMPI_COLLECTIVE(Scatter, Iscatter, (VMPI_SENT, VMPI_RECEIVED, int root), scatter, .action = "scatter", VMPI_OF_SENT,
                VMPI_OF_RECEIVED, .root = root)
VMPI_COLLECTIVE(Scatterv, Iscatterv,
                (const void *send, const int counts[], const int displacements[], MPI_Datatype send_type, VMPI_RECEIVED,
                 int root),
                scatter, .action = "scatterv", .send = send, .counts = counts, .displacements = displacements,
                .send_type = send_type, VMPI_OF_RECEIVED, .root = root)
