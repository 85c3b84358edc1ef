/**
 * Decodes table columns sent by the server; format: `docs/reference/viewer-protocol.md`.
 *
 * `ODB2`, header length (u32), JSON header, then the little-endian values of each column, aligned to 8 bytes.
 * Typed arrays are views of the received buffer; compressed columns are expanded.
 */

export type NumericArray = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array

/** Strings in one UTF-8 blob, decoded on access. */
export class Strings {
  private static decoder = new TextDecoder()

  constructor(
    private readonly offsets: Uint32Array,
    private readonly blob: Uint8Array,
  ) {}

  get length(): number {
    return this.offsets.length - 1
  }

  at(row: number): string {
    return Strings.decoder.decode(this.blob.subarray(this.offsets[row], this.offsets[row + 1]))
  }

  toArray(): string[] {
    return Array.from({ length: this.length }, (_, row) => this.at(row))
  }

  static from(values: readonly string[]): Strings {
    const parts = values.map((value) => new TextEncoder().encode(value))
    const offsets = new Uint32Array(values.length + 1)
    parts.forEach((part, i) => (offsets[i + 1] = offsets[i]! + part.length))
    const blob = new Uint8Array(offsets[values.length]!)
    parts.forEach((part, i) => blob.set(part, offsets[i]))
    return new Strings(offsets, blob)
  }
}

interface CodedText {
  readonly codes: Uint8Array | Uint16Array | Uint32Array
  readonly names: readonly string[]
}

export interface Block {
  readonly rows: number
  readonly numbers: ReadonlyMap<string, NumericArray>
  readonly coded: ReadonlyMap<string, CodedText>
  readonly strings: ReadonlyMap<string, Strings>
}

/** The text of a row; empty without the column. */
export function textAt(block: Block, column: string, row: number): string {
  const coded = block.coded.get(column)
  return coded ? coded.names[coded.codes[row]!]! : (block.strings.get(column)?.at(row) ?? '')
}

/** Columns of a block; an error without one. */
export function numbers(block: Block, name: string): NumericArray {
  const values = block.numbers.get(name)
  if (!values) throw new Error(`the column ${name} is missing`)
  return values
}

export function u32(block: Block, name: string): Uint32Array {
  const values = numbers(block, name)
  return values instanceof Uint32Array ? values : new Uint32Array(values)
}

export function f64(values: NumericArray): Float64Array {
  return values instanceof Float64Array ? values : new Float64Array(values)
}

export function strings(block: Block, name: string): Strings {
  const values = block.strings.get(name)
  if (values) return values
  const coded = block.coded.get(name)
  if (coded) return Strings.from(Array.from(coded.codes, (code) => coded.names[code]!))
  throw new Error(`the column ${name} is missing`)
}

interface ColumnHeader {
  name: string
  type: 'u8' | 'u16' | 'u32' | 'i32' | 'f32' | 'f64' | 'str'
  offset: number
  bytes: number
  dictionary?: string[]
  /** The bytes are indices into these values. */
  values?: number[]
  /** The bytes are increments; this is the first value. */
  from?: number
}

const ARRAYS = {
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  f64: Float64Array,
} as const

/** `at`: offset of the block in the buffer. */
export function decodeBlock(buffer: ArrayBuffer, at = 0): Block {
  const header = headerOf(buffer, at, BLOCK) as { rows: number; columns: ColumnHeader[] }
  const numbers = new Map<string, NumericArray>()
  const coded = new Map<string, CodedText>()
  const strings = new Map<string, Strings>()
  for (const column of header.columns) {
    const begin = at + column.offset
    if (begin + column.bytes > buffer.byteLength)
      throw new Error(`the block ends inside column ${column.name}`)
    if (column.type === 'str') {
      const offsets = new Uint32Array(buffer, begin, header.rows + 1)
      const start = begin + 4 * (header.rows + 1)
      strings.set(column.name, new Strings(offsets, new Uint8Array(buffer, start, offsets[header.rows])))
      continue
    }
    const values = new ARRAYS[column.type](buffer, begin, header.rows)
    if (column.dictionary)
      coded.set(column.name, { codes: values as CodedText['codes'], names: column.dictionary })
    else numbers.set(column.name, numbersOf(column, values))
  }
  return { rows: header.rows, numbers, coded, strings }
}

const [BLOCK, SEVERAL] = [0x4f444232, 0x4f445331]

function headerOf(buffer: ArrayBuffer, at: number, magic: number): unknown {
  const view = new DataView(buffer, at)
  if (view.byteLength < 8 || view.getUint32(0, false) !== magic) throw new Error('this is not a column block')
  const length = view.getUint32(4, true)
  return JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, at + 8, length)))
}

function numbersOf({ values, from }: ColumnHeader, sent: NumericArray): NumericArray {
  if (values) return expandValues(Float64Array.from(values), sent as Uint8Array)
  return from === undefined ? sent : expandSteps(from, sent as Uint8Array)
}

function expandValues(values: Float64Array, sent: Uint8Array): Float64Array {
  const all = new Float64Array(sent.length)
  for (let i = 0; i < sent.length; i++) all[i] = values[sent[i]!]!
  return all
}

function expandSteps(from: number, sent: Uint8Array): Uint32Array {
  const all = new Uint32Array(sent.length)
  let sum = from
  for (let i = 0; i < sent.length; i++) {
    sum += sent[i]!
    all[i] = sum
  }
  return all
}

/** Decodes several blocks that were sent together, by name. */
export function decodeBlocks(buffer: ArrayBuffer): Map<string, Block> {
  const places = headerOf(buffer, 0, SEVERAL) as Record<string, [number, number]>
  const start = 8 + new DataView(buffer).getUint32(4, true)
  return new Map(Object.entries(places).map(([name, [at]]) => [name, decodeBlock(buffer, start + at)]))
}
