//! Maps glyph names to characters by the rules of the Adobe Glyph List.

/// A name and its code point per line, sorted by name: Latin, Greek, Cyrillic, punctuation,
/// mathematics and TeX's additions. Other scripts use numeric names.
const NAMES: &str = include_str!("../glyph_names.txt");
/// Ligatures are named by their letters.
const LETTERS_MAX: usize = 8;

/// The text of a glyph: `f_i.alt` is `fi`, and `uni0041` is `A`.
pub(super) fn text_of(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?;
    let (base, _) = name.split_once('.').unwrap_or((name, ""));
    base.split('_').take(LETTERS_MAX).map(parse_letter).collect::<Option<String>>()
}

fn parse_letter(name: &str) -> Option<String> {
    if let Some(character) = find_listed_character(name) {
        return Some(character.to_string());
    }
    if let Some(digits) = name.strip_prefix("uni")
        && 4 <= digits.len()
        && digits.len().is_multiple_of(4)
        && digits.is_ascii()
    {
        let units = (0..digits.len() / 4).map(|unit| &digits[unit * 4..unit * 4 + 4]);
        return units.take(LETTERS_MAX).map(code_point).collect();
    }
    let digits = name.strip_prefix('u').filter(|digits| (4..=6).contains(&digits.len()))?;
    code_point(digits).map(String::from)
}

fn find_listed_character(name: &str) -> Option<char> {
    let names: &[(&str, char)] = &TABLE;
    let place = names.binary_search_by_key(&name, |(name, _)| *name).ok()?;
    Some(names[place].1)
}

static TABLE: std::sync::LazyLock<Vec<(&str, char)>> = std::sync::LazyLock::new(|| {
    let entries = NAMES.lines().filter_map(|line| {
        let (name, digits) = line.split_once(' ')?;
        Some((name, code_point(digits)?))
    });
    let mut table: Vec<_> = entries.collect();
    table.sort_unstable();
    table
});

fn code_point(digits: &str) -> Option<char> {
    let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| is_number).and_then(char::from_u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: Option<&str>) {
        assert_eq!(text_of(name.as_bytes()).as_deref(), expected);
    }

    #[test]
    fn names_stand_for_characters() {
        check("A", Some("A"));
        check("Adieresis", Some("Ä"));
        check("space", Some(" "));
        check("Omega", Some("Ω"));
        check("afii10017", Some("А"));
        check("one.oldstyle", Some("1"));
        check("f_f_i", Some("ffi"));
        check("uni00410042", Some("AB"));
        check("u1F600", Some("😀"));
    }

    #[test]
    fn names_that_mean_nothing_have_no_text() {
        check("", None);
        check(".notdef", None);
        check("g17", None);
        check("uniD800", None);
        check("uniéé", None);
        check("u+0041", None);
    }

    #[test]
    fn every_line_of_the_table_is_read() {
        assert_eq!(TABLE.len(), NAMES.lines().count());
    }
}
