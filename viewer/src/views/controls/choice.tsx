/** Menus and rows of buttons for one of several words. */
import type { Run } from '../../data/run'
import { choicesOf, type ChoiceKey, type ViewState } from '../../data/state'
import { useSession, useSettings } from '../session/session'
import type { Settings } from '../session/settings'

interface Option {
  readonly value: string
  readonly label: string
}

interface ChoiceProps {
  readonly label: string
  readonly value: string
  readonly options: readonly Option[]
  readonly test?: string
  onChange(value: string): void
}

export function Choice({ label, value, options, onChange, test }: ChoiceProps) {
  return (
    <label class="choice">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)} data-test={test}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </label>
  )
}

interface JobChoiceProps {
  readonly run: Run
  readonly job: number
  readonly label: string
  readonly test: string
  onChange(job: number): void
}

/** A menu of the jobs, if there are several. */
export function JobChoice({ run, job, label, test, onChange }: JobChoiceProps) {
  if (run.jobs.length < 2) return null
  return (
    <Choice
      label={label}
      test={test}
      value={String(job)}
      options={run.jobs.map(({ job, name }) => ({ value: String(job), label: name }))}
      onChange={(value) => onChange(Number(value))}
    />
  )
}

interface KeyChoiceProps {
  /** A setting that names a key. */
  readonly setting: 'studyPanels' | 'studyRows' | 'studyColumns'
  readonly label: string
  /** Empty for none. */
  readonly value: string
  readonly keys: readonly Option[]
  readonly none?: string
  readonly test: string
}

/** A menu of keys, and none of them. */
export function KeyChoice({ setting, label, value, keys, none = 'none', test }: KeyChoiceProps) {
  const { state } = useSession()
  return (
    <Choice
      label={label}
      test={test}
      value={value || '-'}
      options={[{ value: '-', label: none }, ...keys]}
      onChange={(key) => state.patch({ [setting]: key })}
    />
  )
}

interface NestedKeysProps {
  readonly setting: 'sweepRows' | 'sweepColumns'
  readonly label: string
  /** Outermost first. */
  readonly values: readonly string[]
  readonly keys: readonly Option[]
  readonly none: string
  readonly test: string
}

/** A menu for each nested key, and one for a further key. */
export function NestedKeys({ setting, label, values, keys, none, test }: NestedKeysProps) {
  const { state } = useSession()
  const choose = (at: number) => (key: string) => {
    const next = [...values.slice(0, at), ...(key === '-' ? [] : [key]), ...values.slice(at + 1)]
    state.patch({ [setting]: next.length === 0 ? ['-'] : next })
  }
  const free = (at: number): readonly Option[] =>
    keys.filter(({ value }) => value === values[at] || !values.includes(value))
  const menus = Math.max(1, Math.min(values.length + 1, keys.length))
  return (
    <>
      {Array.from({ length: menus }, (_, at) => (
        <Choice
          key={at}
          label={at === 0 ? label : 'then by'}
          test={at === 0 ? test : `${test}-${at}`}
          value={values[at] ?? '-'}
          options={[{ value: '-', label: at === 0 ? none : '–' }, ...free(at)]}
          onChange={choose(at)}
        />
      ))}
    </>
  )
}

interface SettingProps<Key extends ChoiceKey> {
  readonly setting: Key
  readonly label: string
  /** Text of each word, if it is another. */
  readonly words?: Readonly<Record<ViewState[Key], string>>
  readonly test?: string
}

/** A menu of all words of a setting, or of those `offered`. */
export function SettingChoice<Key extends ChoiceKey>({
  setting,
  label,
  words,
  test = setting,
  offered = choicesOf(setting),
}: SettingProps<Key> & { readonly offered?: readonly ViewState[Key][] }) {
  const { state } = useSession()
  return (
    <Choice
      label={label}
      test={test}
      value={useSettings()[setting]}
      options={offered.map((value) => ({ value, label: words?.[value] ?? value }))}
      onChange={(value) => state.patch({ [setting]: value })}
    />
  )
}

interface SettingButtonsProps<Key extends ChoiceKey> extends SettingProps<Key> {
  readonly titles?: Readonly<Record<ViewState[Key], string>>
  readonly tabs?: boolean
  /** Settings that change along with it. */
  readonly also?: Partial<Settings>
  readonly offered?: readonly ViewState[Key][]
  /** The word that is shown, if it is not the setting. */
  readonly chosen?: ViewState[Key]
}

/** A button for each word of a setting. */
export function SettingButtons<Key extends ChoiceKey>({
  setting,
  label,
  words,
  titles,
  test = setting,
  tabs = false,
  also = {},
  offered = choicesOf(setting),
  chosen,
}: SettingButtonsProps<Key>) {
  const { state } = useSession()
  const settings = useSettings()
  const pressed = chosen ?? settings[setting]
  return (
    <div class={tabs ? 'segmented tabs' : 'segmented'} role="group" aria-label={label}>
      {offered.map((word) => (
        <button
          key={word}
          aria-pressed={pressed === word}
          title={titles?.[word]}
          onClick={() => state.patch({ [setting]: word, ...also })}
          data-test={`${test}-${word}`}
        >
          {words?.[word] ?? word}
        </button>
      ))}
    </div>
  )
}
