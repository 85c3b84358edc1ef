/**
 * Caches the last result of a function.
 *
 * Keys are compared with `Object.is`: two arrays are equal only if they are the same object.
 */
export class Memo<V> {
  private keys: readonly unknown[] | null = null
  private value: V | undefined

  get(keys: readonly unknown[], make: () => V): V {
    const old = this.keys
    if (old === null || old.length !== keys.length || !keys.every((key, i) => Object.is(key, old[i]))) {
      this.value = make()
      this.keys = keys
    }
    return this.value as V
  }
}
