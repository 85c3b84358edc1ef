/* Data attached to handles: names, attributes of communicators, hints, error handlers, memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

/* ---- names and attributes, per rank and communicator ---- */

typedef struct vmpi_attribute {
    MPI_Comm comm;
    int key;
    void *value;
    struct vmpi_attribute *next;
} vmpi_attribute;

/* Keys are assigned in order; the predefined ones are small. */
enum { FIRST_KEY = 1000, MOST_KEYS = 4096, NAME_KEY = FIRST_KEY - 1 };
static struct {
    MPI_Comm_copy_attr_function *copy;
    MPI_Comm_delete_attr_function *delete;
    void *extra;
} keys[MOST_KEYS];
static int keys_used;

static vmpi_attribute **attribute(MPI_Comm comm, int key)
{
    vmpi_attribute **link = (vmpi_attribute **)&vmpi_current->attributes;
    while (*link && ((*link)->comm != comm || (*link)->key != key))
        link = &(*link)->next;
    return link;
}

static void set(MPI_Comm comm, int key, void *value)
{
    vmpi_attribute **link = attribute(comm, key);
    if (!*link) {
        *link = vmpi_alloc(1, sizeof **link);
        (*link)->comm = comm;
        (*link)->key = key;
    }
    (*link)->value = value;
}

static void drop(vmpi_attribute **link)
{
    vmpi_attribute *old = *link;
    *link = old->next;
    if (old->key == NAME_KEY)
        free(old->value);
    free(old);
}

int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete, int *key,
                           void *extra)
{
    VMPI_ENTER("MPI_Comm_create_keyval");
    if (keys_used == MOST_KEYS)
        vmpi_fail("more than %d attribute keys", MOST_KEYS);
    keys[keys_used].copy = copy;
    keys[keys_used].delete = delete;
    keys[keys_used].extra = extra;
    *key = FIRST_KEY + keys_used++;
    return MPI_SUCCESS;
}

int MPI_Comm_free_keyval(int *key)
{
    VMPI_ENTER("MPI_Comm_free_keyval");
    *key = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

int MPI_Comm_set_attr(MPI_Comm handle, int key, void *value)
{
    VMPI_ENTER("MPI_Comm_set_attr");
    if (key < FIRST_KEY || key >= FIRST_KEY + keys_used)
        vmpi_fail("key %d was not created by MPI_Comm_create_keyval", key);
    set(vmpi_comm(handle), key, value);
    return MPI_SUCCESS;
}

int MPI_Comm_get_attr(MPI_Comm handle, int key, void *value, int *flag)
{
    VMPI_ENTER("MPI_Comm_get_attr");
    static int most_tag = INT32_MAX, no_rank = MPI_PROC_NULL, any_rank = MPI_ANY_SOURCE, yes = 1;
    MPI_Comm comm = vmpi_comm(handle);
    int *known = key == MPI_TAG_UB            ? &most_tag
                 : key == MPI_HOST            ? &no_rank
                 : key == MPI_IO              ? &any_rank
                 : key == MPI_WTIME_IS_GLOBAL ? &yes
                 : key == MPI_UNIVERSE_SIZE   ? &vmpi_world_size
                                              : NULL;
    vmpi_attribute *of = known ? NULL : *attribute(comm, key);
    *flag = known || of;
    if (*flag)
        *(void **)value = known ? known : of->value;
    return MPI_SUCCESS;
}

int MPI_Comm_delete_attr(MPI_Comm handle, int key)
{
    VMPI_ENTER("MPI_Comm_delete_attr");
    vmpi_attribute **link = attribute(vmpi_comm(handle), key);
    if (!*link)
        vmpi_fail("the communicator has no attribute with key %d", key);
    if (keys[key - FIRST_KEY].delete)
        keys[key - FIRST_KEY].delete(handle, key, (*link)->value, keys[key - FIRST_KEY].extra);
    drop(link);
    return MPI_SUCCESS;
}

#undef MPI_Attr_get
#undef MPI_Attr_put
int MPI_Attr_get(MPI_Comm comm, int key, void *value, int *flag);
int MPI_Attr_get(MPI_Comm comm, int key, void *value, int *flag)
{
    return MPI_Comm_get_attr(comm, key, value, flag);
}

/* The functions behind MPI_COMM_NULL_COPY_FN, MPI_COMM_DUP_FN and MPI_COMM_NULL_DELETE_FN. */
int OMPI_C_MPI_COMM_NULL_COPY_FN(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_SUCCESS;
}

int OMPI_C_MPI_COMM_DUP_FN(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

int OMPI_C_MPI_COMM_NULL_DELETE_FN(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    return MPI_SUCCESS;
}

void vmpi_attributes_copy(MPI_Comm from, MPI_Comm to)
{
    for (vmpi_attribute *a = vmpi_current->attributes; a; a = a->next) {
        if (a->comm != from || a->key == NAME_KEY || !keys[a->key - FIRST_KEY].copy)
            continue;
        void *value = NULL;
        int flag = 0;
        keys[a->key - FIRST_KEY].copy(from, a->key, keys[a->key - FIRST_KEY].extra, a->value, &value, &flag);
        if (flag)
            set(to, a->key, value);
    }
}

void vmpi_attributes_free(MPI_Comm comm)
{
    vmpi_attribute **link = (vmpi_attribute **)&vmpi_current->attributes;
    while (*link) {
        vmpi_attribute *a = *link;
        if (a->comm != comm) {
            link = &a->next;
            continue;
        }
        if (a->key != NAME_KEY && keys[a->key - FIRST_KEY].delete)
            keys[a->key - FIRST_KEY].delete(comm, a->key, a->value, keys[a->key - FIRST_KEY].extra);
        drop(link);
    }
}

int MPI_Comm_set_name(MPI_Comm handle, const char *name)
{
    VMPI_ENTER("MPI_Comm_set_name");
    MPI_Comm comm = vmpi_comm(handle);
    char *copy = vmpi_alloc(1, MPI_MAX_OBJECT_NAME);
    snprintf(copy, MPI_MAX_OBJECT_NAME, "%s", name);
    vmpi_attribute **link = attribute(comm, NAME_KEY);
    if (*link)
        drop(link);
    set(comm, NAME_KEY, copy);
    return MPI_SUCCESS;
}

int MPI_Comm_get_name(MPI_Comm handle, char *name, int *length)
{
    VMPI_ENTER("MPI_Comm_get_name");
    vmpi_attribute *named = *attribute(vmpi_comm(handle), NAME_KEY);
    const char *text = named                      ? named->value
                       : handle == MPI_COMM_WORLD ? "MPI_COMM_WORLD"
                       : handle == MPI_COMM_SELF  ? "MPI_COMM_SELF"
                                                  : "";
    *length = snprintf(name, MPI_MAX_OBJECT_NAME, "%s", text);
    return MPI_SUCCESS;
}

int MPI_Type_set_name(MPI_Datatype type, const char *name)
{
    (void)type;
    (void)name;
    VMPI_ENTER("MPI_Type_set_name");
    return MPI_SUCCESS;
}

/* ---- hints: stored but not used ---- */

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

/* ---- error handlers: an error always ends the run, whatever handler is set, because no call can return an error ---- */

struct ompi_errhandler_t {
    int kind;
};
struct ompi_predefined_errhandler_t {
    struct ompi_errhandler_t handler;
};
struct ompi_predefined_errhandler_t ompi_mpi_errors_are_fatal, ompi_mpi_errors_return, ompi_mpi_errhandler_null;

int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function *function, MPI_Errhandler *handler)
{
    (void)function;
    VMPI_ENTER("MPI_Comm_create_errhandler");
    *handler = vmpi_alloc(1, sizeof **handler);
    return MPI_SUCCESS;
}

int MPI_Errhandler_free(MPI_Errhandler *handler)
{
    VMPI_ENTER("MPI_Errhandler_free");
    if (*handler != MPI_ERRORS_ARE_FATAL && *handler != MPI_ERRORS_RETURN && *handler != MPI_ERRHANDLER_NULL)
        free(*handler);
    *handler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    VMPI_ENTER("MPI_Comm_set_errhandler");
    (void)vmpi_comm(comm);
    (void)handler;
    return MPI_SUCCESS;
}

int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *handler)
{
    VMPI_ENTER("MPI_Comm_get_errhandler");
    (void)vmpi_comm(comm);
    *handler = MPI_ERRORS_ARE_FATAL;
    return MPI_SUCCESS;
}

#undef MPI_Errhandler_set
int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler);
int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler)
{
    return MPI_Comm_set_errhandler(comm, handler);
}

int MPI_Error_string(int code, char *text, int *length)
{
    *length = snprintf(text, MPI_MAX_ERROR_STRING, code == MPI_SUCCESS ? "no error" : "error %d", code);
    return MPI_SUCCESS;
}

int MPI_Error_class(int code, int *class)
{
    *class = code;
    return MPI_SUCCESS;
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
