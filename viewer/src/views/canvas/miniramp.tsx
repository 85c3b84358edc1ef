/** A small colour scale with its ends. */
import { quantity, type Unit } from '../../base/format'
import { useContext } from 'preact/hooks'
import type { ColorScale } from '../../data/scale'
import { looksFor } from '../../draw/look'
import { ThemeContext, useSession, useStore } from '../session/session'

export function MiniRamp({ scale, unit }: { scale: ColorScale; unit: Unit }) {
  const { ramp } = useStore(useSession().state)
  const looks = looksFor(useContext(ThemeContext), ramp, scale.diverging)
  const colors = [0, 0.25, 0.5, 0.75, 1].map((share) => looks.colors[scale.shade(scale.value(share))]!)
  return (
    <span class="mini-ramp">
      {quantity(scale.low, unit)}
      <i style={{ background: `linear-gradient(to right, ${colors.join(', ')})` }} />
      {quantity(scale.high, unit)}
    </span>
  )
}
