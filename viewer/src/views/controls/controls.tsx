/** Measure controls and the colour legend. */
import type { ComponentChildren } from 'preact'
import { useContext } from 'preact/hooks'
import { RAMPS } from '../../base/ramps'
import { quantity } from '../../base/format'
import { CHANNELS } from '../../data/channels'
import { show } from '../../data/describe'
import type { Cables } from '../../data/difference'
import type { DerivedRun } from '../../data/model'
import { projectionOptions } from '../../data/projection'
import { isOpen, NO_ENDS } from '../../data/range'
import { routerColors } from '../../data/ranks'
import { colorAt, looksFor, type LookTable } from '../../draw/look'
import { Choice, SettingButtons, SettingChoice } from './choice'
import { RangeField } from './range'
import { ThemeContext, useSession, useSettings } from '../session/session'
import type { Settings } from '../session/settings'
import './controls.css'

/** The measure as the title of the distribution. */
export function MeasureChoice({ derived: d }: { derived: DerivedRun }) {
  const session = useSession()
  return (
    <select
      class="measure"
      aria-label="Measure"
      data-test="measure"
      value={d.measure.id}
      // A range in other units would have no meaning.
      onChange={(event) =>
        session.state.patch({ measure: event.currentTarget.value, ...NO_ENDS, frozen: null })
      }
    >
      {d.run.measures.map((m) => (
        <option key={m.id} value={m.id}>
          {/* The virtual channels have a menu of their own. */}
          {d.run.whole ? (d.run.info.tables[CHANNELS]?.columns[m.id]?.label ?? m.label) : m.label}
        </option>
      ))}
    </select>
  )
}

/** `children` go below the router colour choice. */
export function Controls({ derived: d, children }: { derived: DerivedRun; children?: ComponentChildren }) {
  const session = useSession()
  const state = useSettings()
  const planes = projectionOptions(d.run.routers.axes.map(({ name }) => name))
  const patch = (fields: Partial<Settings>): void => session.state.patch(fields)
  const channels = session.channels()
  return (
    <section aria-label="Values">
      <div class="row">
        <button
          disabled={isOpen(d.range)}
          aria-pressed={state.inverted}
          onClick={() => patch({ inverted: !state.inverted })}
          title="Select the links outside of the range (I)"
          data-test="range-invert"
        >
          invert the range
        </button>
      </div>
      {channels.length > 0 && (
        <Choice
          label="Virtual channels"
          test="channel"
          value={d.run.whole ? state.channel : ''}
          options={[{ value: '', label: 'all' }, ...channels.map(({ id, label }) => ({ value: id, label }))]}
          onChange={(channel) => patch({ channel, ...NO_ENDS, frozen: null })}
        />
      )}
      <SettingChoice setting="aggregate" label="Aggregation" />
      <SettingChoice
        setting="routers"
        label="Router colour"
        words={{ job: 'job', value: 'hottest link', rank: 'rank of a job' }}
        offered={routerColors(d.run.info)}
      />
      {children}
      {planes.length > 0 && d.run.shape === 'torus' && (
        <Choice
          label="View"
          test="planes"
          value={state.projection}
          options={planes}
          onChange={(projection) => patch({ projection, zoom: [1, 0, 0] })}
        />
      )}
    </section>
  )
}

export function ScaleLegend({ derived: d, cables }: { derived: DerivedRun; cables?: Cables | undefined }) {
  const session = useSession()
  const state = useSettings()
  const looks = looksFor(useContext(ThemeContext), state.ramp, d.signed)
  const gradient = Array.from({ length: 11 }, (_, i) => colorAt(looks, i / 10)).join(', ')
  const ramps = Object.entries(RAMPS).filter(([, ramp]) => ramp.diverging === d.signed)
  const chosen = RAMPS[state.ramp]?.diverging === d.signed ? state.ramp : ramps[0]![0]
  return (
    <section aria-label="Colour scale">
      <header>
        <h2>{d.measure.unit === 'doublings' ? 'Factor' : d.signed ? 'Change' : d.measure.label}</h2>
        <SettingButtons setting="scale" label="Colour scale" />
      </header>
      <div
        class={d.signed ? 'ramp signed' : 'ramp'}
        style={{ background: `linear-gradient(to right, ${gradient})` }}
      />
      <div class="ramp-labels" data-test="ramp-labels">
        {[0, 0.5, 1].map((share) => (
          <span key={share}>
            {d.signed ? show(d, d.scale.value(share)) : quantity(d.scale.value(share), d.measure.unit)}
          </span>
        ))}
      </div>
      <Ends derived={d} />
      <LegendExtras derived={d} looks={looks} cables={cables} />
      <div class="row">
        <select
          aria-label="Colour ramp"
          value={chosen}
          onChange={(event) => session.state.patch({ ramp: event.currentTarget.value })}
        >
          {ramps.map(([name, ramp]) => (
            <option key={name} value={name}>
              {ramp.label}
            </option>
          ))}
        </select>
        <label title="Keep this colour range when jobs, classes or runs change (F)">
          <input
            type="checkbox"
            checked={state.frozen !== null}
            onChange={() =>
              session.state.patch({ frozen: state.frozen === null ? [d.scale.low, d.scale.high] : null })
            }
          />{' '}
          freeze range
        </label>
      </div>
    </section>
  )
}

interface LegendExtrasProps {
  readonly derived: DerivedRun
  readonly looks: LookTable
  readonly cables: Cables | undefined
}

/** Legend of marks outside the colour scale, and of hollow decreases. */
function LegendExtras({ derived: d, looks, cables }: LegendExtrasProps) {
  return (
    <div class="looks">
      <span>
        <i style={{ background: looks.palette.empty }} class="swatch bordered" />{' '}
        {d.signed ? 'unchanged' : 'no traffic'}
      </span>
      <span>
        <i style={{ background: looks.palette.filtered }} class="swatch" /> filtered out
      </span>
      {d.signed && (
        <span class="whole" data-test="hollow">
          <i style={{ borderColor: colorAt(looks, 0.1) }} class="swatch hollow" /> decrease: hollow or
          interrupted
        </span>
      )}
      {cables && cables.removed > 0 && (
        <span>
          <i style={{ borderColor: looks.palette.muted }} class="swatch cable dashed" /> removed
        </span>
      )}
      {cables && cables.added > 0 && (
        <span>
          <i style={{ borderColor: looks.palette.accent }} class="swatch cable" /> added
        </span>
      )}
    </div>
  )
}

/** Ends of the colour range as text; a difference has one symmetric end. */
function Ends({ derived: d }: { derived: DerivedRun }) {
  const session = useSession()
  const { frozen } = useSettings()
  const { unit } = d.measure
  const { low, high } = d.scale
  // Clearing an end resets both.
  const set = (from: number, to: number | null): void =>
    session.state.patch({ frozen: to === null ? null : [from, to] })
  return (
    <div class="range">
      {!d.signed && (
        <RangeField
          label="colours from"
          test="colour-from"
          empty={quantity(low, unit)}
          unit={unit}
          value={frozen?.[0] ?? null}
          wrong={(from) => (from < high ? '' : 'must be below the upper end')}
          onChange={(from) => (from === null ? set(0, null) : set(from, high))}
        />
      )}
      <RangeField
        label={d.signed ? 'colours ±' : 'to'}
        test="colour-to"
        empty={quantity(high, unit)}
        unit={unit}
        value={frozen?.[1] ?? null}
        wrong={(to) => ((d.signed ? 0 : low) < to ? '' : 'must be above the lower end')}
        onChange={(to) => set(d.signed ? -(to ?? 0) : low, to)}
      />
    </div>
  )
}
