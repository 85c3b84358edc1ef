/** An observable value. Values are replaced, never mutated. */
export class Store<T> {
  private listeners = new Set<(value: T) => void>()

  constructor(private value: T) {}

  get(): T {
    return this.value
  }

  set(value: T): void {
    if (Object.is(value, this.value)) return
    this.value = value
    for (const listener of [...this.listeners]) listener(value)
  }

  /** Replaces some fields. */
  patch(fields: Partial<T>): void {
    this.set({ ...this.value, ...fields })
  }

  subscribe(listener: (value: T) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }
}
