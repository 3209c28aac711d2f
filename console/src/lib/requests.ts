// Types of the responses of `/console/activity`.

export interface BillLine {
  sku: string;
  units: number;
  price: number;
  per: number;
  amount: string;
  currency: string;
}
export interface ListedRequest {
  status: "charged" | "refunded" | "error";
  isRefunded?: boolean;
  at: string;
  requestId: string;
  charge?: string;
  keyId: string | null;
  model?: string;
  path?: string;
  httpStatus?: number;
  promptTokens?: number | null;
  completionTokens?: number | null;
  executionMs?: number | null;
  cost?: Record<string, string>;
  notes: string;
  lines?: BillLine[];
}
export interface RequestFilters {
  keys: { id: string; description: string }[];
  models: string[];
}
export interface FoundRequests {
  data: ListedRequest[];
  total: number;
  /** Set if older requests were not read. */
  isCut: boolean;
  byDay: { date: string; requests: number }[];
  filters: RequestFilters | null;
}
