/**
 * The form in which a table's columns reach the browser: `docs/reference/viewer-protocol.md`.
 *
 * `ODB1`, the header's length (u32), a JSON header, then each column's raw little-endian values at a multiple of 8 bytes, so
 * that typed arrays are views of the received buffer and nothing is parsed or copied.
 */

export type NumericArray = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array

/** Strings as one UTF-8 blob; they are decoded when they are asked for. */
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
    return Strings.decoder.decode(this.blob.subarray(this.offsets[row]!, this.offsets[row + 1]!))
  }

  toArray(): string[] {
    return Array.from({ length: this.length }, (_, row) => this.at(row))
  }

  static from(values: readonly string[]): Strings {
    const parts = values.map((value) => new TextEncoder().encode(value))
    const offsets = new Uint32Array(values.length + 1)
    parts.forEach((part, i) => (offsets[i + 1] = offsets[i]! + part.length))
    const blob = new Uint8Array(offsets[values.length]!)
    parts.forEach((part, i) => blob.set(part, offsets[i]!))
    return new Strings(offsets, blob)
  }
}

export interface Coded {
  readonly codes: Uint8Array | Uint16Array | Uint32Array
  readonly names: readonly string[]
}

export interface Block {
  readonly rows: number
  readonly numbers: ReadonlyMap<string, NumericArray>
  readonly coded: ReadonlyMap<string, Coded>
  readonly strings: ReadonlyMap<string, Strings>
}

interface ColumnHeader {
  name: string
  type: 'u8' | 'u16' | 'u32' | 'i32' | 'f32' | 'f64' | 'str'
  offset: number
  bytes: number
  dictionary?: string[]
}

const ARRAYS = {
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  f64: Float64Array,
} as const

export function decodeBlock(buffer: ArrayBuffer): Block {
  const view = new DataView(buffer)
  if (buffer.byteLength < 8 || view.getUint32(0, false) !== 0x4f444231)
    throw new Error('this is no column block')
  const length = view.getUint32(4, true)
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length))) as {
    rows: number
    columns: ColumnHeader[]
  }
  const numbers = new Map<string, NumericArray>()
  const coded = new Map<string, Coded>()
  const strings = new Map<string, Strings>()
  for (const column of header.columns) {
    if (column.offset + column.bytes > buffer.byteLength)
      throw new Error(`the block ends inside column ${column.name}`)
    if (column.type === 'str') {
      const offsets = new Uint32Array(buffer, column.offset, header.rows + 1)
      const start = column.offset + 4 * (header.rows + 1)
      strings.set(column.name, new Strings(offsets, new Uint8Array(buffer, start, offsets[header.rows])))
      continue
    }
    const values = new ARRAYS[column.type](buffer, column.offset, header.rows)
    if (column.dictionary)
      coded.set(column.name, { codes: values as Coded['codes'], names: column.dictionary })
    else numbers.set(column.name, values)
  }
  return { rows: header.rows, numbers, coded, strings }
}
