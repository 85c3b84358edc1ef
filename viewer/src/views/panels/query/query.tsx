/** A query over the tables of the run; rows that name links, routers or jobs select them in the pictures. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { count, counted, digits } from '../../../base/format'
import type { DerivedRun } from '../../../data/model'
import { answerFocus, answerJobs, markColumn, rowFocuses, type QueryAnswer } from '../../../data/queries'
import { ALL_VALUES } from '../../../data/range'
import type { Run } from '../../../data/run'
import { useFocusOn, useSession, useSettings } from '../../session/session'
import { Table } from '../../tables/table'
import './query.css'

const EXAMPLE = 'FROM links ORDER BY bytes DESC LIMIT 20'

/** The answer, why there is none, or the request. */
type AnswerState = QueryAnswer | string | AbortController | null

export function QueryView({ derived: { run } }: { derived: DerivedRun }) {
  const session = useSession()
  if (!session.source.query)
    return (
      <p class="query hint">
        A page without a server answers no queries. Open the run with <code>odonata view RUN</code>.
      </p>
    )
  if (!session.index.answers_queries)
    return (
      <p class="query hint">
        Queries need DuckDB: <code>pip install 'odonata[query]'</code>, then start the viewer again.
      </p>
    )
  return <QueryPanel run={run} />
}

function QueryPanel({ run }: { run: Run }) {
  const session = useSession()
  const { query } = useSettings()
  const [text, setText] = useState(query)
  const [asked, setAsked] = useState(0)
  const found = useAnswer(run.id, query, asked)
  useEffect(() => setText(query), [query])
  const ask = (sql: string): void => {
    setText(sql)
    setAsked(asked + 1)
    session.state.patch({ query: sql.trim() })
  }
  return (
    <section class="query" aria-label="Query" data-test="query">
      <textarea
        aria-label="SELECT over the tables of the run"
        rows={3}
        spellcheck={false}
        placeholder={EXAMPLE}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          event.stopPropagation()
          if (event.key !== 'Enter' || event.shiftKey) return
          event.preventDefault()
          ask(text)
        }}
      />
      <p>
        <button onClick={() => ask(text.trim() === '' ? EXAMPLE : text)}>Run query</button>{' '}
        <span class="hint">Enter runs it; Shift + Enter starts a line.</span>
      </p>
      <p class="tables">
        {Object.keys(run.info.tables).map((name) => (
          <button
            key={name}
            class="switch"
            title={tableTitle(run, name)}
            onClick={() => ask(`DESCRIBE ${name}`)}
          >
            {name}
          </button>
        ))}
      </p>
      {found instanceof AbortController ? (
        <p role="status">
          Running … <button onClick={() => found.abort()}>Cancel</button>
        </p>
      ) : typeof found === 'string' ? (
        <p class="alarm" role="alert">
          {found}
        </p>
      ) : (
        found && <Answer run={run} answer={found} />
      )}
    </section>
  )
}

const tableTitle = (run: Run, name: string): string =>
  `Columns of the ${counted(run.info.tables[name]!.rows, 'row')} of ${name}`

/** Asks the server whenever the run or the query changes, and again with another `asked`. */
function useAnswer(run: number, query: string, asked: number): AnswerState {
  const { source } = useSession()
  const [found, setFound] = useState<AnswerState>(null)
  useEffect(() => {
    if (query === '') return setFound(null)
    const controller = new AbortController()
    let gone = false
    const take = (what: AnswerState): void => {
      if (!gone) setFound(what)
    }
    setFound(controller)
    source.query!(run, query, controller.signal).then(take, (error: unknown) => {
      const { message, hint } = error as { message: string; hint?: string }
      take(controller.signal.aborted ? null : hint === undefined ? message : `${message}. ${hint}`)
    })
    return () => {
      gone = true
      controller.abort()
    }
  }, [source, run, query, asked])
  return found
}

function Answer({ run, answer }: { run: Run; answer: QueryAnswer }) {
  const { focus } = useSettings()
  const focusOn = useFocusOn()
  const { columns, rows, more } = answer
  const mark = markColumn(answer)
  const focuses = useMemo(() => rowFocuses(run, answer, mark), [run, answer])
  const links = useMemo(() => columns.findIndex(({ name }) => name === 'link'), [answer])
  return (
    <>
      <p class="hint">
        {more ? `First ${count(rows.length)} rows; there are more.` : `${counted(rows.length, 'row')}.`}{' '}
        {mark && rows.length > 0 && `Click a row to see its ${mark.subject} in the pictures.`}{' '}
        <ShowAll run={run} answer={answer} />
      </p>
      <div class="table-frame" tabIndex={0} role="region" aria-label="Rows of the answer">
        <Table
          heads={columns.map(({ name, is_number }) => ({ text: name, number: is_number }))}
          test="answer"
        >
          {rows.map((row, r) => {
            const named = focuses[r] ?? null
            return (
              <tr
                key={r}
                class={named === null ? '' : named === focus ? 'named focused' : 'named'}
                tabIndex={named === null ? undefined : 0}
                onClick={() => named !== null && focusOn(named)}
                onKeyDown={(event) => event.key === 'Enter' && named !== null && focusOn(named)}
              >
                {row.map((value, c) => (
                  <td key={c} class={columns[c]!.is_number ? 'number' : ''}>
                    {c === links && named !== null ? named.slice(5) : cell(value)}
                  </td>
                ))}
              </tr>
            )
          })}
        </Table>
      </div>
    </>
  )
}

/** The number itself: the unit of an expression is not known. */
function cell(value: string | number | null): string {
  if (value === null) return '–'
  if (typeof value === 'string') return value
  const isLong = Number.isInteger(value) || Math.abs(value) >= 1e6
  return isLong && Math.abs(value) < 1e15 ? count(value).replace('-', '−') : digits(value, 6)
}

/** A button that shows all rows of an answer in the pictures. */
function ShowAll({ run, answer }: { run: Run; answer: QueryAnswer }) {
  const session = useSession()
  const { focus } = useSettings()
  const mark = markColumn(answer)
  const all = useMemo(() => answerFocus(run, answer, mark), [run, answer])
  const jobs = answerJobs(answer, mark)
  if (all !== null) {
    const isShown = focus === all
    return (
      <button
        aria-pressed={isShown}
        onClick={() => session.state.patch(isShown ? { focus: '' } : { ...ALL_VALUES, focus: all })}
      >
        show only these {all.startsWith('links:') ? 'links' : 'routers'}
      </button>
    )
  }
  if (!jobs || jobs.size === 0) return null
  const others = run.jobs.filter(({ job }) => !jobs.has(job))
  return (
    <button
      onClick={() =>
        session.state.patch({ jobs: Object.fromEntries(others.map(({ job }) => [job, 'hidden' as const])) })
      }
    >
      show only these jobs
    </button>
  )
}
