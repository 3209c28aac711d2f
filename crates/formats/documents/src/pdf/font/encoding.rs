//! The four predefined encodings of simple fonts.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BaseEncoding {
    Standard,
    WinAnsi,
    MacRoman,
    Symbol,
}

impl BaseEncoding {
    pub(super) fn from_name(name: &[u8]) -> Option<BaseEncoding> {
        match name {
            b"StandardEncoding" => Some(BaseEncoding::Standard),
            b"WinAnsiEncoding" => Some(BaseEncoding::WinAnsi),
            b"MacRomanEncoding" => Some(BaseEncoding::MacRoman),
            _ => None,
        }
    }

    pub(super) fn character(self, code: u8) -> Option<char> {
        let upper = |table: &str, first: u8| {
            let place = usize::from(code.checked_sub(first)?);
            table.chars().nth(place).filter(|character| *character != MISSING)
        };
        match (self, code) {
            (BaseEncoding::Symbol, 0x20..0x80) => upper(SYMBOL_LOWER, 0x20),
            (BaseEncoding::Symbol, _) => upper(SYMBOL_UPPER, 0xa0),
            (_, 0..0x20 | 0x7f) => None,
            (BaseEncoding::Standard, b'\'') => Some('’'),
            (BaseEncoding::Standard, b'`') => Some('‘'),
            (_, 0x20..0x7f) => Some(char::from(code)),
            (BaseEncoding::Standard, _) => upper(STANDARD_UPPER, 0xa0),
            (BaseEncoding::WinAnsi, 0x80..0xa0) => upper(WIN_ANSI_UPPER, 0x80),
            (BaseEncoding::WinAnsi, 0xa0) => Some(' '),
            (BaseEncoding::WinAnsi, _) => Some(char::from(code)),
            (BaseEncoding::MacRoman, _) => upper(MAC_ROMAN_UPPER, 0x80),
        }
    }
}

/// Marks codes without a character.
const MISSING: char = '\u{0}';

const WIN_ANSI_UPPER: &str = "€•‚ƒ„…†‡ˆ‰Š‹Œ•Ž••‘’“”•–—˜™š›œ•žŸ";

const MAC_ROMAN_UPPER: &str = "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø\
    ¿¡¬√ƒ≈∆«»… ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄¤‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{0}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ";

const STANDARD_UPPER: &str = "\u{0}¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ\u{0}–†‡·\u{0}¶•‚„”»…‰\u{0}¿\
    \u{0}`´ˆ˜¯˘˙¨\u{0}˚¸\u{0}˝˛ˇ—\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\
    \u{0}\u{0}\u{0}Æ\u{0}ª\u{0}\u{0}\u{0}\u{0}ŁØŒº\u{0}\u{0}\u{0}\u{0}\u{0}æ\u{0}\u{0}\u{0}ı\u{0}\
    \u{0}łøœß";

const SYMBOL_LOWER: &str = " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾\
    αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼";

const SYMBOL_UPPER: &str = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑\
    ⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\u{0}〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(base: BaseEncoding, codes: &[u8], expected: &str) {
        let text: String = codes.iter().filter_map(|code| base.character(*code)).collect();
        assert_eq!(text, expected);
    }

    #[test]
    fn each_table_has_its_own_characters() {
        check(BaseEncoding::WinAnsi, b"a\x80\x93\x94\xe4\xff\x85", "a€“”äÿ…");
        check(BaseEncoding::MacRoman, b"a\x80\x8a\xd2\xd3\xa7\xff\xd8\xc9", "aÄä“”ßˇÿ…");
        check(
            BaseEncoding::Standard,
            b"a'`\xa1\xae\xaf\xd0\xe1\xfb\xf5\xe8\xcf\xc1",
            "a’‘¡ﬁﬂ—ÆßıŁˇ`",
        );
        check(BaseEncoding::Symbol, b"abG\xa5\xb7\xe5\xf2\xfe\x7e\xd5\xde", "αβΓ∞•∑∫⎭∼∏⇒");
    }

    #[test]
    fn tables_end_where_the_codes_end() {
        assert_eq!(WIN_ANSI_UPPER.chars().count(), 0x20);
        assert_eq!(MAC_ROMAN_UPPER.chars().count(), 0x80);
        assert_eq!(STANDARD_UPPER.chars().count(), 0x5c);
        assert_eq!(SYMBOL_LOWER.chars().count(), 0x5f);
        assert_eq!(SYMBOL_UPPER.chars().count(), 0x5f);
    }
}
