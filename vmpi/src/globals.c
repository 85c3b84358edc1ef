/* Global variables, private to each rank.
 *
 * All ranks run the program at the same addresses. So when another rank continues, its writable data takes the place of
 * the data of the previous rank. Data of vmpi itself is not exchanged. A rank starts with the data of the file, and runs
 * the constructors of the program's static objects itself.
 *
 * Each rank has an image of all data. Little data is copied between its place and the image. Much data is mapped: the
 * images lie in a file in memory, and the pages of the rank that continues are mapped at the data's place. What a rank
 * does not touch then takes neither time nor memory. While another rank runs, transfers into or out of a rank's variables
 * use its image.
 *
 * The data of vmpi lies in separate sections (see the Makefile), the data of the C library in another file. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "runtime.h"

extern char __data_start[], _edata[], __bss_start[], _end[]; /* the linker's */
extern char __start_vmpi_data[], __stop_vmpi_data[], __start_vmpi_bss[], __stop_vmpi_bss[];

typedef struct {
    char *start;
    size_t bytes, offset; /* size, and offset in an image */
    int mapped;           /* whole pages, exchanged by mapping; otherwise by copying */
} piece;

enum { MOST_PIECES = 8, LEAST_MAPPED = 512 * 1024 };
static piece pieces[MOST_PIECES];
static int used;
static size_t image_bytes;      /* whole pages */
static char *pristine;          /* an image of the data before any constructor of the program */
static vmpi_rank *resident;     /* the rank whose data is in place */
static vmpi_rank *ended;        /* a rank whose image is freed when another rank's data is in place */
static int images_file = -1;    /* a file in memory with the images of all ranks, if a piece is mapped */
static char *images;            /* and where it is mapped as a whole */
static void (*construct)(void);

static size_t whole_pages(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

static void add_piece(char *from, char *to, int mapped)
{
    if (from >= to)
        return;
    if (used == MOST_PIECES)
        vmpi_fail("the program's data has more than %d pieces", MOST_PIECES);
    pieces[used++] = (piece){from, (size_t)(to - from), image_bytes, mapped};
    image_bytes += (size_t)(to - from);
}

/* Adds [from, to) without vmpi's own data; if it is large, its whole pages apart. */
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
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *first = from + (whole_pages((size_t)from) - (size_t)from);
    char *last = to - (size_t)to % page;
    if (first >= last || last - first < LEAST_MAPPED) {
        add_piece(from, to, 0);
        return;
    }
    /* A variable may begin in one piece and end in the next, so the pieces follow each other in an image, too. */
    image_bytes = whole_pages(image_bytes) + (size_t)from % page;
    add_piece(from, first, 0);
    add_piece(first, last, 1);
    add_piece(last, to, 0);
}

static void keep(char *image)
{
    for (int i = 0; i < used; i++)
        if (!images || !pieces[i].mapped)
            memcpy(image + pieces[i].offset, pieces[i].start, pieces[i].bytes);
}

static void put(const char *image)
{
    for (int i = 0; i < used; i++) {
        const piece *p = &pieces[i];
        if (!images || !p->mapped)
            memcpy(p->start, image + p->offset, p->bytes);
        else if (mmap(p->start, p->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, images_file,
                      image - images + (off_t)p->offset) == MAP_FAILED)
            vmpi_fail("the variables of a rank could not be mapped");
    }
}

void vmpi_globals_capture(void (*run_constructors)(void))
{
    if (getauxval(AT_BASE) == 0)
        vmpi_fail("the program is linked statically, so its variables cannot be separated from the C library's");
    add(__data_start, _edata);
    add(__bss_start, _end);
    image_bytes = whole_pages(image_bytes);
    construct = run_constructors;
    pristine = vmpi_alloc(1, image_bytes);
    keep(pristine);
}

void vmpi_globals_start(int ranks)
{
    double need = (double)image_bytes * ranks;
    double there = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (!pristine)
        return;
    if (need > there)
        vmpi_fail(
            "the program's global variables need %zu bytes, %.1f GB for %d ranks; this machine has %.1f GB",
            image_bytes, need / 1e9, ranks, there / 1e9);
    for (int i = 0; i < used && images_file < 0; i++)
        if (pieces[i].mapped)
            images_file = memfd_create("vmpi", MFD_CLOEXEC);
    if (images_file < 0 || ftruncate(images_file, (off_t)(image_bytes * (size_t)ranks)) != 0)
        return; /* everything is copied */
    void *all = mmap(NULL, image_bytes * (size_t)ranks, PROT_READ | PROT_WRITE, MAP_SHARED, images_file, 0);
    images = all == MAP_FAILED ? NULL : all;
}

/* Data of the file. Pages of zeros are left out where they are there already. */
static char *new_image(const vmpi_rank *rank)
{
    char *image = images ? images + image_bytes * (size_t)rank->world : vmpi_alloc(1, image_bytes);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t at = 0; at < image_bytes; at += page)
        if (pristine[at] != 0 || memcmp(pristine + at, pristine + at + 1, page - 1) != 0)
            memcpy(image + at, pristine + at, page);
    return image;
}

static void free_image(vmpi_rank *rank)
{
    if (images && rank->image)
        madvise(rank->image, image_bytes, MADV_REMOVE);
    else
        free(rank->image);
    rank->image = NULL;
}

void vmpi_globals_enter(vmpi_rank *rank)
{
    if (!pristine || resident == rank)
        return;
    if (resident)
        keep(resident->image);
    if (!rank->image)
        rank->image = new_image(rank);
    put(rank->image);
    resident = rank;
    if (ended)
        free_image(ended);
    ended = NULL;
}

void vmpi_globals_construct(void)
{
    if (pristine)
        construct();
}

void vmpi_globals_leave(vmpi_rank *rank)
{
    if (resident == rank) { /* what the process does at its end may need the last rank's data */
        ended = rank;
        resident = NULL;
    } else {
        free_image(rank);
    }
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
