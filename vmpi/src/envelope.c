/* How a program made a type (MPI_Type_get_envelope), and the basic elements in received bytes. */
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

typedef struct vmpi_recipe {
    int combiner, numbers, addresses, types;
    int *number;
    MPI_Aint *address;
    MPI_Datatype *type;
} vmpi_recipe;

static void *copied(const void *list, int count, size_t bytes)
{
    void *copy = vmpi_alloc((size_t)count, bytes);
    if (count > 0)
        memcpy(copy, list, (size_t)count * bytes);
    return copy;
}

void vmpi_recipe_set(MPI_Datatype type, int combiner, int numbers, const int *number, int addresses, const MPI_Aint *address,
                     int types, const MPI_Datatype *old)
{
    vmpi_recipe *r = type->recipe = vmpi_alloc(1, sizeof *r);
    *r = (vmpi_recipe){combiner,
                       numbers,
                       addresses,
                       types,
                       copied(number, numbers, sizeof *number),
                       copied(address, addresses, sizeof *address),
                       copied(old, types, sizeof(MPI_Datatype))};
    for (int i = 0; i < types; i++)
        vmpi_type_hold(old[i]);
}

void vmpi_recipe_free(MPI_Datatype type)
{
    vmpi_recipe *r = type->recipe;
    if (!r)
        return;
    for (int i = 0; i < r->types; i++)
        vmpi_type_drop(r->type[i]);
    free(r->number);
    free(r->address);
    free(r->type);
    free(r);
}

int MPI_Type_get_envelope(MPI_Datatype type, int *numbers, int *addresses, int *types, int *combiner)
{
    VMPI_ENTER("MPI_Type_get_envelope");
    const vmpi_recipe *r = type->recipe;
    *combiner = r ? r->combiner : MPI_COMBINER_NAMED;
    *numbers = r ? r->numbers : 0;
    *addresses = r ? r->addresses : 0;
    *types = r ? r->types : 0;
    return MPI_SUCCESS;
}

int MPI_Type_get_contents(MPI_Datatype type, int most_numbers, int most_addresses, int most_types, int numbers[],
                          MPI_Aint addresses[], MPI_Datatype types[])
{
    VMPI_ENTER("MPI_Type_get_contents");
    const vmpi_recipe *r = type->recipe;
    if (!r || most_numbers < r->numbers || most_addresses < r->addresses || most_types < r->types)
        vmpi_error(MPI_ERR_TYPE, "the type is predefined, or has more contents than there is room");
    memcpy(numbers, r->number, (size_t)r->numbers * sizeof *numbers);
    memcpy(addresses, r->address, (size_t)r->addresses * sizeof *addresses);
    for (int i = 0; i < r->types; i++) {
        types[i] = r->type[i];
        vmpi_type_hold(types[i]); /* the program frees it */
    }
    return MPI_SUCCESS;
}

/* ---- elements ---- */

/* The elements of a pair such as MPI_DOUBLE_INT: value and index. */
static int is_pair(MPI_Datatype basic)
{
    return basic->element && strchr("2DFHNERP", basic->element);
}

static size_t elements_of(MPI_Datatype type)
{
    return type->only ? type->elements * (is_pair(type->only) ? 2 : 1) : type->elements;
}

static size_t take_copies(MPI_Datatype old, size_t count, size_t *bytes)
{
    size_t found = 0;
    for (size_t i = 0; i < count && *bytes > 0; i++) {
        size_t before = *bytes;
        found += vmpi_elements_in(old, bytes);
        if (before == *bytes)
            break;
    }
    return found;
}

size_t vmpi_elements_in(MPI_Datatype type, size_t *bytes)
{
    if (type->size == 0)
        return 0;
    if (type->only) {
        MPI_Datatype basic = type->only;
        size_t whole = *bytes / basic->size, most = type->elements;
        whole = whole < most ? whole : most;
        *bytes -= whole * basic->size;
        if (!is_pair(basic))
            return whole;
        size_t value = basic->pieces == 2 ? basic->piece[0].bytes : basic->size - sizeof(int), half = 0;
        if (whole < most && *bytes >= value) {
            *bytes -= value;
            half = 1;
        }
        return 2 * whole + half;
    }
    const vmpi_recipe *r = type->recipe;
    size_t found = 0;
    if (!r)
        return 0;
    if (r->combiner == MPI_COMBINER_STRUCT) {
        for (int i = 0; i < r->types && *bytes > 0; i++) {
            size_t before = *bytes, wanted = (size_t)r->number[i + 1] * r->type[i]->size;
            found += take_copies(r->type[i], (size_t)r->number[i + 1], bytes);
            if (before - *bytes < wanted)
                break;
        }
        return found;
    }
    return take_copies(r->type[0], r->type[0]->size ? type->size / r->type[0]->size : 0, bytes);
}

int MPI_Get_elements_x(const MPI_Status *status, MPI_Datatype type, MPI_Count *count)
{
    VMPI_ENTER("MPI_Get_elements_x");
    size_t bytes = status->_ucount, whole = type->size ? bytes / type->size : 0;
    size_t rest = bytes - whole * type->size, all = type->size;
    size_t each = type->only ? elements_of(type) : whole > 0 ? vmpi_elements_in(type, &all) : 0;
    size_t found = whole * each + vmpi_elements_in(type, &rest);
    *count = rest ? MPI_UNDEFINED : (MPI_Count)found;
    return MPI_SUCCESS;
}

int MPI_Get_elements(const MPI_Status *status, MPI_Datatype type, int *count)
{
    MPI_Count found = 0;
    int error = MPI_Get_elements_x(status, type, &found);
    *count = found > INT32_MAX ? MPI_UNDEFINED : (int)found;
    return error;
}

int MPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype type, MPI_Count count)
{
    /* `count` basic elements; of several basic types only whole copies of the type have a size. */
    MPI_Count each = (MPI_Count)elements_of(type);
    status->_ucount = each ? type->size * (size_t)(count / each) : 0;
    if (type->only && each)
        status->_ucount += type->only->size / (is_pair(type->only) ? 2 : 1) * (size_t)(count % each);
    return MPI_SUCCESS;
}

int MPI_Status_set_elements(MPI_Status *status, MPI_Datatype type, int count)
{
    return MPI_Status_set_elements_x(status, type, count);
}

int MPI_Status_set_cancelled(MPI_Status *status, int flag)
{
    status->_cancelled = flag;
    return MPI_SUCCESS;
}

int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count)
{
    VMPI_ENTER("MPI_Get_count");
    if (type->size == 0)
        *count = 0;
    else if (status->_ucount % type->size)
        *count = MPI_UNDEFINED;
    else
        *count = (int)(status->_ucount / type->size);
    return MPI_SUCCESS;
}

