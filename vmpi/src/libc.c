/* Functions of the C library with a state behind them, each rank's own: random numbers and strtok.
 *
 * Ranks of a program often seed alike and expect the same numbers, whatever runs between two calls. The states lie in the
 * program's data, not in vmpi's, so they are exchanged with it (globals.c). The numbers are the C library's. */
#include <stdlib.h>
#include <string.h>

/* A program may have a function of this name. */
#pragma weak random
#pragma weak srandom
#pragma weak rand
#pragma weak srand
#pragma weak initstate
#pragma weak setstate
#pragma weak drand48
#pragma weak erand48
#pragma weak lrand48
#pragma weak nrand48
#pragma weak mrand48
#pragma weak jrand48
#pragma weak srand48
#pragma weak seed48
#pragma weak lcong48
#pragma weak strtok

#define OF_THE_PROGRAM __attribute__((section(".data.vmpi_of_the_program"))) /* the Makefile moves .data and .bss only */

/* ---- rand, random ---- */

static struct random_data generator OF_THE_PROGRAM = {0};
static char table[128] OF_THE_PROGRAM = {0};

static struct random_data *started(void)
{
    if (!generator.state)
        initstate_r(1, table, sizeof table, &generator);
    return &generator;
}

long random(void)
{
    int number;
    random_r(started(), &number);
    return number;
}

void srandom(unsigned int seed)
{
    srandom_r(seed, started());
}

int rand(void)
{
    return (int)random();
}

void srand(unsigned int seed)
{
    srandom(seed);
}

char *initstate(unsigned int seed, char *state, size_t bytes)
{
    char *before = (char *)(started()->state - 1); /* as the C library: its first word is the type */
    return initstate_r(seed, state, bytes, &generator) ? NULL : before;
}

char *setstate(char *state)
{
    char *before = (char *)(started()->state - 1);
    return setstate_r(state, &generator) ? NULL : before;
}

/* ---- drand48 and its kin ---- */

static struct drand48_data congruence OF_THE_PROGRAM = {0};

double drand48(void)
{
    double number;
    drand48_r(&congruence, &number);
    return number;
}

double erand48(unsigned short state[3])
{
    double number;
    erand48_r(state, &congruence, &number);
    return number;
}

long lrand48(void)
{
    long number;
    lrand48_r(&congruence, &number);
    return number;
}

long nrand48(unsigned short state[3])
{
    long number;
    nrand48_r(state, &congruence, &number);
    return number;
}

long mrand48(void)
{
    long number;
    mrand48_r(&congruence, &number);
    return number;
}

long jrand48(unsigned short state[3])
{
    long number;
    jrand48_r(state, &congruence, &number);
    return number;
}

void srand48(long seed)
{
    srand48_r(seed, &congruence);
}

unsigned short *seed48(unsigned short seed[3])
{
    seed48_r(seed, &congruence);
    return congruence.__old_x;
}

void lcong48(unsigned short parameters[7])
{
    lcong48_r(parameters, &congruence);
}

/* ---- strtok ---- */

static char *rest OF_THE_PROGRAM = NULL;

char *strtok(char *text, const char *separators)
{
    return strtok_r(text, separators, &rest);
}
