/* Point-to-point calls: sends complete at once, receives complete when their message is there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

struct ompi_predefined_request_t {
    struct ompi_request_t request;
};
struct ompi_predefined_request_t ompi_request_null;

static const MPI_Status empty_status = {.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG};

void vmpi_complete(MPI_Request request, int source, int tag, size_t bytes)
{
    request->done = 1;
    request->status = (MPI_Status){.MPI_SOURCE = source, .MPI_TAG = tag, .MPI_ERROR = MPI_SUCCESS, ._ucount = bytes};
    vmpi_rank *owner = request->owner;
    if (request->awaited) {
        request->awaited = 0;
        if (--owner->outstanding == 0)
            vmpi_wake(owner);
    } else if (owner->state == RANK_POLLING) {
        vmpi_wake(owner);
    }
}

static void check_tag(int tag, int any_allowed)
{
    if (tag < 0 && !(any_allowed && tag == MPI_ANY_TAG))
        vmpi_fail("tag %d is negative", tag);
}

static void check_peer(MPI_Comm comm, int peer, int any_allowed)
{
    if (peer == MPI_PROC_NULL || (any_allowed && peer == MPI_ANY_SOURCE))
        return;
    if (peer < 0 || peer >= comm->size)
        vmpi_fail("rank %d is not in a communicator of %d ranks", peer, comm->size);
}

static MPI_Request new_request(enum request_kind kind, const void *buffer, int count, MPI_Datatype type, int peer,
                               int tag, MPI_Comm handle)
{
    check_tag(tag, kind == REQUEST_RECEIVE);
    MPI_Request request = vmpi_alloc(1, sizeof *request);
    request->kind = kind;
    request->owner = vmpi_current;
    request->comm = vmpi_comm(handle);
    check_peer(request->comm, peer, kind == REQUEST_RECEIVE);
    request->peer = peer;
    request->tag = tag;
    request->buffer = (void *)buffer;
    request->count = count;
    request->type = type;
    return request;
}

static void start(MPI_Request request)
{
    request->active = 1;
    request->done = 0;
    request->awaited = 0;
    vmpi_trace_message(request->kind == REQUEST_SEND ? "isend" : "irecv", request->comm, request->peer, request->tag,
                       vmpi_packed_bytes(request->type, request->count));
    if (request->peer == MPI_PROC_NULL) {
        vmpi_complete(request, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    } else if (request->kind == REQUEST_SEND) {
        vmpi_deliver(request->comm, request->peer, request->tag, request->buffer, request->count, request->type);
        vmpi_complete(request, request->peer, request->tag, 0);
    } else {
        vmpi_post(request);
    }
}

/* Returns the status of a completed request and releases it (a persistent one only becomes inactive). */
static void retire(MPI_Request *handle, MPI_Status *status)
{
    MPI_Request request = *handle;
    if (status != MPI_STATUS_IGNORE)
        *status = request == MPI_REQUEST_NULL || !request->active ? empty_status : request->status;
    if (request == MPI_REQUEST_NULL)
        return;
    if (request->active)
        vmpi_trace_wait(request);
    request->active = 0;
    if (!request->persistent) {
        free(request);
        *handle = MPI_REQUEST_NULL;
    }
}

static int is_pending(MPI_Request request)
{
    return request != MPI_REQUEST_NULL && request->active && !request->done;
}

/* Describes what the rank waits for, in messages to the user. */
static void describe_message(int source, int tag, MPI_Comm comm, int more)
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

static void describe(MPI_Request request, int pending)
{
    if (request->kind == REQUEST_COLLECTIVE) {
        snprintf(vmpi_current->detail, sizeof vmpi_current->detail, "for the %s of communicator %d", request->call,
                 request->comm->id);
        return;
    }
    describe_message(request->peer, request->tag, request->comm, pending - 1);
}

/* Suspends the rank until `needed` of the pending requests complete (all of them, or one). */
static void await(int count, MPI_Request requests[], int all)
{
    int pending = 0;
    MPI_Request first = NULL;
    for (int i = 0; i < count; i++)
        if (is_pending(requests[i])) {
            first = first ? first : requests[i];
            requests[i]->awaited = 1;
            pending++;
        }
    if (pending == 0)
        return;
    describe(first, pending);
    vmpi_current->outstanding = all ? pending : 1;
    while (vmpi_current->outstanding > 0)
        vmpi_block();
    if (!all) /* stops waiting for the others */
        for (int i = 0; i < count; i++)
            if (requests[i] != MPI_REQUEST_NULL)
                requests[i]->awaited = 0;
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    VMPI_ENTER("MPI_Isend");
    *request = new_request(REQUEST_SEND, buffer, count, type, destination, tag, comm);
    start(*request);
    return MPI_SUCCESS;
}

int MPI_Irsend(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    VMPI_ENTER("MPI_Irsend");
    *request = new_request(REQUEST_SEND, buffer, count, type, destination, tag, comm);
    start(*request);
    return MPI_SUCCESS;
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    VMPI_ENTER("MPI_Irecv");
    *request = new_request(REQUEST_RECEIVE, buffer, count, type, source, tag, comm);
    start(*request);
    return MPI_SUCCESS;
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm handle)
{
    VMPI_ENTER("MPI_Send");
    check_tag(tag, 0);
    MPI_Comm comm = vmpi_comm(handle);
    check_peer(comm, destination, 0);
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
    start(request);
    await(1, &request, 1);
    vmpi_current->quiet--;
    vmpi_current->quiet++;
    retire(&request, status);
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

int MPI_Startall(int count, MPI_Request requests[])
{
    VMPI_ENTER("MPI_Startall");
    for (int i = 0; i < count; i++) {
        if (requests[i] == MPI_REQUEST_NULL || !requests[i]->persistent || requests[i]->active)
            vmpi_fail("request %d is not an inactive persistent request", i);
        start(requests[i]);
    }
    return MPI_SUCCESS;
}

int MPI_Request_free(MPI_Request *request)
{
    VMPI_ENTER("MPI_Request_free");
    if (is_pending(*request))
        vmpi_fail("freeing a request that has not completed is not supported");
    if (*request != MPI_REQUEST_NULL)
        free(*request);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    VMPI_ENTER("MPI_Wait");
    await(1, request, 1);
    retire(request, status);
    return MPI_SUCCESS;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    VMPI_ENTER("MPI_Waitall");
    await(count, requests, 1);
    for (int i = 0; i < count; i++)
        retire(&requests[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
    return MPI_SUCCESS;
}

static int first_finished(int count, MPI_Request requests[])
{
    for (int i = 0; i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL && requests[i]->active && requests[i]->done)
            return i;
    return MPI_UNDEFINED;
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    VMPI_ENTER("MPI_Waitany");
    *index = first_finished(count, requests);
    if (*index == MPI_UNDEFINED) {
        await(count, requests, 0);
        *index = first_finished(count, requests);
    }
    if (*index != MPI_UNDEFINED)
        retire(&requests[*index], status);
    else if (status != MPI_STATUS_IGNORE)
        *status = empty_status;
    return MPI_SUCCESS;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    VMPI_ENTER("MPI_Test");
    *flag = !is_pending(*request);
    if (*flag) {
        retire(request, status);
    } else {
        describe(*request, 1);
        vmpi_poll();
    }
    return MPI_SUCCESS;
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    VMPI_ENTER("MPI_Testall");
    for (int i = 0; i < count; i++)
        if (is_pending(requests[i])) {
            *flag = 0;
            describe(requests[i], 1);
            vmpi_poll();
            return MPI_SUCCESS;
        }
    *flag = 1;
    for (int i = 0; i < count; i++)
        retire(&requests[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
    return MPI_SUCCESS;
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    VMPI_ENTER("MPI_Testany");
    *index = first_finished(count, requests);
    *flag = 1;
    if (*index != MPI_UNDEFINED) {
        retire(&requests[*index], status);
        return MPI_SUCCESS;
    }
    for (int i = 0; i < count; i++)
        if (is_pending(requests[i])) {
            *flag = 0;
            describe(requests[i], 1);
            vmpi_poll();
            return MPI_SUCCESS;
        }
    if (status != MPI_STATUS_IGNORE)
        *status = empty_status;
    return MPI_SUCCESS;
}

/* Returns all completed requests; MPI_UNDEFINED if none is active. */
static void retire_some(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[])
{
    int active = 0;
    *done = 0;
    for (int i = 0; i < count; i++) {
        if (requests[i] == MPI_REQUEST_NULL || !requests[i]->active)
            continue;
        active++;
        if (!requests[i]->done)
            continue;
        retire(&requests[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[*done]);
        indices[(*done)++] = i;
    }
    if (active == 0)
        *done = MPI_UNDEFINED;
}

int MPI_Testsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[])
{
    VMPI_ENTER("MPI_Testsome");
    retire_some(count, requests, done, indices, statuses);
    for (int i = 0; *done == 0 && i < count; i++)
        if (is_pending(requests[i])) {
            describe(requests[i], 1);
            vmpi_poll();
            break;
        }
    return MPI_SUCCESS;
}

int MPI_Waitsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[])
{
    VMPI_ENTER("MPI_Waitsome");
    if (first_finished(count, requests) == MPI_UNDEFINED)
        await(count, requests, 0);
    retire_some(count, requests, done, indices, statuses);
    return MPI_SUCCESS;
}

int MPI_Iprobe(int source, int tag, MPI_Comm handle, int *flag, MPI_Status *status)
{
    VMPI_ENTER("MPI_Iprobe");
    check_tag(tag, 1);
    MPI_Comm comm = vmpi_comm(handle);
    check_peer(comm, source, 1);
    *flag = vmpi_peek(comm, source, tag, status);
    if (!*flag) {
        describe_message(source, tag, comm, 0);
        vmpi_poll();
    }
    return MPI_SUCCESS;
}

int MPI_Probe(int source, int tag, MPI_Comm handle, MPI_Status *status)
{
    VMPI_ENTER("MPI_Probe");
    check_tag(tag, 1);
    MPI_Comm comm = vmpi_comm(handle);
    check_peer(comm, source, 1);
    describe_message(source, tag, comm, 0);
    vmpi_current->probing = 1;
    while (!vmpi_peek(comm, source, tag, status))
        vmpi_block();
    vmpi_current->probing = 0;
    return MPI_SUCCESS;
}
