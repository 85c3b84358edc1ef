/* The neighbours of a rank in a topology. */
#include <stdlib.h>

#include "recorder.h"

static void reserve(request *into, int sources, int others)
{
    into->sources = sources;
    into->others = others;
    into->neighbour = recorder_alloc(into->neighbour, (size_t)sources + (size_t)others, sizeof *into->neighbour);
}

void recorder_find_neighbours(MPI_Comm comm, request *into)
{
    int kind, rank, count = 0, other = 0, weighted;
    PMPI_Topo_test(comm, &kind);
    PMPI_Comm_rank(comm, &rank);
    if (kind == MPI_DIST_GRAPH) {
        PMPI_Dist_graph_neighbors_count(comm, &count, &other, &weighted);
        reserve(into, count, other);
        int *weights = recorder_alloc(NULL, (size_t)count + (size_t)other, sizeof *weights);
        PMPI_Dist_graph_neighbors(comm, count, into->neighbour, weights, other, into->neighbour + count,
                                  weights + count);
        free(weights);
        return;
    }
    if (kind == MPI_CART) {
        PMPI_Cartdim_get(comm, &count);
        reserve(into, 2 * count, 2 * count);
        for (int i = 0, *at = into->neighbour; i < count; i++, at += 2)
            PMPI_Cart_shift(comm, i, 1, at, at + 1);
        count *= 2;
    } else if (kind == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(comm, rank, &count);
        reserve(into, count, count);
        PMPI_Graph_neighbors(comm, rank, count, into->neighbour);
    }
    for (int i = 0; i < count; i++)
        into->neighbour[count + i] = into->neighbour[i];
}
