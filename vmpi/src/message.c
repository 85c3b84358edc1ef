/* Point-to-point calls, blocking and not, persistent ones, probes, and messages that a probe has taken. */
#include <stdio.h>
#include <stdlib.h>

#include "runtime.h"

static void check_tag(int tag, int any_allowed)
{
    if (tag < 0 && !(any_allowed && tag == MPI_ANY_TAG))
        vmpi_error(MPI_ERR_TAG, "tag %d is negative", tag);
}

static void check_peer(MPI_Comm comm, int peer, int any_allowed)
{
    if (peer == MPI_PROC_NULL || (any_allowed && peer == MPI_ANY_SOURCE))
        return;
    if (peer < 0 || peer >= vmpi_peers(comm))
        vmpi_error(MPI_ERR_RANK, "rank %d is not in a communicator of %d ranks", peer, vmpi_peers(comm));
}

static void check_data(const void *buffer, int count, MPI_Datatype type)
{
    if (count < 0)
        vmpi_error(MPI_ERR_COUNT, "the count %d is negative", count);
    if (!type || type == MPI_DATATYPE_NULL)
        vmpi_error(MPI_ERR_TYPE, "MPI_DATATYPE_NULL is not a data type");
    if (!type->basic && type->references == 0)
        vmpi_error(MPI_ERR_TYPE, "the data type was freed");
    if (!buffer && count > 0 && type->size > 0 && type->true_lower == 0)
        vmpi_error(MPI_ERR_BUFFER, "the buffer is NULL");
}

static MPI_Request new_request(enum request_kind kind, const void *buffer, int count, MPI_Datatype type, int peer,
                               int tag, MPI_Comm handle)
{
    MPI_Comm comm = vmpi_comm(handle);
    check_tag(tag, kind == REQUEST_RECEIVE);
    check_peer(comm, peer, kind == REQUEST_RECEIVE);
    check_data(buffer, count, type);
    MPI_Request request = vmpi_request(kind, comm, type);
    request->peer = peer;
    request->tag = tag;
    request->buffer = (void *)buffer;
    request->count = count;
    return request;
}

void vmpi_request_start(MPI_Request request)
{
    request->active = 1;
    request->done = 0;
    request->awaited = 0;
    request->traced = vmpi_trace_message(request->kind == REQUEST_SEND ? "isend" : "irecv", request->comm, request->peer,
                                         request->tag, vmpi_packed_bytes(request->type, request->count));
    if (request->peer == MPI_PROC_NULL) {
        vmpi_complete(request, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    } else if (request->kind == REQUEST_SEND) {
        vmpi_deliver_for(request);
        vmpi_complete(request, request->peer, request->tag, 0);
    } else {
        vmpi_post(request);
    }
}

/* Describes what the rank waits for, in messages to the user. */
void vmpi_describe_message(int source, int tag, MPI_Comm comm, int more)
{
    char from[32] = "any rank", tagged[32] = "any tag", others[32] = "";
    if (source != MPI_ANY_SOURCE)
        snprintf(from, sizeof from, "rank %d", source);
    if (tag != MPI_ANY_TAG)
        snprintf(tagged, sizeof tagged, "tag %d", tag);
    if (more > 0)
        snprintf(others, sizeof others, " and %d more", more);
    snprintf(vmpi_current->detail, sizeof vmpi_current->detail, "for a message from %s, %s, communicator %d%s", from,
             tagged, comm->id, others);
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    VMPI_ENTER("MPI_Isend");
    *request = new_request(REQUEST_SEND, buffer, count, type, destination, tag, comm);
    vmpi_request_start(*request);
    return MPI_SUCCESS;
}

int MPI_Irsend(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    VMPI_ENTER("MPI_Irsend");
    *request = new_request(REQUEST_SEND, buffer, count, type, destination, tag, comm);
    vmpi_request_start(*request);
    return MPI_SUCCESS;
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    VMPI_ENTER("MPI_Irecv");
    *request = new_request(REQUEST_RECEIVE, buffer, count, type, source, tag, comm);
    vmpi_request_start(*request);
    return MPI_SUCCESS;
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm handle)
{
    VMPI_ENTER("MPI_Send");
    MPI_Comm comm = vmpi_comm(handle);
    check_tag(tag, 0);
    check_peer(comm, destination, 0);
    check_data(buffer, count, type);
    vmpi_trace_message("send", comm, destination, tag, vmpi_packed_bytes(type, count));
    if (destination != MPI_PROC_NULL)
        vmpi_deliver(comm, destination, tag, buffer, count, type);
    return MPI_SUCCESS;
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    VMPI_ENTER("MPI_Recv");
    MPI_Request request = new_request(REQUEST_RECEIVE, buffer, count, type, source, tag, comm);
    vmpi_trace_message("recv", request->comm, source, tag, vmpi_packed_bytes(type, count));
    vmpi_current->quiet++;
    vmpi_request_start(request);
    vmpi_wait(&request, status);
    vmpi_current->quiet--;
    return MPI_SUCCESS;
}

int MPI_Send_init(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    VMPI_ENTER("MPI_Send_init");
    *request = new_request(REQUEST_SEND, buffer, count, type, destination, tag, comm);
    (*request)->persistent = 1;
    return MPI_SUCCESS;
}

int MPI_Recv_init(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    VMPI_ENTER("MPI_Recv_init");
    *request = new_request(REQUEST_RECEIVE, buffer, count, type, source, tag, comm);
    (*request)->persistent = 1;
    return MPI_SUCCESS;
}

/* MPI_PROC_NULL always has an empty message. */
static int is_null(int source, MPI_Status *status)
{
    if (source == MPI_PROC_NULL && status != MPI_STATUS_IGNORE)
        *status = (MPI_Status){.MPI_SOURCE = MPI_PROC_NULL, .MPI_TAG = MPI_ANY_TAG, .MPI_ERROR = status->MPI_ERROR};
    return source == MPI_PROC_NULL;
}

static MPI_Comm check_probe(int source, int tag, MPI_Comm handle)
{
    MPI_Comm comm = vmpi_comm(handle);
    check_tag(tag, 1);
    check_peer(comm, source, 1);
    vmpi_describe_message(source, tag, comm, 0);
    return comm;
}

static int probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    int flag = is_null(source, status) || vmpi_peek(comm, source, tag, status);
    if (!flag)
        vmpi_poll();
    return flag;
}

static void await_message(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    vmpi_current->probing = 1;
    while (!is_null(source, status) && !vmpi_peek(comm, source, tag, status))
        vmpi_block();
    vmpi_current->probing = 0;
}

int MPI_Iprobe(int source, int tag, MPI_Comm handle, int *flag, MPI_Status *status)
{
    VMPI_ENTER("MPI_Iprobe");
    *flag = probe(source, tag, check_probe(source, tag, handle), status);
    return MPI_SUCCESS;
}

int MPI_Probe(int source, int tag, MPI_Comm handle, MPI_Status *status)
{
    VMPI_ENTER("MPI_Probe");
    await_message(source, tag, check_probe(source, tag, handle), status);
    return MPI_SUCCESS;
}

/* ---- a probe that takes its message ---- */

struct ompi_message_t {
    struct message *message; /* NULL: the empty one of MPI_PROC_NULL */
    MPI_Comm comm;
};
struct ompi_predefined_message_t {
    struct ompi_message_t message;
};
struct ompi_predefined_message_t ompi_message_null, ompi_message_no_proc;

static MPI_Message take(MPI_Comm comm, int source, const MPI_Status *status)
{
    if (source == MPI_PROC_NULL)
        return MPI_MESSAGE_NO_PROC;
    MPI_Message taken = vmpi_alloc(1, sizeof *taken);
    *taken = (struct ompi_message_t){vmpi_take(comm, status->MPI_SOURCE, status->MPI_TAG), comm};
    vmpi_comm_hold(comm);
    return taken;
}

int MPI_Improbe(int source, int tag, MPI_Comm handle, int *flag, MPI_Message *message, MPI_Status *status)
{
    VMPI_ENTER("MPI_Improbe");
    MPI_Status found = {.MPI_ERROR = status == MPI_STATUS_IGNORE ? MPI_SUCCESS : status->MPI_ERROR}; /* it stays */
    MPI_Comm comm = check_probe(source, tag, handle);
    *message = MPI_MESSAGE_NULL;
    *flag = probe(source, tag, comm, &found);
    if (*flag) {
        *message = take(comm, source, &found);
        if (status != MPI_STATUS_IGNORE)
            *status = found;
    }
    return MPI_SUCCESS;
}

int MPI_Mprobe(int source, int tag, MPI_Comm handle, MPI_Message *message, MPI_Status *status)
{
    VMPI_ENTER("MPI_Mprobe");
    MPI_Status found = {.MPI_ERROR = status == MPI_STATUS_IGNORE ? MPI_SUCCESS : status->MPI_ERROR};
    MPI_Comm comm = check_probe(source, tag, handle);
    await_message(source, tag, comm, &found);
    *message = take(comm, source, &found);
    if (status != MPI_STATUS_IGNORE)
        *status = found;
    return MPI_SUCCESS;
}

int MPI_Imrecv(void *buffer, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request)
{
    VMPI_ENTER("MPI_Imrecv");
    MPI_Message m = *message;
    if (m == MPI_MESSAGE_NULL)
        vmpi_error(MPI_ERR_REQUEST, "MPI_MESSAGE_NULL is no message");
    check_data(buffer, count, type);
    MPI_Request r = *request = vmpi_request(REQUEST_RECEIVE, m == MPI_MESSAGE_NO_PROC ? vmpi_comm(MPI_COMM_SELF) : m->comm, type);
    r->active = 1;
    r->buffer = buffer;
    r->count = count;
    r->peer = MPI_PROC_NULL;
    if (m == MPI_MESSAGE_NO_PROC) {
        vmpi_complete(r, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    } else {
        vmpi_receive_taken(r, m->message);
        vmpi_trace_message("irecv", r->comm, r->peer, r->tag, vmpi_packed_bytes(type, count));
        vmpi_comm_drop(m->comm, vmpi_current);
        free(m);
    }
    *message = MPI_MESSAGE_NULL;
    return MPI_SUCCESS;
}

int MPI_Mrecv(void *buffer, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status)
{
    VMPI_ENTER("MPI_Mrecv");
    MPI_Request request;
    MPI_Imrecv(buffer, count, type, message, &request);
    vmpi_wait(&request, status);
    return MPI_SUCCESS;
}

/* ---- requests that the program completes itself ---- */

struct vmpi_general {
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *extra;
};

int MPI_Grequest_start(MPI_Grequest_query_function *query, MPI_Grequest_free_function *free_function,
                       MPI_Grequest_cancel_function *cancel, void *extra, MPI_Request *request)
{
    VMPI_ENTER("MPI_Grequest_start");
    *request = vmpi_request(REQUEST_GENERAL, NULL, NULL);
    (*request)->active = 1;
    (*request)->general = vmpi_alloc(1, sizeof *(*request)->general);
    *(*request)->general = (struct vmpi_general){query, free_function, cancel, extra};
    return MPI_SUCCESS;
}

int MPI_Grequest_complete(MPI_Request request)
{
    VMPI_ENTER("MPI_Grequest_complete");
    vmpi_complete(request, MPI_UNDEFINED, MPI_UNDEFINED, 0);
    return MPI_SUCCESS;
}

void vmpi_general_query(MPI_Request request)
{
    request->status.MPI_ERROR = request->general->query(request->general->extra, &request->status);
}

void vmpi_general_free(MPI_Request request)
{
    request->general->free(request->general->extra);
    free(request->general);
}

void vmpi_general_cancel(MPI_Request request)
{
    request->general->cancel(request->general->extra, request->done);
}
