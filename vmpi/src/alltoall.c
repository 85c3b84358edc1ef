/* Collectives without a root that move data, in blocking and nonblocking form. */
#include <stdlib.h>

#include "collective.h"

/* Whether every rank passes contiguous blocks of `bytes`. */
static int is_uniform(const vmpi_sides *s, size_t bytes)
{
    for (int i = 0; i < s->senders && !s->inter; i++) {
        const vmpi_arrival *a = &s->from[i];
        if (a->counts || a->send == MPI_IN_PLACE || vmpi_packed_bytes(a->send_type, a->send_count) != bytes ||
            vmpi_packed_bytes(a->receive_type, a->receive_count) != bytes)
            return 0;
    }
    return !s->inter;
}

/* Packs uniform blocks once. Packing per rank would take (ranks)^2 calls: seconds at thousands of ranks. */
static void gather_to_all(const vmpi_sides *s)
{
    const vmpi_arrival *first = s->from;
    size_t block = first->send == MPI_IN_PLACE ? 0 : vmpi_packed_bytes(first->send_type, first->send_count);
    if (!is_uniform(s, block)) {
        for (int i = 0; i < s->receivers; i++)
            vmpi_gather_into(s, &s->to[i]);
        return;
    }
    char *all = vmpi_alloc((size_t)s->senders, block);
    for (int i = 0; i < s->senders; i++)
        vmpi_pack(s->from[i].send, s->from[i].send_count, s->from[i].send_type, all + (size_t)i * block);
    for (int i = 0; i < s->receivers; i++)
        vmpi_unpack(all, (size_t)s->senders * block, s->to[i].receive, s->to[i].receive_type);
    free(all);
}

/* Place and type of the block for or from `peer`: one size for all, one size per rank, or a type per rank
 * (with displacements in bytes). */
vmpi_part vmpi_received_from(const vmpi_arrival *a, int peer)
{
    if (!a->counts)
        return (vmpi_part){vmpi_at(a->receive, (ptrdiff_t)peer * a->receive_count, a->receive_type), a->receive_count,
                           a->receive_type};
    if (a->offsets)
        return (vmpi_part){(char *)a->receive + a->offsets[peer], a->counts[peer], a->receive_types[peer]};
    if (!a->receive_types)
        return (vmpi_part){vmpi_at(a->receive, a->displacements[peer], a->receive_type), a->counts[peer],
                           a->receive_type};
    return (vmpi_part){(char *)a->receive + a->displacements[peer], a->counts[peer], a->receive_types[peer]};
}

vmpi_part vmpi_sent_to(const vmpi_arrival *a, int peer)
{
    void *send = (void *)a->send;
    if (send == MPI_IN_PLACE)
        return vmpi_received_from(a, peer);
    if (a->one_block)
        return (vmpi_part){send, a->send_count, a->send_type};
    if (a->send_offsets)
        return (vmpi_part){(char *)send + a->send_offsets[peer], a->send_counts[peer], a->send_types[peer]};
    if (!a->send_counts)
        return (vmpi_part){vmpi_at(send, (ptrdiff_t)peer * a->send_count, a->send_type), a->send_count, a->send_type};
    if (!a->send_types)
        return (vmpi_part){vmpi_at(send, a->send_displacements[peer], a->send_type), a->send_counts[peer],
                           a->send_type};
    return (vmpi_part){(char *)send + a->send_displacements[peer], a->send_counts[peer], a->send_types[peer]};
}

/* For data in place, each pair of ranks swaps its two blocks. */
static void swap(vmpi_part one, vmpi_part other)
{
    size_t bytes = vmpi_packed_bytes(one.type, one.count);
    void *packed = vmpi_alloc(1, bytes);
    vmpi_pack(one.at, one.count, one.type, packed);
    vmpi_move(other.at, other.count, other.type, one.at, one.count, one.type);
    vmpi_unpack(packed, bytes, other.at, other.type);
    free(packed);
}

static void exchange_all(const vmpi_sides *s)
{
    for (int i = 0; i < s->senders; i++)
        for (int j = 0; j < s->receivers; j++) {
            const vmpi_arrival *from = &s->from[i], *to = &s->to[j];
            if (from->send == MPI_IN_PLACE) {
                if (i < j)
                    swap(vmpi_received_from(from, j), vmpi_received_from(to, i));
                continue;
            }
            vmpi_part source = vmpi_sent_to(from, j), target = vmpi_received_from(to, i);
            vmpi_move(source.at, source.count, source.type, target.at, target.count, target.type);
        }
}

static int exchange(vmpi_arrival mine, MPI_Comm comm, MPI_Request *request)
{
    size_t bytes = 0;
    for (int i = 0; i < vmpi_peers(vmpi_comm(comm)); i++) {
        vmpi_part part = vmpi_sent_to(&mine, i);
        bytes += vmpi_packed_bytes(part.type, part.count);
    }
    return vmpi_exchange(mine, comm, bytes, exchange_all, request);
}

int MPI_Barrier(MPI_Comm comm)
{
    VMPI_ENTER("MPI_Barrier");
    return vmpi_exchange((vmpi_arrival){.call = "MPI_Barrier", .action = "barrier"}, comm, 0, NULL, NULL);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    VMPI_ENTER("MPI_Ibarrier");
    return vmpi_exchange((vmpi_arrival){.call = "MPI_Ibarrier", .action = "barrier"}, comm, 0, NULL, request);
}

static int gather(vmpi_arrival mine, MPI_Comm comm, MPI_Request *request)
{
    return vmpi_exchange(mine, comm, vmpi_bytes_sent(&mine), gather_to_all, request);
}

VMPI_COLLECTIVE(Allgather, Iallgather, (VMPI_SENT, VMPI_RECEIVED), gather, .action = "allgather", VMPI_OF_SENT,
                VMPI_OF_RECEIVED)
VMPI_COLLECTIVE(Allgatherv, Iallgatherv, (VMPI_SENT, VMPI_RECEIVED_EACH), gather, .action = "allgatherv", VMPI_OF_SENT,
                VMPI_OF_RECEIVED_EACH)
VMPI_COLLECTIVE(Alltoall, Ialltoall, (VMPI_SENT, VMPI_RECEIVED), exchange, .action = "alltoall", VMPI_OF_SENT,
                VMPI_OF_RECEIVED)
VMPI_COLLECTIVE(Alltoallv, Ialltoallv, (VMPI_SENT_EACH, VMPI_RECEIVED_EACH), exchange, .action = "alltoallv",
                VMPI_OF_SENT_EACH, VMPI_OF_RECEIVED_EACH)
VMPI_COLLECTIVE(Alltoallw, Ialltoallw,
                (const void *send, const int send_counts[], const int send_displacements[],
                 const MPI_Datatype send_types[], void *receive, const int counts[], const int displacements[],
                 const MPI_Datatype receive_types[]),
                exchange, .action = "alltoallv", .send = send, .send_counts = send_counts,
                .send_displacements = send_displacements, .send_types = send_types, .receive = receive,
                .counts = counts, .displacements = displacements, .receive_types = receive_types)
