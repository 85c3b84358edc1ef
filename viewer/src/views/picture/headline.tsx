/** The run in one sentence; what it names is a button. */
import { useEffect, useState } from 'preact/hooks'
import { wordsOf, type Headline } from '../../data/headline'
import { useFocusOn, useSession } from '../session/session'
import './headline.css'

/** The sentence of a run; undefined while loading, null if the page has none. */
export function useHeadline(run: number): Headline | null | undefined {
  const { source } = useSession()
  const [found, setFound] = useState<{ run: number; headline: Headline | null }>()
  useEffect(() => {
    let gone = false
    const take = (headline: Headline | null): void => {
      if (!gone) setFound({ run, headline })
    }
    source.headline(run).then(take, () => take(null))
    return () => void (gone = true)
  }, [source, run])
  return found?.run === run ? found.headline : undefined
}

export function HeadlineText({ headline }: { headline: Headline | null | undefined }) {
  const focusOn = useFocusOn()
  if (headline === null) return null
  return (
    <p class="headline" role="status" data-test="headline">
      {headline === undefined
        ? ' '
        : headline.parts.map(([words, focus], i) =>
            focus === '' ? (
              wordsOf(words)
            ) : (
              <button key={i} title="Show it in all pictures" onClick={() => focusOn(focus)}>
                {words}
              </button>
            ),
          )}
    </p>
  )
}
