/* Matches messages with receives.
 *
 * Two hash tables. `exact` has the key (receiver, communicator, sender, tag). Its entries hold a queue of arrived
 * messages and a queue of posted receives, both in order; at most one is non-empty. `any` has the key without the
 * sender: all arrived messages in order of arrival, and the posted MPI_ANY_SOURCE receives. Real implementations have a
 * linear queue per rank, which is quadratic in the messages: at 8,192 ranks it does not finish. Empty entries are
 * removed, so memory follows the messages in flight. Receives with MPI_ANY_TAG are posted under that tag in the same
 * tables; arrived messages for them are found in a list of all messages of the rank. */
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

typedef struct message {
    int source, tag; /* rank in the communicator */
    size_t bytes;
    struct message *next;                    /* in the exact queue */
    struct message *any_next, *any_previous; /* in the any queue */
    struct message *all_next, *all_previous; /* in the list of all messages for the rank */
    int communicator;
    MPI_Request send; /* whose message it is, while it may be cancelled; NULL: none */
    char data[];
} message;

typedef struct entry {
    int receiver, communicator, source, tag; /* source -1 in the table `any` */
    struct entry *next;                      /* in the hash chain */
    message *arrived_first, *arrived_last;
    MPI_Request posted_first, posted_last;
} entry;

typedef struct {
    entry **chain;
    size_t chains, entries;
} table;

static table exact, any;
static entry *spare;
static uint64_t posted_so_far;
static int wild_tags; /* posted receives with MPI_ANY_TAG; if 0, they are not searched for */

static size_t hash(int receiver, int communicator, int source, int tag)
{
    uint64_t h = (uint64_t)(uint32_t)receiver * 0x9E3779B97F4A7C15u;
    h ^= (h >> 29) + (uint64_t)(uint32_t)source * 0xBF58476D1CE4E5B9u;
    h ^= (h >> 31) + (uint64_t)(uint32_t)tag * 0x94D049BB133111EBu;
    h ^= (h >> 27) + (uint64_t)(uint32_t)communicator * 0xD6E8FEB86659FD93u;
    return (size_t)(h ^ (h >> 32));
}

static void grow(table *t)
{
    size_t chains = t->chains ? 2 * t->chains : 1024;
    entry **chain = vmpi_alloc(chains, sizeof *chain);
    for (size_t c = 0; c < t->chains; c++)
        for (entry *e = t->chain[c], *next; e; e = next) {
            next = e->next;
            entry **head = &chain[hash(e->receiver, e->communicator, e->source, e->tag) & (chains - 1)];
            e->next = *head;
            *head = e;
        }
    free(t->chain);
    t->chain = chain;
    t->chains = chains;
}

static entry **find(table *t, int receiver, int communicator, int source, int tag)
{
    if (t->entries >= t->chains)
        grow(t);
    entry **link = &t->chain[hash(receiver, communicator, source, tag) & (t->chains - 1)];
    while (*link && !((*link)->receiver == receiver && (*link)->source == source && (*link)->tag == tag &&
                      (*link)->communicator == communicator))
        link = &(*link)->next;
    return link;
}

static entry *find_or_add(table *t, int receiver, int communicator, int source, int tag)
{
    entry **link = find(t, receiver, communicator, source, tag);
    if (!*link) {
        entry *e = spare;
        if (e)
            spare = e->next;
        else
            e = vmpi_alloc(1, sizeof *e);
        *e = (entry){.receiver = receiver, .communicator = communicator, .source = source, .tag = tag};
        *link = e;
        t->entries++;
    }
    return *link;
}

static void drop_if_empty(table *t, entry **link)
{
    entry *e = *link;
    if (e->arrived_first || e->posted_first)
        return;
    *link = e->next;
    e->next = spare;
    spare = e;
    t->entries--;
}

static MPI_Request take_posted(table *t, entry **link)
{
    entry *e = *link;
    MPI_Request request = e->posted_first;
    e->posted_first = request->next;
    if (!e->posted_first)
        e->posted_last = NULL;
    drop_if_empty(t, link);
    return request;
}

static void append_posted(entry *e, MPI_Request request)
{
    request->next = NULL;
    if (e->posted_last)
        e->posted_last->next = request;
    else
        e->posted_first = request;
    e->posted_last = request;
}

static void keep(int receiver, int communicator, message *m)
{
    entry *e = find_or_add(&exact, receiver, communicator, m->source, m->tag);
    if (e->arrived_last)
        e->arrived_last->next = m;
    else
        e->arrived_first = m;
    e->arrived_last = m;
    entry *a = find_or_add(&any, receiver, communicator, -1, m->tag);
    m->any_previous = a->arrived_last;
    if (a->arrived_last)
        a->arrived_last->any_next = m;
    else
        a->arrived_first = m;
    a->arrived_last = m;
    vmpi_rank *rank = vmpi_rank_at(receiver);
    m->communicator = communicator;
    m->all_previous = rank->arrived_last;
    if (rank->arrived_last)
        rank->arrived_last->all_next = m;
    else
        rank->arrived_first = m;
    rank->arrived_last = m;
}

static void forget(vmpi_rank *rank, message *m)
{
    if (m->all_previous)
        m->all_previous->all_next = m->all_next;
    else
        rank->arrived_first = m->all_next;
    if (m->all_next)
        m->all_next->all_previous = m->all_previous;
    else
        rank->arrived_last = m->all_previous;
}

/* Removes a message of an exact queue from both tables: the first, or a given one. */
static message *take_arrived(int receiver, int communicator, int source, int tag, message *wanted)
{
    entry **link = find(&exact, receiver, communicator, source, tag);
    if (!*link || !(*link)->arrived_first)
        return NULL;
    entry *e = *link;
    message *m = e->arrived_first, *before = NULL;
    for (; wanted && m != wanted; m = m->next)
        before = m;
    if (before)
        before->next = m->next;
    else
        e->arrived_first = m->next;
    if (!m->next)
        e->arrived_last = before;
    drop_if_empty(&exact, link);

    entry **any_link = find(&any, receiver, communicator, -1, tag);
    entry *a = *any_link;
    if (m->any_previous)
        m->any_previous->any_next = m->any_next;
    else
        a->arrived_first = m->any_next;
    if (m->any_next)
        m->any_next->any_previous = m->any_previous;
    else
        a->arrived_last = m->any_previous;
    drop_if_empty(&any, any_link);
    forget(vmpi_rank_at(receiver), m);
    if (m->send)
        m->send->sent = NULL;
    return m;
}

void vmpi_forget_send(MPI_Request send)
{
    send->sent->send = NULL;
    send->sent = NULL;
}

int vmpi_withdraw_sent(MPI_Request send)
{
    message *m = send->sent;
    if (m)
        free(take_arrived(vmpi_peer_world(send->comm, send->peer), send->comm->id, m->source, m->tag, m));
    return m != NULL;
}

/* The arrived message that a receive or probe would get; it stays in its queues. */
static message *first_arrived(int receiver, int communicator, int source, int tag)
{
    if (tag == MPI_ANY_TAG) {
        message *m = vmpi_rank_at(receiver)->arrived_first;
        while (m && (m->communicator != communicator || (source != MPI_ANY_SOURCE && m->source != source)))
            m = m->all_next;
        return m;
    }
    entry *e = source == MPI_ANY_SOURCE ? *find(&any, receiver, communicator, -1, tag)
                                        : *find(&exact, receiver, communicator, source, tag);
    return e ? e->arrived_first : NULL;
}

/* The posted receive for a message from `source`: the one posted first among those with its sender or any, and its tag
 * or any. */
static MPI_Request match_posted(int receiver, int communicator, int source, int tag)
{
    table *of[4] = {&exact, &any, &exact, &any}, *best_table = NULL;
    const int sources[4] = {source, -1, source, -1}, tags[4] = {tag, tag, MPI_ANY_TAG, MPI_ANY_TAG};
    entry **best = NULL;
    for (int i = 0; i < (wild_tags ? 4 : 2); i++) {
        entry **link = find(of[i], receiver, communicator, sources[i], tags[i]);
        if (*link && (*link)->posted_first && (!best || (*link)->posted_first->posted < (*best)->posted_first->posted)) {
            best = link;
            best_table = of[i];
        }
    }
    if (!best)
        return NULL;
    MPI_Request request = take_posted(best_table, best);
    wild_tags -= request->tag == MPI_ANY_TAG;
    return request;
}

/* Fails, or cuts the message if the receiver handles errors. */
static size_t check_fits(size_t bytes, MPI_Request receive, int source, int tag)
{
    size_t room = vmpi_packed_bytes(receive->type, receive->count);
    if (bytes <= room)
        return bytes;
    if (!receive->owner->catches)
        vmpi_fail("a message of %zu bytes from rank %d with tag %d exceeds a receive of %zu bytes by rank %d", bytes, source,
                  tag, room, vmpi_comm_rank_of(receive->comm, receive->owner->world));
    receive->status.MPI_ERROR = MPI_ERR_TRUNCATE;
    return room;
}

message *vmpi_deliver(MPI_Comm comm, int destination, int tag, const void *buffer, int count, MPI_Datatype type)
{
    int receiver = vmpi_peer_world(comm, destination);
    int source = vmpi_comm_rank_of(comm, vmpi_current->world);
    size_t bytes = vmpi_packed_bytes(type, count);
    vmpi_record_message(vmpi_current->world, receiver, bytes);

    MPI_Request receive = match_posted(receiver, comm->id, source, tag);
    void *into = receive ? vmpi_address(receive->owner, receive->buffer) : NULL;
    if (receive)
        vmpi_check_bottom(into, bytes);
    if (receive && vmpi_is_contiguous(type)) {
        bytes = check_fits(bytes, receive, source, tag);
        vmpi_unpack(buffer, bytes, into, receive->type);
        vmpi_complete(receive, source, tag, bytes);
        return NULL;
    }
    message *m = malloc(sizeof *m + bytes);
    if (!m)
        vmpi_fail("out of memory for a message of %zu bytes", bytes);
    *m = (message){.source = source, .tag = tag, .bytes = bytes};
    vmpi_pack(buffer, count, type, m->data);
    if (receive) {
        bytes = check_fits(bytes, receive, source, tag);
        vmpi_unpack(m->data, bytes, into, receive->type);
        vmpi_complete(receive, source, tag, bytes);
        free(m);
        return NULL;
    }
    keep(receiver, comm->id, m);
    vmpi_rank *rank = vmpi_rank_at(receiver);
    if (rank->state == RANK_POLLING || rank->probing)
        vmpi_wake(rank);
    return m;
}

void vmpi_deliver_for(MPI_Request send)
{
    if (send->sent) /* the last one of a persistent request */
        vmpi_forget_send(send);
    send->sent = vmpi_deliver(send->comm, send->peer, send->tag, send->buffer, send->count, send->type);
    if (send->sent)
        send->sent->send = send;
}

message *vmpi_take(MPI_Comm comm, int source, int tag)
{
    return take_arrived(vmpi_current->world, comm->id, source, tag, NULL);
}

void vmpi_receive_taken(MPI_Request receive, message *m)
{
    size_t bytes = check_fits(m->bytes, receive, m->source, m->tag);
    if (receive->peer == MPI_PROC_NULL) { /* of a matched probe */
        receive->peer = m->source;
        receive->tag = m->tag;
    }
    vmpi_unpack(m->data, bytes, receive->buffer, receive->type);
    vmpi_complete(receive, m->source, m->tag, bytes);
    free(m);
}

void vmpi_withdraw(MPI_Request receive)
{
    int receiver = receive->owner->world, any_source = receive->peer == MPI_ANY_SOURCE;
    table *t = any_source ? &any : &exact;
    entry **link = find(t, receiver, receive->comm->id, any_source ? -1 : receive->peer, receive->tag);
    MPI_Request *posted = &(*link)->posted_first, last = NULL;
    while (*posted != receive)
        last = *posted, posted = &(*posted)->next;
    *posted = receive->next;
    if (!receive->next)
        (*link)->posted_last = last;
    drop_if_empty(t, link);
    wild_tags -= receive->tag == MPI_ANY_TAG;
}

void vmpi_post(MPI_Request receive)
{
    int receiver = receive->owner->world;
    message *m = first_arrived(receiver, receive->comm->id, receive->peer, receive->tag);
    if (m) {
        vmpi_receive_taken(receive, take_arrived(receiver, receive->comm->id, m->source, m->tag, NULL));
        return;
    }
    receive->posted = posted_so_far++;
    wild_tags += receive->tag == MPI_ANY_TAG;
    entry *e = receive->peer == MPI_ANY_SOURCE
                   ? find_or_add(&any, receiver, receive->comm->id, -1, receive->tag)
                   : find_or_add(&exact, receiver, receive->comm->id, receive->peer, receive->tag);
    append_posted(e, receive);
}

int vmpi_peek(MPI_Comm comm, int source, int tag, MPI_Status *status)
{
    message *m = first_arrived(vmpi_current->world, comm->id, source, tag);
    if (!m)
        return 0;
    if (status != MPI_STATUS_IGNORE) {
        status->MPI_SOURCE = m->source;
        status->MPI_TAG = m->tag;
        status->_cancelled = 0;
        status->_ucount = m->bytes;
    }
    return 1;
}
