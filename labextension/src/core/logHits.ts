/** The next of some numbers after one, or before it; behind the last one it begins anew. */
export function nextHit(
  hits: readonly number[],
  from: number,
  by: 1 | -1
): number | undefined {
  return by === 1
    ? (hits.find(one => one > from) ?? hits[0])
    : (hits.filter(one => one < from).at(-1) ?? hits.at(-1));
}
