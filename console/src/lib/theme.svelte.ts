// The theme: light, dark, or the system's. It is the only thing that this page stores.

type Theme = "system" | "light" | "dark";
export const theme = $state<{ now: Theme }>({ now: stored() });

function stored(): Theme {
  const value = localStorage.getItem("theme");
  return value === "light" || value === "dark" ? value : "system";
}

export function choose(next: Theme): void {
  theme.now = next;
  if (next === "system") {
    localStorage.removeItem("theme");
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem("theme", next);
    document.documentElement.dataset.theme = next;
  }
}

choose(theme.now);
