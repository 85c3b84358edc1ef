/* The state of Fortran's random numbers (random_number, and the older rand), each rank's own, like a process's.
 *
 * The state lies in the shared library libgfortran. These functions stand before the library's: they first exchange the
 * state if another rank drew last. Ranks that draw in turns pay for it, a rank that draws many numbers does not. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

#include "runtime.h"

typedef void function(void *, void *, void *);

static function *library(const char *name)
{
    function *found = (function *)dlsym(RTLD_NEXT, name);
    if (!found)
        vmpi_fail("%s is not in a shared library: link libgfortran dynamically", name);
    return found;
}

/* ---- random_number, random_seed ---- */

/* An array's descriptor since version 9 of the compiler. */
typedef struct {
    void *base;
    size_t offset, element_bytes;
    int version;
    signed char rank, type;
    short attribute;
    ptrdiff_t span, stride, lower, upper;
} descriptor;

static vmpi_rank *owner; /* whose state the library has */

/* Reads or sets the library's state: `get` or not. Rank `of` keeps it between its turns. */
static void exchange(vmpi_rank *of, int get)
{
    static function *seed;
    static int words;
    if (!seed) {
        seed = library("_gfortran_random_seed_i4");
        seed(&words, NULL, NULL);
    }
    if (!of->random)
        of->random = vmpi_alloc((size_t)words, sizeof *of->random);
    descriptor all = {of->random, (size_t)-1, sizeof *of->random, 0, 1, 1, 0, sizeof *of->random, 1, 1, words};
    seed(NULL, get ? NULL : &all, get ? &all : NULL);
}

static void take_turn(void)
{
    if (owner == vmpi_current || !vmpi_current)
        return;
    if (owner)
        exchange(owner, 1);
    owner = vmpi_current;
    if (owner->random)
        exchange(owner, 0);
    else
        library("_gfortran_random_seed_i4")(NULL, NULL, NULL); /* a new process draws its seed */
}

#define OWN_STATE(name)                                                                                                \
    void name(void *first, void *second, void *third);                                                                 \
    void name(void *first, void *second, void *third)                                                                  \
    {                                                                                                                  \
        static function *real;                                                                                         \
        if (!real)                                                                                                     \
            real = library(#name);                                                                                     \
        take_turn();                                                                                                   \
        real(first, second, third);                                                                                    \
    }

OWN_STATE(_gfortran_random_r4)
OWN_STATE(_gfortran_random_r8)
OWN_STATE(_gfortran_random_r10)
OWN_STATE(_gfortran_random_r16)
OWN_STATE(_gfortran_arandom_r4)
OWN_STATE(_gfortran_arandom_r8)
OWN_STATE(_gfortran_arandom_r10)
OWN_STATE(_gfortran_arandom_r16)
OWN_STATE(_gfortran_random_seed_i4)
OWN_STATE(_gfortran_random_seed_i8)
OWN_STATE(_gfortran_random_init)

/* ---- srand, irand, rand: extensions of gfortran. The last number is the state. ---- */

static int last __attribute__((section(".data.vmpi_of_the_program"))) = 1; /* as in the library; see libc.c */

void _gfortran_srand(int *seed);
void _gfortran_srand(int *seed)
{
    last = *seed;
}

/* The library continues after the rank's last number. An argument restarts: 1 from the library's seed, others from it. */
static void continue_from(int *seed)
{
    static void (*real)(int *);
    if (!real)
        real = (void (*)(int *))(void (*)(void))library("_gfortran_srand");
    if (seed && *seed)
        last = *seed == 1 ? 0 : *seed;
    real(&last);
}

int _gfortran_irand(int *seed);
int _gfortran_irand(int *seed)
{
    static int (*real)(int *);
    if (!real)
        real = (int (*)(int *))(void (*)(void))library("_gfortran_irand");
    continue_from(seed);
    return last = real(&(int){0});
}

float _gfortran_rand(int *seed);
float _gfortran_rand(int *seed)
{
    static float (*real)(int *);
    if (!real)
        real = (float (*)(int *))(void (*)(void))library("_gfortran_rand");
    continue_from(seed);
    float fraction = real(&(int){0});
    _gfortran_irand(NULL); /* from the same state: it is the number behind the fraction */
    return fraction;
}
