import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** What a runner counts. One registry for the program. */
export interface RunnerMetrics {
  registry: Registry
  passes: Counter<'outcome'>
  passSeconds: Histogram
  /** By what the planner asked for. */
  actions: Counter<'action'>
  slotsBusy: Gauge
  slotsWaiting: Gauge
}

/** `slots` is asked whenever the metrics are read. */
export function createRunnerMetrics(slots: () => { busy: number; waiting: number }): RunnerMetrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, prefix: 'knotless_runner_' })
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name: `knotless_runner_${name}`,
      help,
      registers,
      collect() {
        this.set(read())
      },
    })
  return {
    registry,
    passes: new Counter({
      name: 'knotless_runner_passes_total',
      help: 'Passes over a repository, by how they went',
      labelNames: ['outcome'],
      registers,
    }),
    passSeconds: new Histogram({
      name: 'knotless_runner_pass_seconds',
      help: 'Time of a pass',
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 15, 60],
      registers,
    }),
    actions: new Counter({ name: 'knotless_runner_actions_total', help: 'What passes did', labelNames: ['action'], registers }),
    slotsBusy: gauge('slots_busy', 'Runs going', () => slots().busy),
    slotsWaiting: gauge('slots_waiting', 'Runs that wait for a slot', () => slots().waiting),
  }
}
