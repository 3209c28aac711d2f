//! Judges how far a page depends on its scripts.
//!
//! Nearly every page has scripts; most of them count visitors and add nothing to the text. A page is
//! treated as built by its scripts only if it shows one of the signs below and has little text.

use dom_query::{Document, NodeRef};
use serde::{Deserialize, Serialize};

/// A page with fewer words than this may have more text after its scripts have run.
pub(crate) const WORDS_FEW: usize = 80;
/// With fewer words than this beside it, a notice for browsers without scripts counts. Pages that
/// are complete without scripts have such notices too.
const WORDS_BESIDE_NOTICE: usize = 5;
/// Maximum words of a notice that a page is loading.
const WORDS_OF_LOADING: usize = 4;
/// Maximum words of a notice that asks for scripts.
const WORDS_OF_NOTICE: usize = 30;
/// The elements in which frameworks build a page.
const APP_ROOTS: &str = "#root, #app, #__next, #__nuxt, #___gatsby, #svelte, #q-app, app-root";
/// Elements whose text is not shown.
const UNSHOWN: [&str; 4] = ["script", "style", "template", "noscript"];

/// Phrases with which pages ask for scripts. The name alone may be what a page is about.
const REQUESTS_FOR_SCRIPTS: [&str; 7] = [
    "enable javascript",
    "javascript enabled",
    "javascript is disabled",
    "javascript is not enabled",
    "javascript is required",
    "requires javascript",
    "turn on javascript",
];

/// The degree to which a page depends on its scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScriptNeed {
    /// The page has no scripts, or enough text without them.
    None,
    /// The page has little text, and scripts that may add to it; its HTML shows no sign of that.
    Possible,
    /// Scripts build the page: its HTML is an empty frame.
    Certain,
}

/// The signs of a page's HTML that scripts build it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScriptSigns {
    has_scripts: bool,
    has_empty_root: bool,
    has_notice: bool,
}

impl ScriptSigns {
    /// Looks for the signs in a whole page, before anything is removed from it.
    pub(crate) fn find(document: &Document) -> ScriptSigns {
        let scripts = document.select("script");
        let notices = document.select("body > noscript");
        let roots = document.select(APP_ROOTS);
        ScriptSigns {
            has_scripts: scripts.nodes().iter().any(is_program),
            has_empty_root: roots.nodes().iter().any(|root| !shows_text(root)),
            has_notice: notices.nodes().iter().any(|it| asks_for_scripts(&shown_text(&it.text()))),
        }
    }

    /// Judges a page by its signs and by the number of words in its text.
    pub(crate) fn classify_need(self, text: &str, words: usize) -> ScriptNeed {
        if !self.has_scripts {
            return ScriptNeed::None;
        }
        let is_notice_all = self.has_notice && words < WORDS_BESIDE_NOTICE;
        if self.is_bare(text, words) || is_notice_all {
            return ScriptNeed::Certain;
        }
        if words < WORDS_FEW || self.has_empty_root {
            ScriptNeed::Possible
        } else {
            ScriptNeed::None
        }
    }

    /// True if a page with this text is a frame that scripts have not filled.
    pub(crate) fn is_bare(self, text: &str, words: usize) -> bool {
        let is_unfilled = self.has_empty_root && words < WORDS_FEW;
        self.has_scripts && (words == 0 || is_unfilled || is_placeholder(text, words))
    }
}

/// Data that search engines read, and templates, are in script elements too.
fn is_program(script: &NodeRef<'_>) -> bool {
    let Some(kind) = script.attr("type") else { return true };
    let kind = kind.trim().to_ascii_lowercase();
    kind.is_empty()
        || kind == "module"
        || kind.ends_with("javascript")
        || kind.ends_with("ecmascript")
}

fn shows_text(element: &NodeRef<'_>) -> bool {
    let is_shown = |text: &NodeRef<'_>| {
        let parent = text.parent().and_then(|parent| parent.node_name());
        !parent.is_some_and(|name| UNSHOWN.contains(&&*name)) && !text.text().trim().is_empty()
    };
    element.descendants_it().any(|node| node.is_text() && is_shown(&node))
}

/// The text of HTML that was parsed as text, as that of `noscript` is.
fn shown_text(html: &str) -> String {
    let mut pieces = html.split('<');
    let first = pieces.next().unwrap_or_default();
    let after_tags = pieces.filter_map(|piece| piece.split_once('>').map(|(_, text)| text));
    std::iter::once(first).chain(after_tags).collect()
}

/// True if a text is a notice that scripts replace.
fn is_placeholder(text: &str, words: usize) -> bool {
    let begins = |notice: &str| {
        let text = text.trim_start_matches(|it: char| !it.is_alphanumeric());
        text.get(..notice.len()).is_some_and(|start| start.eq_ignore_ascii_case(notice))
    };
    let is_loading = words <= WORDS_OF_LOADING && (begins("loading") || begins("please wait"));
    is_loading || (words <= WORDS_OF_NOTICE && asks_for_scripts(text))
}

fn asks_for_scripts(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    REQUESTS_FOR_SCRIPTS.iter().any(|it| text.contains(it))
}
