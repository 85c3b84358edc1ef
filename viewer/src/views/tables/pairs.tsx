/** A list of names with a text for each. */
import './pairs.css'

export const Pairs = ({ rows }: { rows: readonly (readonly [string, string])[] }) => (
  <dl class="pairs">
    {rows.map(([name, text]) => (
      <>
        <dt>{name}</dt>
        <dd>{text}</dd>
      </>
    ))}
  </dl>
)
