//! Removes what surrounds the content of a page: menus, banners, footers, advertisements, comments.

use std::collections::HashMap;

use dom_query::{Document, NodeId, NodeRef};

use crate::texts::{TextCount, TextCounts};

/// Elements that are never content.
const NEVER: &str = "script, style, noscript, template, svg, iframe, object, dialog, nav, button, \
                     select, textarea, input:not([type=checkbox]), [aria-hidden=true], \
                     [aria-modal=true], [hidden]:not([role=tabpanel])";
/// Anchor links beside headings.
const ANCHORS: &str = "a.headerlink, a.anchor, a.heading-anchor, a.hash-link, a.doc-anchor";
/// If elements of one name hold more of the page's text than this, they are content despite their
/// name: a thread may consist of comments, themes name whole pages after their sidebar, and some
/// frameworks wrap pages in a form.
const SHARE_MAX_PERCENT: usize = 50;
/// Minimum share of linked text at which a block with a name in `OF_LINKS` is navigation.
const LINKED_PERCENT: usize = 50;
/// Minimum share of linked text at which any block is navigation.
const LINKED_ONLY_PERCENT: usize = 75;
/// A sentence may consist of a link or two; from this number on, links may be navigation.
const LINKS_MANY: usize = 3;
/// Names of at least this length also match as a prefix: `comment` in `commentlist`.
const BEGINNING_LETTERS: usize = 6;

/// ARIA roles of elements around the content.
const ROLES: [&str; 8] = [
    "navigation",
    "banner",
    "contentinfo",
    "complementary",
    "search",
    "dialog",
    "alertdialog",
    "menu",
];
/// Words in classes and ids of elements that are not content, as used by websites and their
/// software.
const OF_FRAME: [&str; 46] = [
    "ad",
    "ads",
    "adslot",
    "advert",
    "breadcrumb",
    "btn",
    "button",
    "comment",
    "consent",
    "cookie",
    "cta",
    "disqus",
    "editsection",
    "footer",
    "gdpr",
    "jumpbox",
    "likes",
    "modal",
    "navbox",
    "newsletter",
    "noprint",
    "overlay",
    "pager",
    "paginat",
    "paywall",
    "popup",
    "postprofile",
    "printfooter",
    "promo",
    "reaction",
    "recommend",
    "related",
    "respond",
    "share",
    "sharedaddy",
    "sharing",
    "sidebar",
    "signup",
    "skip",
    "skiplink",
    "sns",
    "social",
    "sponsor",
    "subscri",
    "teaser",
    "vote",
];
/// Words in classes and ids of elements that are not content if they consist of links.
const OF_LINKS: [&str; 24] = [
    "actions",
    "archive",
    "archives",
    "bottom",
    "catlinks",
    "foot",
    "header",
    "latest",
    "links",
    "menu",
    "more",
    "nav",
    "navbar",
    "navigation",
    "next",
    "popular",
    "rail",
    "ranking",
    "tags",
    "toc",
    "toolbar",
    "top",
    "trending",
    "widget",
];
/// Elements whose classes are checked. Others contain words of a sentence or lines of code.
const BLOCKS: [&str; 19] = [
    "a", "article", "aside", "div", "dl", "figure", "footer", "form", "h2", "h3", "h4", "header",
    "li", "ol", "p", "section", "span", "table", "ul",
];

/// Removes everything that is not content.
pub(crate) fn remove_boilerplate(document: &Document) {
    document.select(NEVER).remove();
    document.select(ANCHORS).remove();
    let Some(body) = document.body() else { return };
    let texts = TextCounts::count_below(body);
    let all = texts.of_element(body).characters;
    let is_small = |characters: usize| characters * 100 <= all * SHARE_MAX_PERCENT;
    let mut kinds: HashMap<&str, BoilerplateGroup<'_>> = HashMap::new();
    for element in body.descendants_it().filter(NodeRef::is_element) {
        let text = texts.of_element(element);
        if is_small(text.characters) {
            for name in boilerplate_names(element, text) {
                kinds.entry(name).or_default().add_element(element, text);
            }
        }
    }
    for kind in kinds.into_values().filter(|kind| is_small(kind.characters)) {
        kind.elements.iter().for_each(NodeRef::remove_from_parent);
    }
    // Readability would remove these: quotes of other posts, and tabs that are initially hidden.
    document.select("aside").rename("div");
    document.select("[role=tabpanel]").remove_attr("hidden");
}

/// The elements of a page that match the same name, without nested ones.
#[derive(Default)]
struct BoilerplateGroup<'a> {
    elements: Vec<NodeRef<'a>>,
    characters: usize,
}

impl<'a> BoilerplateGroup<'a> {
    fn add_element(&mut self, element: NodeRef<'a>, text: TextCount) {
        let is_inside = |outer: NodeId| element.ancestors_it(None).any(|it| it.id == outer);
        if self.elements.last().is_some_and(|last| is_inside(last.id)) {
            return;
        }
        self.elements.push(element);
        self.characters += text.characters;
    }
}

/// The names by which an element counts as frame.
fn boilerplate_names(element: NodeRef<'_>, text: TextCount) -> Vec<&'static str> {
    let Some(name) = element.node_name() else { return Vec::new() };
    let role = element.attr("role").unwrap_or_default();
    let mut names: Vec<&str> = ROLES.into_iter().filter(|it| *it == &*role).collect();
    match &*name {
        "form" => names.push("form"),
        "header" if !is_within(element, &["main", "article", "section"]) => names.push("banner"),
        "footer" if !is_within(element, &["blockquote"]) => names.push("footer"),
        "aside" if element.find(&["blockquote"]).is_empty() => names.push("aside"),
        _ => (),
    }
    if !BLOCKS.contains(&&*name) {
        return names;
    }
    let is_of_links = text.is_linked(LINKED_PERCENT);
    for word in split_name_words(element) {
        let is_same =
            |it: &&str| word == *it || BEGINNING_LETTERS <= it.len() && word.starts_with(it);
        names.extend(OF_FRAME.into_iter().filter(is_same));
        names.extend(OF_LINKS.into_iter().filter(|it| is_of_links && word == *it));
    }
    if !names.is_empty() && is_within(element, &["pre", "code"]) {
        names.clear();
    }
    names
}

fn is_within(element: NodeRef<'_>, names: &[&str]) -> bool {
    element.ancestors_it(None).any(|ancestor| names.iter().any(|name| ancestor.has_name(name)))
}

/// The words in an element's classes and id: `cookie-banner`, `cookie_banner` and `cookieBanner`
/// all give the same two.
fn split_name_words(element: NodeRef<'_>) -> Vec<String> {
    let mut words = Vec::new();
    for names in [element.class(), element.id_attr()].into_iter().flatten() {
        for name in names.split(|it: char| !it.is_alphanumeric()) {
            let mut word = String::new();
            for character in name.chars() {
                let begins = character.is_uppercase() && word.ends_with(char::is_lowercase);
                if begins {
                    words.push(std::mem::take(&mut word).to_lowercase());
                }
                word.push(character);
            }
            words.push(word.to_lowercase());
        }
    }
    words
}

/// Removes blocks of navigation from the content, unless the page consists mostly of links.
pub(crate) fn remove_links(content: NodeRef<'_>) {
    let texts = TextCounts::count_below(content);
    if texts.of_element(content).is_linked(LINKED_PERCENT) {
        return;
    }
    let blocks: Vec<NodeRef<'_>> = content
        .descendants_it()
        .filter(|node| node.has_name("div") || node.has_name("section"))
        .collect();
    for block in blocks {
        let is_linked = texts.of_element(block).is_linked(LINKED_ONLY_PERCENT);
        if is_linked && LINKS_MANY <= block.find(&["a"]).len() {
            block.remove_from_parent();
        }
    }
}
