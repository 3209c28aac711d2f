// Formats numbers, amounts and times.

export function usd(amount: number | string | null | undefined, digits?: number): string {
  const value = Number(amount ?? 0);
  const size = Math.abs(value);
  const most = digits ?? (size === 0 || size >= 1 ? 2 : size >= 0.01 ? 4 : 8);
  return value.toLocaleString("en-US", {
    style: "currency",
    currency: "USD",
    minimumFractionDigits: 2,
    maximumFractionDigits: most,
  });
}

export function count(value: number | null | undefined): string {
  return value == null ? "–" : value.toLocaleString("en-US");
}

export function short(value: number): string {
  return Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 }).format(value);
}

/** The spending limits of a key, such as `$5.00, 2 DIEM per month`; "none" if it has none. */
export function spendingLimits(
  limits: { usd?: number | string | null; diem?: number | string | null },
  period: string,
): string {
  const amounts = [limits.usd == null ? [] : usd(limits.usd), limits.diem == null ? [] : `${Number(limits.diem)} DIEM`];
  return amounts.flat().length ? `${amounts.flat().join(", ")} ${period}` : "none";
}

export function when(text: string | null | undefined): string {
  if (!text) return "–";
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

export function ago(text: string | null | undefined): string {
  if (!text) return "never";
  const seconds = Math.max(0, (Date.now() - new Date(text).getTime()) / 1000);
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} d ago`;
}

/** The time between two moments, in the largest two units. */
export function duration(from?: string | null, until?: string | null): string {
  if (!from || !until) return "–";
  const seconds = Math.max(0, Math.round((Date.parse(until) - Date.parse(from)) / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (minutes === 0) return `${seconds} s`;
  if (hours === 0) return `${minutes} min ${seconds % 60} s`;
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function save(name: string, content: Blob | string, type = "text/plain"): void {
  const blob = typeof content === "string" ? new Blob([content], { type }) : content;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Encodes a file of any size as base64; `btoa(String.fromCharCode(...bytes))` fails for large ones. */
export async function asBase64(file: Blob): Promise<string> {
  const reader = new FileReader();
  const read = new Promise<string>((done, failed) => {
    reader.onload = () => done(String(reader.result));
    reader.onerror = () => failed(reader.error);
  });
  reader.readAsDataURL(file);
  return (await read).split(",", 2)[1] ?? "";
}
