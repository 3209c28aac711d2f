// The cost of calls, from the response headers with the balance before and after.

import { usd } from "./format";

/** Null if the response has no balances, such as for jobs that are charged later. */
export function costOf(response: Response): number | null {
  const number = (name: string) => Number(response.headers.get(name) ?? NaN);
  const before = number("x-service-balance-usd") + number("x-service-balance-diem");
  const cost = before - number("x-balance-remaining");
  // Balances have nine decimals; rounding removes float errors.
  return cost >= 0 ? Math.round(cost * 1e9) / 1e9 : null;
}

/** The cost of the last call, and of all calls since the page was opened. */
export class Meter {
  last = $state<number | null>(null);
  total = $state(0);

  note(cost: number | null): void {
    this.last = cost;
    this.total += cost ?? 0;
  }

  get summary(): string {
    return [this.last !== null && usd(this.last), `${usd(this.total)} so far`].filter(Boolean).join(" · ");
  }
}
