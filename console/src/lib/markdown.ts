// Renders the Markdown of models. It is not trusted: HTML is shown as text, and the rest is rebuilt
// from a short list of permitted elements without attributes.
import { Marked } from "marked";

const ELEMENTS = new Set([
  "P",
  "BR",
  "HR",
  "EM",
  "STRONG",
  "DEL",
  "CODE",
  "PRE",
  "BLOCKQUOTE",
  "UL",
  "OL",
  "LI",
  "H1",
  "H2",
  "H3",
  "H4",
  "H5",
  "H6",
  "TABLE",
  "THEAD",
  "TBODY",
  "TR",
  "TH",
  "TD",
  "A",
]);
/** Headings of an answer are moved below the page's levels. */
const HEADING = /^H([1-6])$/;
const escape = (text: string): string =>
  text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ text }) => escape(text),
    image: ({ text, href }) => escape(text || href),
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
});

/** Returns a fragment to insert into the page. */
export function render(text: string): DocumentFragment {
  const parsed = new DOMParser().parseFromString(marked.parse(text, { async: false }), "text/html");
  const fragment = document.createDocumentFragment();
  for (const node of parsed.body.childNodes) copy(node, fragment);
  return fragment;
}

function copy(node: Node, into: Node): void {
  if (node instanceof Text) {
    into.appendChild(document.createTextNode(node.data));
    return;
  }
  if (!(node instanceof Element)) return;
  let target = into;
  if (ELEMENTS.has(node.tagName)) {
    const made = element(node);
    into.appendChild(made);
    target = made;
  }
  for (const child of node.childNodes) copy(child, target);
}

function element(of: Element): Element {
  const level = of.tagName.match(HEADING)?.[1];
  const made = document.createElement(level ? `h${Math.min(6, Number(level) + 2)}` : of.tagName.toLowerCase());
  if (made instanceof HTMLAnchorElement) {
    const address = of.getAttribute("href") ?? "";
    if (/^(https?:|mailto:)/i.test(address)) {
      made.href = address;
      made.rel = "noopener noreferrer nofollow";
      made.target = "_blank";
    }
  }
  // Scrollable elements must be reachable by keyboard.
  if (made.tagName === "PRE" || made.tagName === "TABLE") made.setAttribute("tabindex", "0");
  return made;
}
