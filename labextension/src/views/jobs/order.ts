import type { IFound } from '../../contract';
import type { Value } from '../../core/values';

/** By which column, and which way; column -1 is the job itself. */
export interface IOrder {
  column: number;
  direction: 'ascending' | 'descending';
}

/** Up, then down, then as it was found. */
export function nextOrder(order: IOrder | null, column: number): IOrder | null {
  if (order?.column !== column) {
    return { column, direction: 'ascending' };
  }
  return order.direction === 'ascending'
    ? { column, direction: 'descending' }
    : null;
}

/** What has no value stands last, whichever way. */
export function sorted(
  rows: readonly IFound[],
  order: IOrder | null
): readonly IFound[] {
  if (order === null) {
    return rows;
  }
  const way = order.direction === 'ascending' ? 1 : -1;
  return [...rows].sort((a, b) => {
    const [one, other] = [valueOf(a, order.column), valueOf(b, order.column)];
    if (one === null || other === null) {
      return Number(one === null) - Number(other === null);
    }
    return way * compare(one, other);
  });
}

function valueOf(row: IFound, column: number): string | number | null {
  const value: Value =
    column < 0 ? Number(row.thing) : (row.values[column] ?? null);
  if (typeof value === 'object' && value !== null) {
    return Array.isArray(value) ? value.join(', ') : value.time;
  }
  return typeof value === 'boolean' ? Number(value) : value;
}

function compare(one: string | number, other: string | number): number {
  return typeof one === 'number' && typeof other === 'number'
    ? one - other
    : String(one).localeCompare(String(other));
}
