/* Hints, stored but not used, and memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

typedef struct hint {
    char *key, *value;
    struct hint *next;
} hint;
struct ompi_info_t {
    hint *first;
};
struct ompi_predefined_info_t {
    struct ompi_info_t info;
};
struct ompi_predefined_info_t ompi_mpi_info_null, ompi_mpi_info_env;

static hint **hint_of(MPI_Info info, const char *key)
{
    hint **link = &info->first;
    while (*link && strcmp((*link)->key, key) != 0)
        link = &(*link)->next;
    return link;
}

static char *copy_of(const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(vmpi_alloc(1, bytes), text, bytes);
}

int MPI_Info_create(MPI_Info *info)
{
    VMPI_ENTER("MPI_Info_create");
    *info = vmpi_alloc(1, sizeof **info);
    return MPI_SUCCESS;
}

int MPI_Info_set(MPI_Info info, const char *key, const char *value)
{
    VMPI_ENTER("MPI_Info_set");
    if (!key || strlen(key) == 0 || strlen(key) >= MPI_MAX_INFO_KEY)
        vmpi_error(MPI_ERR_INFO_KEY, "a key has 1 to %d characters", MPI_MAX_INFO_KEY - 1);
    if (!value || strlen(value) >= MPI_MAX_INFO_VAL)
        vmpi_error(MPI_ERR_INFO_VALUE, "a value has at most %d characters", MPI_MAX_INFO_VAL - 1);
    hint **link = hint_of(info, key);
    if (!*link) {
        *link = vmpi_alloc(1, sizeof **link);
        (*link)->key = copy_of(key);
    }
    free((*link)->value);
    (*link)->value = copy_of(value);
    return MPI_SUCCESS;
}

int MPI_Info_get(MPI_Info info, const char *key, int most, char *value, int *flag)
{
    VMPI_ENTER("MPI_Info_get");
    hint *found = *hint_of(info, key);
    *flag = found != NULL;
    if (found)
        snprintf(value, (size_t)most + 1, "%s", found->value);
    return MPI_SUCCESS;
}

int MPI_Info_get_valuelen(MPI_Info info, const char *key, int *length, int *flag)
{
    VMPI_ENTER("MPI_Info_get_valuelen");
    hint *found = *hint_of(info, key);
    *flag = found != NULL;
    if (found)
        *length = (int)strlen(found->value);
    return MPI_SUCCESS;
}

int MPI_Info_delete(MPI_Info info, const char *key)
{
    VMPI_ENTER("MPI_Info_delete");
    hint **link = hint_of(info, key), *old = *link;
    if (!old)
        vmpi_error(MPI_ERR_INFO_NOKEY, "the hints have no key '%s'", key);
    *link = old->next;
    free(old->key);
    free(old->value);
    free(old);
    return MPI_SUCCESS;
}

int MPI_Info_get_nkeys(MPI_Info info, int *count)
{
    VMPI_ENTER("MPI_Info_get_nkeys");
    *count = 0;
    for (hint *h = info->first; h; h = h->next)
        ++*count;
    return MPI_SUCCESS;
}

int MPI_Info_get_nthkey(MPI_Info info, int n, char *key)
{
    VMPI_ENTER("MPI_Info_get_nthkey");
    hint *h = info->first;
    for (int i = 0; h && i < n; i++)
        h = h->next;
    if (!h || n < 0)
        vmpi_error(MPI_ERR_INFO_KEY, "the hints have no key number %d", n);
    memcpy(key, h->key, strlen(h->key) + 1); /* the program's room is MPI_MAX_INFO_KEY, and no longer key is stored */
    return MPI_SUCCESS;
}

int MPI_Info_dup(MPI_Info info, MPI_Info *out)
{
    VMPI_ENTER("MPI_Info_dup");
    MPI_Info copy = vmpi_alloc(1, sizeof *copy);
    for (hint *h = info->first; h; h = h->next)
        MPI_Info_set(copy, h->key, h->value);
    *out = copy;
    return MPI_SUCCESS;
}

int MPI_Info_free(MPI_Info *info)
{
    VMPI_ENTER("MPI_Info_free");
    for (hint *h = (*info)->first, *next; h; h = next) {
        next = h->next;
        free(h->key);
        free(h->value);
        free(h);
    }
    free(*info);
    *info = MPI_INFO_NULL;
    return MPI_SUCCESS;
}

/* Hints of a communicator are not kept: the program gets an empty list, as MPI allows for hints that are not used. */
int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
    (void)comm, (void)info;
    return MPI_SUCCESS;
}

int MPI_Comm_get_info(MPI_Comm comm, MPI_Info *info)
{
    (void)comm;
    return MPI_Info_create(info);
}

/* ---- memory ---- */

int MPI_Alloc_mem(MPI_Aint bytes, MPI_Info info, void *memory)
{
    (void)info;
    VMPI_ENTER("MPI_Alloc_mem");
    *(void **)memory = vmpi_alloc(1, (size_t)bytes);
    return MPI_SUCCESS;
}

int MPI_Free_mem(void *memory)
{
    VMPI_ENTER("MPI_Free_mem");
    free(memory);
    return MPI_SUCCESS;
}
