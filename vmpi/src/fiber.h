/* Fibers: execution contexts with separate stacks that switch to each other explicitly.
 *
 * The system maps a fiber's stack lazily (only touched pages use memory). An inaccessible part below it turns an
 * overflow into a fault instead of damage to a neighbour's stack. */
#ifndef VMPI_FIBER_H
#define VMPI_FIBER_H

#include <stddef.h>

typedef struct fiber fiber;

/* Creates a fiber that runs entry(argument) when it is first switched to. `entry` must never return.
 * Returns NULL if the system has no memory or mappings left. */
fiber *fiber_create(size_t stack_bytes, void (*entry)(void *), void *argument);

/* Wraps the calling thread as a fiber, so that others can switch back to it. */
fiber *fiber_of_thread(void);

/* Saves the running context in `from` and continues `to`. */
void fiber_switch(fiber *from, fiber *to);

/* Whether the address is in the inaccessible part below its stack. */
int fiber_overflows(const fiber *f, const void *address);

/* Unmaps the stack of a fiber that is not running. */
void fiber_destroy(fiber *f);

#endif
