//! The element of a page that holds its content.

use dom_query::NodeRef;

use crate::texts::Texts;

/// An element that holds so much of the text outside of links holds the content.
const SHARE_PERCENT: usize = 85;
/// Elements that hold parts of pages. Others are parts of a table, a list or a sentence.
const PARTS: [&str; 7] = ["main", "article", "section", "div", "td", "form", "center"];

/// The innermost part of `body` that holds nearly all of its text outside of links. An article is
/// not looked into: its title and its author are part of it.
pub(crate) fn find(body: NodeRef<'_>) -> NodeRef<'_> {
    let texts = Texts::below(body);
    let all = texts.of(body).unlinked();
    let mut region = body;
    let mut element = body;
    while 0 < all && !element.has_name("article") {
        let holds_most = |child: &NodeRef<'_>| {
            child.is_element() && all * SHARE_PERCENT <= texts.of(*child).unlinked() * 100
        };
        let Some(child) = element.children_it(false).find(holds_most) else { break };
        if PARTS.iter().any(|name| child.has_name(name)) {
            region = child;
        }
        element = child;
    }
    region
}
