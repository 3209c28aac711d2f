//! Parts of speech, as named by the Penn Treebank.

/// A part of speech.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PosTag(u8);

impl PosTag {
    pub(crate) fn parse(name: &str) -> Option<PosTag> {
        let position = NAMES.binary_search(&name).ok()?;
        u8::try_from(position).ok().map(PosTag)
    }

    pub(crate) fn name(self) -> &'static str {
        NAMES[usize::from(self.0)]
    }

    pub(crate) fn all() -> impl Iterator<Item = PosTag> {
        (0..NAMES.len()).filter_map(|it| u8::try_from(it).ok().map(PosTag))
    }

    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The word class used by dictionaries, which is coarser than a tag.
    pub(crate) fn word_class(self) -> &'static str {
        match self.name() {
            name if name.starts_with("VB") => "VERB",
            name if name.starts_with("NN") => "NOUN",
            name if name.starts_with("RB") => "ADV",
            name if name.starts_with("JJ") => "ADJ",
            name => name,
        }
    }

    pub(crate) fn has_name(self, name: &str) -> bool {
        self.name() == name
    }

    pub(crate) fn is_noun(self) -> bool {
        self.word_class() == "NOUN"
    }
}

/// In byte order, which also breaks ties between tags.
pub(crate) const NAMES: [&str; 50] = [
    "$", "''", ",", "-LRB-", "-RRB-", ".", ":", "ADD", "AFX", "CC", "CD", "DT", "EX", "FW", "HYPH",
    "IN", "JJ", "JJR", "JJS", "LS", "MD", "NFP", "NN", "NNP", "NNPS", "NNS", "PDT", "POS", "PRP",
    "PRP$", "RB", "RBR", "RBS", "RP", "SYM", "TO", "UH", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ",
    "WDT", "WP", "WP$", "WRB", "XX", "_SP", "``",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tag_is_found_by_its_name() {
        assert!(NAMES.is_sorted());
        for tag in PosTag::all() {
            assert_eq!(PosTag::parse(tag.name()), Some(tag));
        }
        assert_eq!(PosTag::parse("VERB"), None);
    }

    #[test]
    fn fine_tags_belong_to_a_word_class() {
        assert_eq!(PosTag::parse("VBD").map(PosTag::word_class), Some("VERB"));
        assert_eq!(PosTag::parse("DT").map(PosTag::word_class), Some("DT"));
    }
}
