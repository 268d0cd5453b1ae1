/** Whom and what the gallery's scenes are made with. */
import type { EjectionParts } from '../../queue/words/ejection.ts'
import type { DevAccount } from '../account.ts'
import type { People } from '../seed.ts'
import type { GalleryHistory } from './history.ts'
import type { Pen, Pulled } from './pen.ts'
import type { Group, Repo, Scene } from './scene.ts'

/** Everybody: the demo's people, and those whom some scene needs. */
export interface Cast extends People {
  /** A collaborator whose account's server takes no records. */
  ivy: DevAccount
  /** Owns a repository and never let the server write. */
  dave: DevAccount
  /** Owns a repository and took the right away again. */
  erin: DevAccount
  /** Nothing of theirs can be read. */
  hugo: DevAccount
}

/** What a part of the gallery is put up with. */
export interface Making {
  cast: Cast
  pen: Pen
  history: GalleryHistory
  /** Adds a state to the list. */
  show(id: string, group: Group, pull: Pulled, more?: Partial<Pick<Scene, 'as' | 'press' | 'title' | 'unread'>>): void
  /** Opens a pull of its own for a scene, from a plain head that no other pull of that repository has where `head` names none. */
  open(
    repo: Repo,
    title: string,
    more?: { head?: string; onto?: string; by?: DevAccount; draft?: boolean; from?: string; ago?: number },
  ): Promise<Pulled>
  /** Queued by bob and turned away by the runner. */
  turnAway(pull: Pulled, why: EjectionParts | undefined, kind: string, more?: Record<string, unknown>): Promise<string>
  /** Repositories whose landers tell of their passes. */
  passes: { repo: Repo; by: DevAccount }[]
  readonly scenes: Scene[]
}
