/* Attributes and names of communicators, types and windows, per rank. Their handles are all pointers, so one list serves
 * all three; its newest entry is first, the order in which MPI deletes them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fortran.h"

typedef struct vmpi_attribute {
    const void *object;
    int key;
    void *value;
    struct vmpi_attribute *next;
} vmpi_attribute;

typedef int copy_function(void *object, int key, void *extra, void *in, void *out, int *flag);
typedef int delete_function(void *object, int key, void *value, void *extra);

/* Keys are assigned in order and never again; the predefined ones are small. */
enum { FIRST_KEY = 1000, NAME_KEY = FIRST_KEY - 1, HANDLER_KEY = FIRST_KEY - 2 };
static struct attribute_key {
    copy_function *copy;
    delete_function *delete;
    void *extra;
    enum fortran_key fortran;
    enum fortran_kind kind;
} *keys;
static int keys_used, keys_room;

static vmpi_attribute **attribute(const void *object, int key)
{
    vmpi_attribute **link = (vmpi_attribute **)&vmpi_current->attributes;
    while (*link && ((*link)->object != object || (*link)->key != key))
        link = &(*link)->next;
    return link;
}

static void set(const void *object, int key, void *value)
{
    vmpi_attribute *a = *attribute(object, key);
    if (!a) {
        a = vmpi_alloc(1, sizeof *a);
        *a = (vmpi_attribute){object, key, NULL, vmpi_current->attributes};
        vmpi_current->attributes = a;
    }
    a->value = value;
}

static void drop(const void *object, int key)
{
    vmpi_attribute **link = attribute(object, key), *old = *link;
    if (!old)
        return;
    *link = old->next;
    if (key == NAME_KEY)
        free(old->value);
    free(old);
}

static struct attribute_key *key_of(int key)
{
    if (key < FIRST_KEY || key >= FIRST_KEY + keys_used)
        vmpi_error(MPI_ERR_KEYVAL, "key %d was not created by the program", key);
    return &keys[key - FIRST_KEY];
}

static int create_key(copy_function *copy, delete_function *delete, int *key, void *extra)
{
    if (keys_used == keys_room) {
        keys_room = keys_room ? 2 * keys_room : 64;
        keys = vmpi_resize(keys, (size_t)keys_room, sizeof *keys);
    }
    keys[keys_used] = (struct attribute_key){copy, delete, extra, KEY_OF_C, 0};
    *key = FIRST_KEY + keys_used++;
    return MPI_SUCCESS;
}

void vmpi_key_is_fortran(int key, enum fortran_key style, enum fortran_kind kind)
{
    keys[key - FIRST_KEY].fortran = style;
    keys[key - FIRST_KEY].kind = kind;
}

/* Fortran's functions get addresses; the older ones numbers of default size. */
static int copy_value(void *from, const vmpi_attribute *a, void **out, int *flag)
{
    struct attribute_key *k = key_of(a->key);
    *flag = 0;
    if (!k->copy)
        return MPI_SUCCESS;
    if (k->fortran == KEY_OF_C)
        return k->copy(from, a->key, k->extra, a->value, out, flag);
    int handle = vmpi_fortran_number(k->kind, from), error = MPI_SUCCESS, key = a->key;
    MPI_Aint extra = (MPI_Aint)k->extra, in = (MPI_Aint)a->value, made = 0;
    ((void (*)(int *, int *, void *, void *, void *, int *, int *))(void (*)(void))k->copy)(&handle, &key, &extra, &in, &made, flag,
                                                                            &error);
    *out = (void *)(k->fortran == KEY_OF_OLD_FORTRAN ? (MPI_Aint)(int)made : made);
    return error;
}

/* Calls the function and removes the attribute, unless the function returns an error. */
static int delete_value(void *object, int key)
{
    const vmpi_attribute *a = *attribute(object, key);
    struct attribute_key k = *key_of(key);
    int error = MPI_SUCCESS;
    if (k.delete && k.fortran == KEY_OF_C) {
        error = k.delete(object, key, a->value, k.extra);
    } else if (k.delete) {
        int handle = vmpi_fortran_number(k.kind, object);
        MPI_Aint extra = (MPI_Aint)k.extra, value = (MPI_Aint)a->value;
        ((void (*)(int *, int *, void *, void *, int *))(void (*)(void))k.delete)(&handle, &key, &value, &extra, &error);
    }
    if (error == MPI_SUCCESS)
        drop(object, key);
    return error;
}

static int set_value(void *object, int key, void *value)
{
    key_of(key);
    if (*attribute(object, key)) {
        int error = delete_value(object, key);
        if (error != MPI_SUCCESS)
            vmpi_error(error, "the delete function of key %d returned %d", key, error);
    }
    set(object, key, value);
    return MPI_SUCCESS;
}

static int get_value(const void *object, int key, void *value, int *flag)
{
    if (key == MPI_KEYVAL_INVALID)
        vmpi_error(MPI_ERR_KEYVAL, "MPI_KEYVAL_INVALID is no key");
    vmpi_attribute *a = *attribute(object, key);
    *flag = a != NULL;
    if (a)
        *(void **)value = a->value;
    return MPI_SUCCESS;
}

static int delete_attribute(void *object, int key)
{
    key_of(key);
    if (!*attribute(object, key))
        vmpi_error(MPI_ERR_ARG, "there is no attribute with key %d", key);
    int error = delete_value(object, key);
    if (error != MPI_SUCCESS)
        vmpi_error(error, "the delete function of key %d returned %d", key, error);
    return MPI_SUCCESS;
}

void vmpi_attributes_copy(const void *from, const void *to)
{
    for (vmpi_attribute *a = vmpi_current->attributes; a; a = a->next) {
        if (a->object == from && a->key == HANDLER_KEY)
            set(to, HANDLER_KEY, a->value);
        if (a->object != from || a->key < FIRST_KEY)
            continue;
        void *value = NULL;
        int flag = 0, error = copy_value((void *)from, a, &value, &flag);
        if (error != MPI_SUCCESS)
            vmpi_error(error, "the copy function of key %d returned %d", a->key, error);
        if (flag)
            set(to, a->key, value);
    }
}

void vmpi_attributes_free(const void *object)
{
    for (vmpi_attribute *a = vmpi_current->attributes, *next; a; a = next) {
        next = a->next;
        if (a->object != object)
            continue;
        if (a->key < FIRST_KEY) {
            drop(object, a->key);
            continue;
        }
        int error = delete_value((void *)object, a->key);
        if (error != MPI_SUCCESS)
            vmpi_error(error, "the delete function of an attribute returned %d", error);
        next = vmpi_current->attributes; /* the function may have changed the list */
    }
}

void *vmpi_handler_of(const void *object)
{
    vmpi_attribute *a = *attribute(object, HANDLER_KEY);
    return a ? a->value : NULL;
}

void vmpi_handler_set(const void *object, void *handler)
{
    set(object, HANDLER_KEY, handler);
}

/* ---- the calls ---- */

#define ATTRIBUTE_CALLS(Kind, Handle, object, predefined)                                                              \
    int MPI_##Kind##_create_keyval(MPI_##Kind##_copy_attr_function *copy, MPI_##Kind##_delete_attr_function *delete,   \
                                   int *key, void *extra)                                                              \
    {                                                                                                                  \
        VMPI_ENTER("MPI_" #Kind "_create_keyval");                                                                     \
        return create_key((copy_function *)(void (*)(void))copy, (delete_function *)(void (*)(void))delete, key,       \
                          extra);                                                                                      \
    }                                                                                                                  \
    int MPI_##Kind##_free_keyval(int *key)                                                                             \
    {                                                                                                                  \
        VMPI_ENTER("MPI_" #Kind "_free_keyval");                                                                       \
        key_of(*key);                                                                                                  \
        *key = MPI_KEYVAL_INVALID;                                                                                     \
        return MPI_SUCCESS;                                                                                            \
    }                                                                                                                  \
    int MPI_##Kind##_set_attr(Handle handle, int key, void *value)                                                     \
    {                                                                                                                  \
        VMPI_ENTER("MPI_" #Kind "_set_attr");                                                                          \
        return set_value(object, key, value);                                                                          \
    }                                                                                                                  \
    int MPI_##Kind##_get_attr(Handle handle, int key, void *value, int *flag)                                          \
    {                                                                                                                  \
        VMPI_ENTER("MPI_" #Kind "_get_attr");                                                                          \
        void *known = NULL;                                                                                            \
        if (!(predefined))                                                                                             \
            return get_value(object, key, value, flag);                                                                \
        *(void **)value = known;                                                                                       \
        *flag = 1;                                                                                                     \
        return MPI_SUCCESS;                                                                                            \
    }                                                                                                                  \
    int MPI_##Kind##_delete_attr(Handle handle, int key)                                                               \
    {                                                                                                                  \
        VMPI_ENTER("MPI_" #Kind "_delete_attr");                                                                       \
        return delete_attribute(object, key);                                                                          \
    }                                                                                                                  \
    int MPI_##Kind##_set_name(Handle handle, const char *name)                                                         \
    {                                                                                                                  \
        VMPI_ENTER("MPI_" #Kind "_set_name");                                                                          \
        char *copy = vmpi_alloc(1, MPI_MAX_OBJECT_NAME);                                                               \
        snprintf(copy, MPI_MAX_OBJECT_NAME, "%s", name);                                                               \
        drop(object, NAME_KEY);                                                                                        \
        set(object, NAME_KEY, copy);                                                                                   \
        return MPI_SUCCESS;                                                                                            \
    }                                                                                                                  \

static int *known_value(int key)
{
    static int most_tag = INT32_MAX, no_rank = MPI_PROC_NULL, any_rank = MPI_ANY_SOURCE, yes = 1, program = 0;
    vmpi_current->last_code = vmpi_last_code();
    switch (key) {
    case MPI_TAG_UB: return &most_tag;
    case MPI_HOST: return &no_rank;
    case MPI_IO: return &any_rank;
    case MPI_WTIME_IS_GLOBAL: return &yes;
    case MPI_UNIVERSE_SIZE: return &vmpi_world_size;
    case MPI_LASTUSEDCODE: return &vmpi_current->last_code;
    case MPI_APPNUM: return &program;
    default: return NULL;
    }
}

// NOLINTNEXTLINE(bugprone-assignment-in-if-condition): the macro tests what it has found
ATTRIBUTE_CALLS(Comm, MPI_Comm, vmpi_comm(handle), (known = known_value(key)) != NULL)
ATTRIBUTE_CALLS(Type, MPI_Datatype, handle, 0)
ATTRIBUTE_CALLS(Win, MPI_Win, handle, vmpi_window_attribute(handle, key, &known))

static int get_name(const void *object, const char *usual, char *name, int *length)
{
    vmpi_attribute *named = *attribute(object, NAME_KEY);
    *length = snprintf(name, MPI_MAX_OBJECT_NAME, "%s", named ? (const char *)named->value : usual);
    return MPI_SUCCESS;
}

int MPI_Comm_get_name(MPI_Comm handle, char *name, int *length)
{
    VMPI_ENTER("MPI_Comm_get_name");
    return get_name(vmpi_comm(handle),
                    handle == MPI_COMM_WORLD  ? "MPI_COMM_WORLD"
                    : handle == MPI_COMM_SELF ? "MPI_COMM_SELF"
                                              : "",
                    name, length);
}

int MPI_Type_get_name(MPI_Datatype type, char *name, int *length)
{
    VMPI_ENTER("MPI_Type_get_name");
    return get_name(type, type->name ? type->name : "", name, length);
}

int MPI_Win_get_name(MPI_Win window, char *name, int *length)
{
    VMPI_ENTER("MPI_Win_get_name");
    return get_name(window, "", name, length);
}

/* MPI-1's names. */
#undef MPI_Attr_get
#undef MPI_Attr_put
#undef MPI_Attr_delete
#undef MPI_Keyval_create
#undef MPI_Keyval_free
int MPI_Attr_get(MPI_Comm comm, int key, void *value, int *flag)
{
    return MPI_Comm_get_attr(comm, key, value, flag);
}

int MPI_Attr_put(MPI_Comm comm, int key, void *value)
{
    return MPI_Comm_set_attr(comm, key, value);
}

int MPI_Attr_delete(MPI_Comm comm, int key)
{
    return MPI_Comm_delete_attr(comm, key);
}

int MPI_Keyval_create(MPI_Copy_function *copy, MPI_Delete_function *delete, int *key, void *extra)
{
    return MPI_Comm_create_keyval(copy, delete, key, extra);
}

int MPI_Keyval_free(int *key)
{
    return MPI_Comm_free_keyval(key);
}

/* The functions behind MPI_COMM_NULL_COPY_FN, MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN and their kin. */
#define PREDEFINED_FUNCTIONS(Kind, Handle)                                                                             \
    int OMPI_C_MPI_##Kind##NULL_COPY_FN(Handle handle, int key, void *extra, void *in, void *out, int *flag)           \
    {                                                                                                                  \
        (void)handle, (void)key, (void)extra, (void)in, (void)out;                                                     \
        *flag = 0;                                                                                                     \
        return MPI_SUCCESS;                                                                                            \
    }                                                                                                                  \
    int OMPI_C_MPI_##Kind##DUP_FN(Handle handle, int key, void *extra, void *in, void *out, int *flag)                 \
    {                                                                                                                  \
        (void)handle, (void)key, (void)extra;                                                                          \
        *(void **)out = in;                                                                                            \
        *flag = 1;                                                                                                     \
        return MPI_SUCCESS;                                                                                            \
    }                                                                                                                  \
    int OMPI_C_MPI_##Kind##NULL_DELETE_FN(Handle handle, int key, void *value, void *extra)                            \
    {                                                                                                                  \
        (void)handle, (void)key, (void)value, (void)extra;                                                             \
        return MPI_SUCCESS;                                                                                            \
    }
PREDEFINED_FUNCTIONS(COMM_, MPI_Comm)
PREDEFINED_FUNCTIONS(TYPE_, MPI_Datatype)
PREDEFINED_FUNCTIONS(WIN_, MPI_Win)
PREDEFINED_FUNCTIONS(, MPI_Comm)
