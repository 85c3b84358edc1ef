/* Communicators and requests of a rank, by their handles. */
#include <stdlib.h>
#include <string.h>

#include "recorder.h"

/* More buckets make long lists of open requests shorter; this is 32 KiB. */
enum { BUCKETS = 4096 };

static communicator *communicators[BUCKETS];
static request *requests[BUCKETS], *spare;
static uint32_t led; /* communicators whose number this rank has made */

/* A handle is a pointer (Open MPI) or an integer (MPICH). */
static uint64_t bits(const void *handle, size_t size)
{
    uint64_t value = 0;
    memcpy(&value, handle, size < sizeof value ? size : sizeof value);
    return value;
}

static size_t bucket(uint64_t handle)
{
    return (size_t)((handle * 0x9E3779B97F4A7C15u) >> 52);
}

static void find_peers(communicator *of, MPI_Comm comm)
{
    MPI_Group group, all;
    int *ranks;
    if (of->has_remote)
        PMPI_Comm_remote_group(comm, &group);
    else
        PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &all);
    PMPI_Group_size(group, &of->peers);
    of->world = recorder_alloc(NULL, (size_t)of->peers, sizeof *of->world);
    ranks = recorder_alloc(NULL, (size_t)of->peers, sizeof *ranks);
    for (int i = 0; i < of->peers; i++)
        ranks[i] = i;
    PMPI_Group_translate_ranks(group, of->peers, ranks, all, of->world);
    free(ranks);
    PMPI_Group_free(&group);
    PMPI_Group_free(&all);
}

static communicator *add(MPI_Comm comm, int number, int named)
{
    communicator *of = recorder_alloc(NULL, 1, sizeof *of);
    *of = (communicator){.handle = bits(&comm, sizeof comm), .number = number, .named = named};
    PMPI_Comm_test_inter(comm, &of->has_remote);
    PMPI_Comm_size(comm, &of->size);
    PMPI_Comm_rank(comm, &of->rank);
    if (!named && comm != MPI_COMM_WORLD)
        find_peers(of, comm);
    communicator **head = &communicators[bucket(of->handle)];
    of->next = *head;
    *head = of;
    return of;
}

communicator *recorder_communicator(MPI_Comm comm)
{
    uint64_t handle = bits(&comm, sizeof comm);
    communicator *of = communicators[bucket(handle)];
    while (of && of->handle != handle)
        of = of->next;
    /* The world, MPI_COMM_SELF, and communicators of calls that are not recorded. */
    return of ? of : add(comm, 0, 0);
}

void recorder_created(communicator *parent, MPI_Comm made)
{
    int can_name = parent && !parent->has_remote && (parent->named || parent->world == NULL);
    if (made == MPI_COMM_NULL) {
        if (can_name)
            line_split(recorder_place(parent->number), 0, 0, 0);
        return;
    }
    int inter, rank, size, number = 0;
    PMPI_Comm_test_inter(made, &inter);
    if (inter || !can_name) {
        add(made, 0, 0);
        return;
    }
    /* Its first rank makes a number that no other rank makes. */
    PMPI_Comm_rank(made, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        number = 1 + recorder_rank + (int)led++ * size;
    PMPI_Bcast(&number, 1, MPI_INT, 0, made);
    communicator *of = add(made, number, 1);
    line_split(recorder_place(parent->number), number, of->size, of->rank);
}

/* Without a message: the program may do something else before the wait. All ranks count the duplicates of their parent
 * alike. Other numbers are below 2^30; two of these are rarely equal. */
void recorder_duplicate(MPI_Comm comm, MPI_Comm *made, MPI_Request handle)
{
    communicator *parent = recorder_communicator(comm);
    if (parent->has_remote || parent->world) {
        recorder_request(handle, NOTHING, NULL);
        return;
    }
    request *of = recorder_request(handle, DUPLICATE, parent);
    uint64_t mixed = (((uint64_t)parent->number << 32) + ++parent->duplicates) * 0x9E3779B97F4A7C15u;
    of->number = (1u << 30) + (uint32_t)(mixed >> 34);
    of->made = made;
    line_split(recorder_place(parent->number), (int)of->number, parent->size, parent->rank);
}

void recorder_duplicated(const request *of)
{
    add(*of->made, (int)of->number, 1);
}

static void discard(communicator *of)
{
    communicator **link = &communicators[bucket(of->handle)];
    while (*link && *link != of)
        link = &(*link)->next;
    if (*link)
        *link = of->next;
    of->next = NULL;
    if (of->open > 0)
        return;
    free(of->world);
    free(of);
}

void recorder_freed(communicator *of)
{
    if (of->named)
        line_free(recorder_place(of->number));
    of->freed = 1;
    discard(of);
}

int recorder_peer(const communicator *comm, int rank)
{
    if (rank == MPI_PROC_NULL)
        return MPI_PROC_NULL;
    if (rank == MPI_ANY_SOURCE)
        return LINE_ANY_SOURCE;
    if (!comm->world)
        return rank;
    if (rank < 0 || rank >= comm->peers || comm->world[rank] == MPI_UNDEFINED)
        return MPI_PROC_NULL;
    return comm->world[rank];
}

request *recorder_request(MPI_Request handle, enum request_kind kind, communicator *comm)
{
    request *of = spare;
    if (of)
        spare = of->next;
    else
        of = recorder_alloc(NULL, 1, sizeof *of);
    *of = (request){.handle = bits(&handle, sizeof handle), .kind = kind, .active = 1, .comm = comm};
    request **link = &requests[bucket(of->handle)];
    while (*link)
        link = &(*link)->next;
    *link = of;
    if (comm)
        comm->open++;
    return of;
}

request *recorder_find(MPI_Request handle)
{
    uint64_t wanted = bits(&handle, sizeof handle);
    request *of = handle == MPI_REQUEST_NULL ? NULL : requests[bucket(wanted)];
    while (of && of->handle != wanted)
        of = of->next;
    return of;
}

void recorder_forget(request *of)
{
    request **link = &requests[bucket(of->handle)];
    while (*link != of)
        link = &(*link)->next;
    *link = of->next;
    if (of->comm && --of->comm->open == 0 && of->comm->freed)
        discard(of->comm);
    free(of->neighbour);
    of->next = spare;
    spare = of;
}
