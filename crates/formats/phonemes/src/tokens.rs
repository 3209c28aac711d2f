//! Splits a normalised line into words and punctuation.

/// A word, a part of one, or a punctuation mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WordToken<'t> {
    pub(crate) text: &'t str,
    /// True if a space follows.
    pub(crate) space_after: bool,
    /// Phonemes of a punctuation mark; `None` for a word.
    pub(crate) pause: Option<&'static str>,
}

pub(crate) fn tokenize_line(line: &str) -> Vec<WordToken<'_>> {
    let mut tokens: Vec<WordToken<'_>> = Vec::new();
    for chunk in line.split_whitespace() {
        split_chunk(chunk, &mut tokens);
        if let Some(last) = tokens.last_mut() {
            last.space_after = true;
        }
    }
    if let Some(last) = tokens.last_mut() {
        last.space_after = line.ends_with(char::is_whitespace);
    }
    close_quotes(&mut tokens);
    tokens
}

/// An apostrophe after a word closes a quotation only if one is open. Otherwise it belongs to the
/// word: the dogs' tails, nothin'.
fn close_quotes(tokens: &mut [WordToken<'_>]) {
    let mut open = false;
    for token in tokens.iter_mut().filter(|it| it.text == "'") {
        match token.pause {
            Some("”") if !open => token.pause = None,
            Some(mark) => open = mark == "“",
            None => {}
        }
    }
}

/// Splits the text between two spaces: leading signs, words, trailing signs.
fn split_chunk<'t>(chunk: &'t str, tokens: &mut Vec<WordToken<'t>>) {
    if chunk.chars().all(|it| matches!(it, '-' | '–' | '—')) {
        tokens.push(WordToken { text: chunk, space_after: false, pause: Some("—") });
        return;
    }
    let (before, rest) = chunk.split_at(leading_sign_bytes(chunk));
    let (inner, after) = rest.split_at(rest.len() - trailing_sign_bytes(rest));
    push_signs(before, WordSide::Before, tokens);
    inner_words(inner, tokens);
    push_signs(after, WordSide::After, tokens);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordSide {
    Before,
    After,
}

fn push_signs<'t>(signs: &'t str, side: WordSide, tokens: &mut Vec<WordToken<'t>>) {
    let mut rest = signs;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            // An ellipsis of dots is one mark, as is a dash of hyphens.
            '.' | '-' => rest.len() - rest.trim_start_matches(first).len(),
            _ => first.len_utf8(),
        };
        let (text, more) = rest.split_at(length);
        tokens.push(WordToken {
            text,
            space_after: false,
            pause: Some(pause_phonemes(text, side)),
        });
        rest = more;
    }
}

/// The phonemes of a punctuation mark; empty if it is silent.
fn pause_phonemes(sign: &str, side: WordSide) -> &'static str {
    match sign {
        "," => ",",
        "." => ".",
        "!" | "¡" => "!",
        "?" | "¿" => "?",
        ";" => ";",
        ":" => ":",
        "…" => "…",
        "(" | "[" | "{" => "(",
        ")" | "]" | "}" => ")",
        "“" | "«" => "“",
        "”" | "»" => "”",
        "\"" | "'" | "`" if side == WordSide::Before => "“",
        "\"" | "'" => "”",
        "–" | "—" => "—",
        dots if dots.starts_with("..") => "...",
        dashes if dashes.starts_with("--") => "—",
        _ => "",
    }
}

/// Bytes of signs before the first word.
fn leading_sign_bytes(chunk: &str) -> usize {
    if ELIDED.iter().any(|it| starts_with_word(chunk, it)) {
        return 0;
    }
    let is_word = |it: char| it.is_alphanumeric() || "@&+%/=".contains(it);
    chunk.find(is_word).unwrap_or(chunk.len())
}

/// Words that begin with an apostrophe of their own.
const ELIDED: [&str; 7] = ["'em", "'cause", "'til", "'tis", "'twas", "'bout", "'n'"];

fn starts_with_word(chunk: &str, word: &str) -> bool {
    let Some(head) = chunk.get(..word.len()) else { return false };
    let ends = |it: char| !it.is_alphanumeric();
    head.eq_ignore_ascii_case(word) && chunk[word.len()..].chars().next().is_none_or(ends)
}

/// Bytes of signs after the last word.
fn trailing_sign_bytes(chunk: &str) -> usize {
    let is_word = |it: char| it.is_alphanumeric() || "@&+%/=".contains(it);
    let Some(last) = chunk.rfind(is_word) else { return 0 };
    let width = chunk[last..].chars().next().map_or(0, char::len_utf8);
    let after = &chunk[last + width..];
    let word = &chunk[..last + width];
    // The dot of initials belongs to them.
    let keeps_dot = after.starts_with('.') && !after.starts_with("..") && is_abbreviated(word);
    if keeps_dot { after.len() - 1 } else { after.len() }
}

/// True for single letters between dots: U.S, e.g, and the J of J. Smith.
fn is_abbreviated(word: &str) -> bool {
    let mut groups = word.split('.');
    let is_letter = |it: &str| it.chars().count() == 1 && it.chars().all(char::is_alphabetic);
    let capital = word.chars().all(char::is_uppercase);
    groups.all(is_letter) && (capital || word.contains('.'))
}

/// Splits words joined without a space at hyphens, slashes, dashes and similar signs, and splits
/// off contracted verbs.
fn inner_words<'t>(inner: &'t str, tokens: &mut Vec<WordToken<'t>>) {
    let mut rest = inner;
    while let Some((start, length)) = find_infix(rest) {
        let (word, more) = rest.split_at(start);
        let (sign, more) = more.split_at(length);
        split_contraction(word, tokens);
        let inside = matches!(sign, "-" | "/" | "'" | "&" | "+" | "@" | "=");
        let pause = if inside { None } else { Some(pause_phonemes(sign, WordSide::After)) };
        tokens.push(WordToken { text: sign, space_after: false, pause });
        rest = more;
    }
    split_contraction(rest, tokens);
}

/// The offset and length of the first sign between two words.
fn find_infix(word: &str) -> Option<(usize, usize)> {
    let is_sign = |it: char| !it.is_alphanumeric() && it != '\'' && it != '_';
    let mut from = 0;
    while let Some(found) = word[from..].find(is_sign) {
        let start = from + found;
        let sign = word[start..].chars().next()?;
        let run = word[start..].len() - word[start..].trim_start_matches(sign).len();
        // A single dot within a word belongs to it: U.S., Ph.D.
        if sign != '.' || 1 < run {
            return Some((start, run));
        }
        from = start + run;
    }
    None
}

/// Splits off `n't`, `'s`, `'re` and similar, which are separate words for the tagger.
fn split_contraction<'t>(word: &'t str, tokens: &mut Vec<WordToken<'t>>) {
    let mut push = |text: &'t str| {
        if !text.is_empty() {
            tokens.push(WordToken { text, space_after: false, pause: None });
        }
    };
    let is_short = |it: &&&str| {
        word.len()
            .checked_sub(it.len())
            .and_then(|start| word.get(start..))
            .is_some_and(|end| end.eq_ignore_ascii_case(it))
    };
    let Some(ending) = CONTRACTIONS.iter().find(is_short) else { return push(word) };
    let (stem, ending) = word.split_at(word.len() - ending.len());
    push(stem);
    push(ending);
}

const CONTRACTIONS: [&str; 7] = ["n't", "'s", "'re", "'ve", "'ll", "'d", "'m"];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Shows tokens with `·` between joined ones, and pauses in angle brackets.
    #[track_caller]
    fn check(line: &str, expected: &str) {
        let mut shown = String::new();
        for token in tokenize_line(line) {
            match token.pause {
                Some(pause) => shown.push_str(&format!("<{pause}>")),
                None => shown.push_str(token.text),
            }
            shown.push(if token.space_after { ' ' } else { '·' });
        }
        assert_eq!(shown.trim_end_matches('·'), expected);
    }

    #[test]
    fn punctuation_is_taken_off_words() {
        check("\"Hello,\" she said (twice)...", "<“>·Hello·<,>·<”> she said <(>·twice·<)>·<...>");
        check("Really?! - Yes.", "Really·<?>·<!> <—> Yes·<.>");
    }

    #[test]
    fn initials_keep_their_dots() {
        check("The U.S. is big", "The U.S. is big");
        check("J. Smith came.", "J. Smith came·<.>");
    }

    #[test]
    fn short_forms_are_words_of_their_own() {
        check("I don't, we've, it's", "I do·n't·<,> we·'ve·<,> it·'s");
        check("the dogs' 'quoted' tail", "the dogs·' <“>·quoted·<”> tail");
        check("get 'em, 'twas", "get 'em·<,> 'twas");
    }

    #[test]
    fn compounds_are_cut_at_their_hyphens_and_pauses_at_dashes() {
        check("well-known and/or", "well·-·known and·/·or");
        check("wait—what", "wait·<—>·what");
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_invented(line in "[ a-zA-Z0-9'\"\\-–—.,!?()&/é…]{0,60}") {
            let kept: String = tokenize_line(&line).iter().map(|it| it.text).collect();
            let expected: String = line.split_whitespace().collect();
            prop_assert_eq!(kept, expected);
        }
    }
}
