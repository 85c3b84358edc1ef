/** A run in one sentence. Python composes it, so that the terminal prints the same words and numbers. */
export interface Headline {
  /** Words, and the focus that they name; empty for plain words. */
  readonly parts: readonly (readonly [string, string])[]
  /** The bottleneck in few words; empty without one. */
  readonly label: string
  /** Its links; empty for a NIC. */
  readonly links: readonly number[]
}

/** Python writes `us` for microseconds. */
export const wordsOf = (text: string): string => text.replace(/(\d) us\b/g, '$1 µs')
