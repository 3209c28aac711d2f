//! Counts the text of each element of a page, and the share of it in links.

use std::collections::HashMap;

use dom_query::{NodeId, NodeRef};

/// Letters and digits in an element: unlike words, all scripts have them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TextCount {
    pub(crate) characters: usize,
    /// The part of `characters` within links.
    pub(crate) linked: usize,
}

impl TextCount {
    pub(crate) fn unlinked(self) -> usize {
        self.characters - self.linked
    }

    /// True if at least `percent` of the text is in links.
    pub(crate) fn is_linked(self, percent: usize) -> bool {
        self.characters * percent <= self.linked * 100
    }
}

pub(crate) struct TextCounts(HashMap<NodeId, TextCount>);

impl TextCounts {
    pub(crate) fn count_below(root: NodeRef<'_>) -> TextCounts {
        let mut nodes = vec![root];
        nodes.extend(root.descendants_it());
        let mut texts: HashMap<NodeId, TextCount> = HashMap::with_capacity(nodes.len());
        // In reverse order, so that children come before their parents.
        for node in nodes.iter().rev() {
            let mut text = texts.get(&node.id).copied().unwrap_or_default();
            if node.is_text() {
                let characters = node.text().chars().filter(|it| it.is_alphanumeric()).count();
                text = TextCount { characters, linked: 0 };
            } else if node.has_name("a") && node.has_attr("href") {
                text.linked = text.characters;
            }
            if text.characters == 0 {
                continue;
            }
            texts.insert(node.id, text);
            if let Some(parent) = node.parent() {
                let sum = texts.entry(parent.id).or_default();
                sum.characters += text.characters;
                sum.linked += text.linked;
            }
        }
        TextCounts(texts)
    }

    pub(crate) fn of_element(&self, node: NodeRef<'_>) -> TextCount {
        self.0.get(&node.id).copied().unwrap_or_default()
    }
}
