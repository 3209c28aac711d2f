//! Locates the element with the main content of a page.

use dom_query::NodeRef;

use crate::texts::TextCounts;

/// Minimum share of the unlinked text that the main element holds.
const SHARE_PERCENT: usize = 85;
/// Elements that can be the main element. Others are parts of a table, a list or a sentence.
const PARTS: [&str; 7] = ["main", "article", "section", "div", "td", "form", "center"];

/// The innermost element that holds nearly all of the unlinked text. Does not descend into an
/// article, because its title and author are part of it.
pub(crate) fn find_main_region(body: NodeRef<'_>) -> NodeRef<'_> {
    let texts = TextCounts::count_below(body);
    let all = texts.of_element(body).unlinked();
    let mut region = body;
    let mut element = body;
    while 0 < all && !element.has_name("article") {
        let holds_most = |child: &NodeRef<'_>| {
            child.is_element() && all * SHARE_PERCENT <= texts.of_element(*child).unlinked() * 100
        };
        let Some(child) = element.children_it(false).find(holds_most) else { break };
        if PARTS.iter().any(|name| child.has_name(name)) {
            region = child;
        }
        element = child;
    }
    region
}
