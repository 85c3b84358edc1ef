/** Torus links by axis and sign, with their means; a click filters. */
import { useMemo } from 'preact/hooks'
import { count } from '../../base/format'
import { directionStats } from '../../data/direction'
import { show } from '../../data/describe'
import type { DerivedRun } from '../../data/model'
import { useFocusOn } from '../session/session'

export function Directions({ derived: d }: { derived: DerivedRun }) {
  const focusOn = useFocusOn()
  const stats = useMemo(() => directionStats(d.run, d.values), [d.run, d.values])
  if (stats.length === 0) return null
  return (
    <section class="card" aria-label="Directions">
      <header>
        <h2>Directions</h2>
        <span class="hint">mean per link</span>
      </header>
      <div class="directions">
        {stats.map(({ name, links, mean, largest }) => (
          <button
            key={name}
            class="direction"
            aria-pressed={d.focus?.kind === 'direction' && d.focus.text === `direction:${name}`}
            onClick={() => focusOn(`direction:${name}`)}
            data-test={`direction-${name}`}
            title={`${count(links)} links ${name}: mean ${show(d, mean)}, max ${show(d, largest)}. Click to show only these.`}
          >
            <b>{name}</b> <span>{links === 0 ? '–' : show(d, mean)}</span>
          </button>
        ))}
      </div>
    </section>
  )
}
