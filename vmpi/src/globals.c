/* Global variables, private to each rank.
 *
 * All ranks run the program at the same addresses. So when another rank continues, its writable data replaces the data
 * of the previous rank, which is saved. Data of vmpi itself is not exchanged. A rank starts with the data of the file,
 * and runs the constructors of the program's static objects itself. While a rank's data is saved, transfers into or out
 * of its variables use the saved bytes.
 *
 * The data of vmpi lies in separate sections (see the Makefile), the data of the C library in another file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/auxv.h>

#include "runtime.h"

extern char __data_start[], _edata[], __bss_start[], _end[]; /* the linker's */
extern char __start_vmpi_data[], __stop_vmpi_data[], __start_vmpi_bss[], __stop_vmpi_bss[];

typedef struct {
    char *start;
    size_t bytes, offset; /* size, and offset in an image */
} piece;

enum { MOST_PIECES = 8 };
static piece pieces[MOST_PIECES];
static int used;
static size_t image_bytes;
static char *pristine;      /* data before any constructor of the program */
static vmpi_rank *resident; /* the rank whose data is in place */
static void (*construct)(void);

/* Adds [from, to) without vmpi's own data. */
static void add(char *from, char *to)
{
    char *own[2][2] = {{__start_vmpi_data, __stop_vmpi_data}, {__start_vmpi_bss, __stop_vmpi_bss}};
    for (int i = 0; i < 2; i++)
        if (own[i][0] < to && own[i][1] > from) {
            add(from, own[i][0]);
            add(own[i][1], to);
            return;
        }
    if (from >= to)
        return;
    if (used == MOST_PIECES)
        vmpi_fail("the program's data has more than %d pieces", MOST_PIECES);
    pieces[used++] = (piece){from, (size_t)(to - from), image_bytes};
    image_bytes += (size_t)(to - from);
}

static void keep(char *image)
{
    for (int i = 0; i < used; i++)
        memcpy(image + pieces[i].offset, pieces[i].start, pieces[i].bytes);
}

static void put(const char *image)
{
    for (int i = 0; i < used; i++)
        memcpy(pieces[i].start, image + pieces[i].offset, pieces[i].bytes);
}

void vmpi_globals_capture(void (*run_constructors)(void))
{
    if (getauxval(AT_BASE) == 0)
        vmpi_fail("the program is linked statically, so its variables cannot be separated from the C library's");
    add(__data_start, _edata);
    add(__bss_start, _end);
    construct = run_constructors;
    pristine = vmpi_alloc(1, image_bytes);
    keep(pristine);
}

void vmpi_globals_check(int ranks)
{
    double need = (double)image_bytes * ranks;
    double there = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (pristine && need > there)
        vmpi_fail(
            "the program's global variables need %zu bytes, %.1f GB for %d ranks; this machine has %.1f GB",
            image_bytes, need / 1e9, ranks, there / 1e9);
}

void vmpi_globals_enter(vmpi_rank *rank)
{
    if (!pristine || resident == rank)
        return;
    if (resident) {
        if (!resident->image)
            resident->image = vmpi_alloc(1, image_bytes);
        keep(resident->image);
    }
    put(rank->image ? rank->image : pristine);
    resident = rank;
}

void vmpi_globals_construct(void)
{
    if (pristine)
        construct();
}

void vmpi_globals_leave(vmpi_rank *rank)
{
    free(rank->image);
    rank->image = NULL;
    if (resident == rank)
        resident = NULL;
}

void *vmpi_address(const vmpi_rank *rank, const void *address)
{
    if (!pristine || rank == resident || !rank->image)
        return (void *)address;
    for (int i = 0; i < used; i++)
        if ((const char *)address >= pieces[i].start && (const char *)address < pieces[i].start + pieces[i].bytes)
            return rank->image + pieces[i].offset + ((const char *)address - pieces[i].start);
    return (void *)address;
}

void vmpi_addresses(vmpi_arrival *a, const vmpi_rank *rank)
{
    if (!pristine || rank == resident)
        return;
    a->send = vmpi_address(rank, a->send);
    a->receive = vmpi_address(rank, a->receive);
    a->counts = vmpi_address(rank, a->counts);
    a->displacements = vmpi_address(rank, a->displacements);
    a->send_counts = vmpi_address(rank, a->send_counts);
    a->send_displacements = vmpi_address(rank, a->send_displacements);
    a->send_types = vmpi_address(rank, a->send_types);
    a->receive_types = vmpi_address(rank, a->receive_types);
    a->send_offsets = vmpi_address(rank, a->send_offsets);
    a->offsets = vmpi_address(rank, a->offsets);
}

void vmpi_check_bottom(const void *buffer, size_t bytes)
{
    if (pristine && !buffer && bytes > 0)
        vmpi_fail("MPI_BOTTOM is not supported in programs whose variables are private to each rank");
}

/* ---- functions that run when a rank ends ---- */

typedef struct vmpi_exit {
    void (*function)(void *);
    void *argument;
    struct vmpi_exit *next;
} vmpi_exit;

int vmpi_at_exit(void (*function)(void *), void *argument)
{
    if (!vmpi_current)
        return 0; /* constructed before the ranks exist, so no rank uses it */
    vmpi_exit *first = vmpi_alloc(1, sizeof *first);
    *first = (vmpi_exit){function, argument, vmpi_current->exits};
    vmpi_current->exits = first;
    return 0;
}

void vmpi_globals_destruct(void)
{
    while (vmpi_current->exits) {
        vmpi_exit *first = vmpi_current->exits;
        vmpi_current->exits = first->next;
        first->function(first->argument);
        free(first);
    }
}
