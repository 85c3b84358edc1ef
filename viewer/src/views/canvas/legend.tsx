/** Names with their colours. */
interface LegendEntry {
  readonly name: string
  readonly color: string
  /** Text after the name, and its identifier for tests. */
  readonly value?: string
  readonly test?: string
}

export const Legend = ({ entries }: { entries: readonly LegendEntry[] }) => (
  <ul class="legend">
    {entries.map(({ name, color, value, test }) => (
      <li key={test ?? name}>
        <i class="swatch" style={{ background: color }} /> {name}
        {value !== undefined && (
          <>
            {' '}
            <b data-test={test}>{value}</b>
          </>
        )}
      </li>
    ))}
  </ul>
)
