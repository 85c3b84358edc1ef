/* The command line. The Python side checks everything first, with better messages; these checks are a second safety net. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amg.h"

static void __attribute__((noreturn)) refuse(const char *option, const char *value, const char *expected)
{
    fprintf(stderr, "amg-hierarchy: %s '%s': expected %s\n", option, value ? value : "", expected);
    exit(2);
}

static void read_triple(const char *option, const char *value, int out[3])
{
    char rest;
    if (sscanf(value, "%dx%dx%d%c", &out[0], &out[1], &out[2], &rest) != 3 || out[0] < 1 || out[1] < 1 ||
        out[2] < 1)
        refuse(option, value, "three positive integers like 8x8x8");
}

static int read_int(const char *option, const char *value, int least)
{
    char *end;
    long number = strtol(value, &end, 10);
    if (*end || number < least || number > 2147483647L)
        refuse(option, value, "an integer");
    return (int)number;
}

static double read_real(const char *option, const char *value)
{
    char *end;
    double number = strtod(value, &end);
    if (*end)
        refuse(option, value, "a number");
    return number;
}

static void read_cycle(amg_settings *s, const char *option, const char *value)
{
    if (strlen(value) != 1 || !strchr("vwf", *value))
        refuse(option, value, "v, w or f");
    s->w_cycle = *value == 'w';
    s->f_cycle = *value == 'f';
}

/* Names separated by commas: the next one is tried if one does not solve the system. */
static void read_solvers(amg_settings *s, const char *option, const char *value)
{
    s->solvers = 0;
    for (const char *at = value; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const char *name = solver_name(at, strcspn(at, ","));
        if (!name || s->solvers == (int)(sizeof s->solver / sizeof *s->solver))
            refuse(option, value, "cg, gmres, lgmres, bicgstab, or several separated by commas");
        s->solver[s->solvers++] = name;
    }
}

static const amg_settings defaults = {
    .problem = "laplace7",
    .out = ".",
    .points = {10, 10, 10},
    .coefficient = {1.0, 1.0, 1.0},
    .angle = 45.0,
    .epsilon = 0.001,
    .coarsening = 10,       /* HMIS */
    .interpolation = 6,     /* extended+i */
    .max_elements = 4,
    .aggressive_levels = 1, /* multipass interpolation is hypre's default there */
    .functions = 1,
    .smoother = {3, 4},     /* hybrid Gauss-Seidel, forward and backward */
    .relax_weight = 1.0,
    .strength = 0.25,
    .max_levels = 25,
    .solver = {"cg"},
    .solvers = 1,
    .tolerance = 1e-8,
    .max_iterations = 500,
    .redistribute_level = -1,
};

static void read_option(amg_settings *s, const char *option, const char *value)
{
    char rest;
    if (!value)
        refuse(option, value, "a value");
    if (strcmp(option, "--problem") == 0)
        s->problem = value;
    else if (strcmp(option, "--matrix") == 0)
        s->matrix_path = value;
    else if (strcmp(option, "--out") == 0)
        s->out = value;
    else if (strcmp(option, "--points") == 0)
        read_triple(option, value, s->points);
    else if (strcmp(option, "--grid") == 0)
        read_triple(option, value, s->grid);
    else if (strcmp(option, "--coefficients") == 0) {
        if (sscanf(value, "%lf,%lf,%lf%c", &s->coefficient[0], &s->coefficient[1], &s->coefficient[2],
                             &rest) != 3)
            refuse(option, value, "three numbers like 1,1,0.001");
    } else if (strcmp(option, "--angle") == 0)
        s->angle = read_real(option, value);
    else if (strcmp(option, "--epsilon") == 0)
        s->epsilon = read_real(option, value);
    else if (strcmp(option, "--coarsening") == 0)
        s->coarsening = read_int(option, value, 0);
    else if (strcmp(option, "--interpolation") == 0)
        s->interpolation = read_int(option, value, 0);
    else if (strcmp(option, "--max-elements") == 0)
        s->max_elements = read_int(option, value, 0);
    else if (strcmp(option, "--aggressive") == 0)
        s->aggressive_levels = read_int(option, value, 0);
    else if (strcmp(option, "--functions") == 0)
        s->functions = read_int(option, value, 1);
    else if (strcmp(option, "--nodal") == 0)
        s->nodal = read_int(option, value, 0);
    else if (strcmp(option, "--smoother") == 0) {
        if (sscanf(value, "%d,%d%c", &s->smoother[0], &s->smoother[1], &rest) != 2)
            refuse(option, value, "hypre's types for the downward and upward sweep, like 3,4");
    } else if (strcmp(option, "--relax-weight") == 0)
        s->relax_weight = read_real(option, value);
    else if (strcmp(option, "--cycle") == 0)
        read_cycle(s, option, value);
    else if (strcmp(option, "--strength") == 0)
        s->strength = read_real(option, value);
    else if (strcmp(option, "--truncation") == 0)
        s->truncation = read_real(option, value);
    else if (strcmp(option, "--max-levels") == 0)
        s->max_levels = read_int(option, value, 1);
    else if (strcmp(option, "--solve") == 0)
        s->solve = read_int(option, value, 0);
    else if (strcmp(option, "--solver") == 0)
        read_solvers(s, option, value);
    else if (strcmp(option, "--null-space") == 0)
        s->null_space = read_int(option, value, 0);
    else if (strcmp(option, "--tolerance") == 0)
        s->tolerance = read_real(option, value);
    else if (strcmp(option, "--redistribute") == 0) {
        if (sscanf(value, "%d:%d%c", &s->redistribute_level, &s->redistribute_ranks, &rest) != 2 ||
            s->redistribute_level < 1 || s->redistribute_ranks < 1)
            refuse(option, value, "LEVEL:RANKS with LEVEL >= 1");
    } else
        refuse("option", option, "one of the options in amg/arguments.c");
}

amg_settings read_arguments(int argc, char **argv, int ranks)
{
    amg_settings s = defaults;
    for (int i = 1; i < argc; i += 2)
        read_option(&s, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
    int needs_grid = strcmp(s.problem, "file") != 0;
    if (needs_grid && (long)s.grid[0] * s.grid[1] * s.grid[2] != ranks)
        refuse("--grid", "", "a product equal to the number of ranks");
    if (strcmp(s.problem, "rotated") == 0 && (s.grid[2] != 1 || s.points[2] != 1))
        refuse("--points", "", "one point and one rank in the third direction, because the rotated problem has two dimensions");
    return s;
}
