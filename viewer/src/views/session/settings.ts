/** The settings with the known names of views and panels. */
import type { ViewState } from '../../data/state'
import type { Panel } from '../panels/panels'
import type { View } from '../views'

export interface Settings extends ViewState {
  readonly view: View
  readonly panel: Panel
}
