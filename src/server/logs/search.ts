/** The last place below `length`, from 0, whose value is at most `wanted`, of values that only rise; 0 where none is. */
export function lastAtMost(length: number, valueAt: (place: number) => number, wanted: number): number {
  let low = 0
  let high = length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (valueAt(middle) <= wanted) low = middle
    else high = middle - 1
  }
  return low
}
