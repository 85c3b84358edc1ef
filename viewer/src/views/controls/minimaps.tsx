/** Torus minimaps for each pair of axes; a click changes the projection. */
import { useContext, useMemo, useRef } from 'preact/hooks'
import { count, quantity } from '../../base/format'
import { show } from '../../data/describe'
import type { DerivedRun } from '../../data/model'
import { projectionFor, parseProjection } from '../../data/projection'
import type { Run } from '../../data/run'
import { looksFor } from '../../draw/look'
import { minimaps, type Minimap } from '../../layout/minimaps'
import { LARGE, ThemeContext, useSession, useSettings, useStore } from '../session/session'

/** Size of a minimap in pixels. */
const SIDE = 60

export function Minimaps({ derived: d }: { derived: DerivedRun }) {
  const session = useSession()
  const { projection } = useSettings()
  const axes = d.run.routers.axes.map(({ name }) => name)
  const reduced = useStore(session.dragging) && d.run.links.count > LARGE
  const last = useRef<{ run: Run; maps: readonly Minimap[] }>(undefined)
  const maps = useMemo(() => {
    if (d.run.shape !== 'torus') return []
    if (reduced && last.current?.run === d.run) return last.current.maps
    return minimaps(d.run, d.values, d.selection.selected)
  }, [d.run, d.values, d.selection, reduced])
  last.current = { run: d.run, maps }
  if (maps.length === 0) return null
  const seen = parseProjection(projection, axes) ?? parseProjection('', axes)!
  return (
    <section class="card" aria-label="Minimaps">
      <header>
        <h2>Projections</h2>
        <span class="hint" title="Mean of the outgoing links of each place, on the colour scale of all links">
          mean per link
        </span>
      </header>
      <div class="minimaps">
        {maps.map((map) => (
          <Map
            key={map.pair}
            derived={d}
            map={map}
            pressed={map.across === axes[seen.across] && map.down === axes[seen.down]}
            onClick={() =>
              session.state.patch({ projection: projectionFor(projection, map.pair, axes), zoom: [1, 0, 0] })
            }
          />
        ))}
      </div>
    </section>
  )
}

interface MapProps {
  readonly derived: DerivedRun
  readonly map: Minimap
  readonly pressed: boolean
  onClick(): void
}

function Map({ derived: d, map, pressed, onClick }: MapProps) {
  const { ramp } = useStore(useSession().state)
  const looks = looksFor(useContext(ThemeContext), ramp, d.signed)
  const cell = SIDE / Math.max(map.columns, map.rows)
  const color = (i: number): string =>
    map.links[i] === 0
      ? looks.palette.filtered
      : map.means[i] === 0
        ? looks.palette.empty
        : looks.colors[d.scale.shade(map.means[i]!)]!
  const largest = map.means.reduce((most, mean) => (Math.abs(mean) > Math.abs(most) ? mean : most), 0)
  const said = d.signed ? show(d, largest) : quantity(largest, d.measure.unit)
  return (
    <button
      class="minimap"
      aria-pressed={pressed}
      onClick={onClick}
      data-test={`minimap-${map.pair}`}
      title={`${map.across} horizontal, ${map.down} vertical: ${count(map.columns * map.rows)} places, largest mean ${said}. Click to use this projection.`}
    >
      <svg width={map.columns * cell} height={map.rows * cell} role="img" aria-hidden="true">
        {Array.from(map.means, (_, i) => (
          <rect
            key={i}
            x={(i % map.columns) * cell}
            y={Math.floor(i / map.columns) * cell}
            width={cell}
            height={cell}
            fill={color(i)}
          />
        ))}
      </svg>
      <span>
        {map.across} × {map.down}
      </span>
    </button>
  )
}
