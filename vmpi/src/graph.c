/* Graph topologies: the sources and destinations of each rank. Ranks are never reordered. */
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

static int *copied(const int *numbers, int count)
{
    int *copy = vmpi_alloc((size_t)count, sizeof *copy);
    if (count > 0)
        memcpy(copy, numbers, (size_t)count * sizeof *copy);
    return copy;
}

static int *copied_weights(const int *weights, int count)
{
    return !weights || weights == MPI_UNWEIGHTED || weights == MPI_WEIGHTS_EMPTY ? NULL : copied(weights, count);
}

void vmpi_edges_free(MPI_Comm comm)
{
    for (int i = 0; comm->edges && i < comm->size; i++) {
        free(comm->edges[i].source);
        free(comm->edges[i].source_weight);
        free(comm->edges[i].destination);
        free(comm->edges[i].destination_weight);
    }
    free(comm->edges);
}

void vmpi_topology_copy(MPI_Comm from, MPI_Comm to)
{
    if (from->extent) {
        to->dimensions = from->dimensions;
        to->extent = copied(from->extent, from->dimensions);
        to->periodic = copied(from->periodic, from->dimensions);
    }
    if (!from->edges)
        return;
    to->graph = from->graph;
    to->edges = vmpi_alloc((size_t)to->size, sizeof *to->edges);
    for (int i = 0; i < from->size; i++) {
        vmpi_edges *e = &from->edges[i];
        to->edges[i] = (vmpi_edges){e->sources,
                                    e->destinations,
                                    copied(e->source, e->sources),
                                    copied(e->destination, e->destinations),
                                    copied_weights(e->source_weight, e->sources),
                                    copied_weights(e->destination_weight, e->destinations),
                                    e->weighted};
    }
}

/* The caller's edges in a new communicator of the same ranks. */
static vmpi_edges *in_new_graph(MPI_Comm handle, int kind, int keep, MPI_Comm *out)
{
    int rank = vmpi_comm_rank_of(vmpi_comm(handle), vmpi_current->world);
    MPI_Comm_split(handle, keep ? 0 : MPI_UNDEFINED, rank, out);
    if (*out == MPI_COMM_NULL)
        return NULL;
    if (!(*out)->edges)
        (*out)->edges = vmpi_alloc((size_t)(*out)->size, sizeof *(*out)->edges);
    (*out)->graph = kind;
    return &(*out)->edges[rank];
}

static void check_ranks(const int *ranks, int count, int size)
{
    for (int i = 0; i < count; i++)
        if (ranks[i] < 0 || ranks[i] >= size)
            vmpi_error(MPI_ERR_RANK, "neighbour %d is not in a communicator of %d ranks", ranks[i], size);
}

int MPI_Dist_graph_create_adjacent(MPI_Comm handle, int sources, const int source[], const int source_weight[],
                                   int destinations, const int destination[], const int destination_weight[],
                                   MPI_Info info, int reorder, MPI_Comm *out)
{
    VMPI_ENTER("MPI_Dist_graph_create_adjacent");
    (void)info;
    (void)reorder;
    int size = vmpi_comm(handle)->size;
    check_ranks(source, sources, size);
    check_ranks(destination, destinations, size);
    *in_new_graph(handle, MPI_DIST_GRAPH, 1, out) = (vmpi_edges){sources,
                                                                 destinations,
                                                                 copied(source, sources),
                                                                 copied(destination, destinations),
                                                                 copied_weights(source_weight, sources),
                                                                 copied_weights(destination_weight, destinations),
                                                                 source_weight != MPI_UNWEIGHTED ||
                                                                     destination_weight != MPI_UNWEIGHTED};
    return MPI_SUCCESS;
}

static void grow(int **list, int count, int value)
{
    *list = vmpi_resize(*list, (size_t)count + 1, sizeof **list);
    (*list)[count] = value;
}

/* All edges, by rank and in the given order: counts are lengths, send_counts the sources, displacements the
 * destinations, send_displacements the weights. */
static void spread_edges(MPI_Comm comm)
{
    vmpi_edges *edges = vmpi_alloc((size_t)comm->size, sizeof *edges);
    for (int i = 0; i < comm->size; i++) {
        const vmpi_arrival *a = &comm->at[i];
        edges[i].weighted = a->key;
        const int *to = a->displacements, *weight = a->send_displacements;
        for (int s = 0; s < a->send_count; s++)
            for (int d = 0; d < a->counts[s]; d++, to++) {
                vmpi_edges *from_here = &edges[a->send_counts[s]], *to_there = &edges[*to];
                if (weight != NULL) {
                    grow(&from_here->destination_weight, from_here->destinations, *weight);
                    grow(&to_there->source_weight, to_there->sources, *weight++);
                }
                grow(&from_here->destination, from_here->destinations++, *to);
                grow(&to_there->source, to_there->sources++, a->send_counts[s]);
            }
    }
    MPI_Comm made = comm->at[0].communicator;
    made->edges = edges;
    made->graph = MPI_DIST_GRAPH;
}

int MPI_Dist_graph_create(MPI_Comm handle, int count, const int source[], const int degrees[], const int destination[],
                          const int weight[], MPI_Info info, int reorder, MPI_Comm *out)
{
    VMPI_ENTER("MPI_Dist_graph_create");
    (void)info;
    (void)reorder;
    MPI_Comm comm = vmpi_comm(handle);
    int total = 0;
    check_ranks(source, count, comm->size);
    for (int i = 0; i < count; i++)
        total += degrees[i];
    check_ranks(destination, total, comm->size);
    MPI_Comm_split(handle, 0, vmpi_comm_rank_of(comm, vmpi_current->world), out);
    vmpi_arrival mine = {.call = "MPI_Dist_graph_create",
                         .send_count = count,
                         .send_counts = source,
                         .counts = degrees,
                         .displacements = destination,
                         .send_displacements = weight == MPI_UNWEIGHTED || weight == MPI_WEIGHTS_EMPTY ? NULL : weight,
                         .key = weight != MPI_UNWEIGHTED,
                         .communicator = *out};
    vmpi_meet(comm, &mine, spread_edges);
    return MPI_SUCCESS;
}

int MPI_Graph_create(MPI_Comm handle, int nodes, const int index[], const int edges[], int reorder, MPI_Comm *out)
{
    VMPI_ENTER("MPI_Graph_create");
    (void)reorder;
    MPI_Comm comm = vmpi_comm(handle);
    int rank = vmpi_comm_rank_of(comm, vmpi_current->world);
    if (nodes > comm->size)
        vmpi_error(MPI_ERR_ARG, "a graph of %d ranks does not fit a communicator of %d", nodes, comm->size);
    if (!in_new_graph(handle, MPI_GRAPH, rank < nodes, out))
        return MPI_SUCCESS;
    for (int i = 0, first = 0; i < nodes && !(*out)->edges[i].source; first = index[i++]) {
        int degree = index[i] - first;
        check_ranks(edges + first, degree, nodes);
        (*out)->edges[i] =
            (vmpi_edges){degree, degree, copied(edges + first, degree), copied(edges + first, degree), NULL, NULL, 0};
    }
    return MPI_SUCCESS;
}

static MPI_Comm with_graph(MPI_Comm handle, int kind)
{
    MPI_Comm comm = vmpi_comm(handle);
    if (!comm->edges || comm->graph != kind)
        vmpi_error(MPI_ERR_TOPOLOGY, "communicator %d has no graph topology of this kind", comm->id);
    return comm;
}

static vmpi_edges *edges_of(MPI_Comm comm, int rank)
{
    if (rank < 0 || rank >= comm->size)
        vmpi_error(MPI_ERR_RANK, "rank %d is not in a communicator of %d ranks", rank, comm->size);
    return &comm->edges[rank];
}

int MPI_Graph_neighbors_count(MPI_Comm handle, int rank, int *count)
{
    VMPI_ENTER("MPI_Graph_neighbors_count");
    *count = edges_of(with_graph(handle, MPI_GRAPH), rank)->destinations;
    return MPI_SUCCESS;
}

int MPI_Graph_neighbors(MPI_Comm handle, int rank, int most, int neighbours[])
{
    VMPI_ENTER("MPI_Graph_neighbors");
    vmpi_edges *e = edges_of(with_graph(handle, MPI_GRAPH), rank);
    for (int i = 0; i < e->destinations && i < most; i++)
        neighbours[i] = e->destination[i];
    return MPI_SUCCESS;
}

int MPI_Graphdims_get(MPI_Comm handle, int *nodes, int *edges)
{
    VMPI_ENTER("MPI_Graphdims_get");
    MPI_Comm comm = with_graph(handle, MPI_GRAPH);
    *nodes = comm->size;
    *edges = 0;
    for (int i = 0; i < comm->size; i++)
        *edges += comm->edges[i].destinations;
    return MPI_SUCCESS;
}

int MPI_Graph_get(MPI_Comm handle, int most_index, int most_edges, int index[], int edges[])
{
    VMPI_ENTER("MPI_Graph_get");
    MPI_Comm comm = with_graph(handle, MPI_GRAPH);
    for (int i = 0, total = 0; i < comm->size; i++) {
        const vmpi_edges *e = &comm->edges[i];
        for (int k = 0; k < e->destinations && total + k < most_edges; k++)
            edges[total + k] = e->destination[k];
        total += e->destinations;
        if (i < most_index)
            index[i] = total;
    }
    return MPI_SUCCESS;
}

int MPI_Graph_map(MPI_Comm handle, int nodes, const int index[], const int edges[], int *rank)
{
    VMPI_ENTER("MPI_Graph_map");
    (void)index, (void)edges;
    int mine = vmpi_comm_rank_of(vmpi_comm(handle), vmpi_current->world);
    *rank = mine < nodes ? mine : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int MPI_Dist_graph_neighbors_count(MPI_Comm handle, int *sources, int *destinations, int *weighted)
{
    VMPI_ENTER("MPI_Dist_graph_neighbors_count");
    MPI_Comm comm = with_graph(handle, MPI_DIST_GRAPH);
    vmpi_edges *e = edges_of(comm, vmpi_comm_rank_of(comm, vmpi_current->world));
    *sources = e->sources;
    *destinations = e->destinations;
    *weighted = e->weighted;
    return MPI_SUCCESS;
}

static void list(const int *from, int count, int most, int *to)
{
    for (int i = 0; from && to && to != MPI_UNWEIGHTED && i < count && i < most; i++)
        to[i] = from[i];
}

int MPI_Dist_graph_neighbors(MPI_Comm handle, int most_sources, int source[], int source_weight[],
                             int most_destinations, int destination[], int destination_weight[])
{
    VMPI_ENTER("MPI_Dist_graph_neighbors");
    MPI_Comm comm = with_graph(handle, MPI_DIST_GRAPH);
    vmpi_edges *e = edges_of(comm, vmpi_comm_rank_of(comm, vmpi_current->world));
    list(e->source, e->sources, most_sources, source);
    list(e->source_weight, e->sources, most_sources, source_weight);
    list(e->destination, e->destinations, most_destinations, destination);
    list(e->destination_weight, e->destinations, most_destinations, destination_weight);
    return MPI_SUCCESS;
}
