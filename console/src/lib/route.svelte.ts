// The current page: the part of the URL after `#`, so that the server need not know the pages.

export const route = $state({ path: read(), query: params() });

function read(): string {
  return location.hash.replace(/^#/, "").split("?")[0] || "/";
}

function params(): URLSearchParams {
  return new URLSearchParams(location.hash.split("?")[1] ?? "");
}

addEventListener("hashchange", () => {
  route.path = read();
  route.query = params();
  document.getElementById("content")?.focus({ preventScroll: true });
  scrollTo(0, 0);
});
