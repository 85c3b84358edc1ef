/** The value range: hottest links by button, exact ends as text. */
import { useState } from 'preact/hooks'
import { count, exampleOf, parseQuantity, quantity, type Unit } from '../../base/format'
import type { DerivedRun } from '../../data/model'
import { ALL_VALUES, HOTTEST, isOpen } from '../../data/range'
import { useSession, useStore } from '../session/session'

/** Buttons for the hottest links, with a note on what is shown. */
export function HottestFilter({ derived: d }: { derived: DerivedRun }) {
  const session = useSession()
  const { hottest, inverted } = useStore(session.state)
  const set = (share: number): void => session.state.patch({ ...ALL_VALUES, hottest: share })
  return (
    <>
      <div class="hottest">
        <span id="hottest-label">{d.signed ? 'largest' : 'hottest'}</span>
        <div class="segmented" role="group" aria-labelledby="hottest-label">
          {[...HOTTEST, 0].map((share) => (
            <button
              key={share}
              aria-pressed={share > 0 ? hottest === share : isOpen(d.range)}
              onClick={() => set(share)}
              data-test={share > 0 ? `hottest-${share}` : 'range-all'}
            >
              {share > 0 ? `${share} %` : 'all'}
            </button>
          ))}
        </div>
      </div>
      {hottest > 0 && (
        <p class="note" data-test="hottest-said">
          {inverted ? 'Without' : 'Only'} the {d.signed ? 'largest' : 'hottest'} {hottest} % of the{' '}
          {d.signed ? 'changed links' : 'links with traffic'}, per class: {count(d.selection.count)} of{' '}
          {count(d.run.links.count)}.{' '}
          <button onClick={() => set(0)} data-test="hottest-undo">
            show all
          </button>
        </p>
      )}
    </>
  )
}

/** The range as text, for exact values and the keyboard. */
export function Range({ unit }: { unit: Unit }) {
  const session = useSession()
  const state = useStore(session.state)
  const field = (key: 'low' | 'high', label: string, empty: string) => (
    <RangeField
      key={key}
      label={label}
      test={`range-${label}`}
      empty={empty}
      unit={unit}
      value={state[key]}
      onChange={(value) => session.state.patch({ hottest: 0, [key]: value })}
    />
  )
  return (
    <div class="range">
      {field('low', 'from', 'min')}
      {field('high', 'to', 'max')}
    </div>
  )
}

interface RangeFieldProps {
  readonly label: string
  readonly test: string
  readonly empty: string
  /** Error for a parsed value; empty if valid. */
  wrong?(value: number): string
  readonly unit: Unit
  readonly value: number | null
  onChange(value: number | null): void
}

export function RangeField({ label, test, empty, unit, value, wrong: refused, onChange }: RangeFieldProps) {
  const [text, setText] = useState<string | null>(null)
  const parsed = text === null || text.trim() === '' ? null : parseQuantity(text, unit)
  const wrong =
    text === null || text.trim() === ''
      ? ''
      : parsed === null
        ? `Invalid value; expected for instance ${exampleOf(unit)}`
        : (refused?.(parsed) ?? '')
  const commit = (): void => {
    // A wrong text stays, with its reason.
    if (text === null || wrong !== '') return
    onChange(parsed)
    setText(null)
  }
  return (
    <label class={wrong === '' ? '' : 'wrong'}>
      {label}
      <input
        data-test={test}
        value={text ?? (value === null ? '' : quantity(value, unit, 4))}
        placeholder={empty}
        onInput={(event) => setText(event.currentTarget.value)}
        onBlur={commit}
        onKeyDown={(event) => {
          event.stopPropagation()
          if (event.key === 'Enter') commit()
          if (event.key === 'Escape') setText(null)
        }}
      />
      {wrong !== '' && <em role="alert">{wrong}</em>}
    </label>
  )
}
