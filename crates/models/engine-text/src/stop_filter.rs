//! Converts the bytes of tokens to text that may be sent: complete characters, without stop
//! strings.

/// The output buffer of one choice.
#[derive(Debug)]
pub(crate) struct StopStringFilter {
    stops: Vec<String>,
    /// An incomplete UTF-8 character.
    bytes: Vec<u8>,
    /// Text that may be the start of a stop string.
    held: String,
}

/// The text released by a token.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReleasedText {
    pub(crate) text: String,
    /// The stop string that was found: no more text follows.
    pub(crate) stop_match: Option<String>,
}

/// A stop string and its place in the held text.
struct FoundStop {
    at: usize,
    stop: String,
}

impl StopStringFilter {
    /// Empty stop strings are ignored; they would end every answer at once.
    pub(crate) fn new(stops: &[String]) -> StopStringFilter {
        let stops = stops.iter().filter(|stop| !stop.is_empty()).cloned().collect();
        StopStringFilter { stops, bytes: Vec::new(), held: String::new() }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) -> ReleasedText {
        self.bytes.extend_from_slice(bytes);
        let whole = whole_characters(&mut self.bytes);
        self.held.push_str(&whole);
        if let Some(FoundStop { at, stop }) = self.first_stop() {
            self.held.truncate(at);
            let text = std::mem::take(&mut self.held);
            return ReleasedText { text, stop_match: Some(stop) };
        }
        let rest = self.held.split_off(self.held.len() - self.doubtful_bytes());
        ReleasedText { text: std::mem::replace(&mut self.held, rest), stop_match: None }
    }

    /// Returns the held-back text at the end of the answer.
    pub(crate) fn finish(&mut self) -> String {
        let mut text = std::mem::take(&mut self.held);
        text.push_str(&String::from_utf8_lossy(&std::mem::take(&mut self.bytes)));
        text
    }

    /// The earliest stop string; of several at one place, the one that is listed first.
    fn first_stop(&self) -> Option<FoundStop> {
        let found = self.stops.iter().filter_map(|stop| {
            let at = self.held.find(stop.as_str())?;
            Some(FoundStop { at, stop: stop.clone() })
        });
        found.min_by_key(|it| it.at)
    }

    /// Length of the longest suffix of the text that is a prefix of a stop string.
    fn doubtful_bytes(&self) -> usize {
        let starts = self.held.char_indices().map(|(at, _)| at);
        let doubtful = starts.map(|at| &self.held[at..]).find(|end| {
            let end = *end;
            self.stops.iter().any(|stop| stop.starts_with(end))
        });
        doubtful.map_or(0, str::len)
    }
}

/// Removes and returns all complete characters. Invalid UTF-8 becomes U+FFFD.
fn whole_characters(bytes: &mut Vec<u8>) -> String {
    let unfinished = match std::str::from_utf8(bytes) {
        Ok(_) => 0,
        Err(_) => unfinished_bytes(bytes),
    };
    let rest = bytes.split_off(bytes.len() - unfinished);
    let whole = std::mem::replace(bytes, rest);
    String::from_utf8_lossy(&whole).into_owned()
}

/// Number of bytes at the end that are an incomplete character.
fn unfinished_bytes(bytes: &[u8]) -> usize {
    let mut left = bytes;
    loop {
        match std::str::from_utf8(left) {
            Ok(_) => return 0,
            Err(error) => match error.error_len() {
                None => return left.len() - error.valid_up_to(),
                Some(wrong) => left = &left[error.valid_up_to() + wrong..],
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Asserts the texts released for these tokens, and the detection of a stop string.
    #[track_caller]
    fn check(stops: &[&str], tokens: &[&[u8]], expected: &[&str], stop_match: Option<&str>) {
        let stops: Vec<String> = stops.iter().map(|stop| (*stop).to_owned()).collect();
        let mut outlet = StopStringFilter::new(&stops);
        let mut texts = Vec::new();
        for token in tokens {
            let released = outlet.push(token);
            texts.push(released.text);
            if released.stop_match.is_some() {
                assert_eq!(released.stop_match.as_deref(), stop_match, "{texts:?}");
                assert_eq!(texts, expected);
                return;
            }
        }
        assert_eq!(stop_match, None);
        texts.push(outlet.finish());
        assert_eq!(texts, expected);
    }

    #[test]
    fn text_leaves_at_once() {
        check(&[], &[b"Hel", b"lo"], &["Hel", "lo", ""], None);
    }

    #[test]
    fn a_character_leaves_when_it_is_whole() {
        check(&[], &[b"a\xF0\x9F", b"\x98", b"\x80b"], &["a", "", "\u{1F600}b", ""], None);
    }

    #[test]
    fn what_is_no_character_is_replaced() {
        check(&[], &[b"a\xFFb", b"\xF0\x9F"], &["a\u{FFFD}b", "", "\u{FFFD}"], None);
    }

    #[test]
    fn what_may_begin_a_stop_waits() {
        check(&["END"], &[b"a E", b"N", b"X"], &["a ", "", "ENX", ""], None);
        check(&["END"], &[b"a E", b"N"], &["a ", "", "EN"], None);
    }

    #[test]
    fn a_stop_and_what_follows_it_are_kept_back() {
        check(&["END"], &[b"a E", b"ND b"], &["a ", ""], Some("END"));
        check(&["xx", "b"], &[b"abxx"], &["a"], Some("b"));
        check(&["ab", "b"], &[b"a", b"b"], &["", ""], Some("ab"));
        check(&["ab", "a"], &[b"xa"], &["x"], Some("a"));
    }

    #[test]
    fn an_empty_stop_is_none() {
        check(&[""], &[b"a"], &["a", ""], None);
    }

    proptest! {
        /// Token boundaries do not change the released text, up to the first stop string.
        #[test]
        fn tokens_do_not_change_the_text(
            text in "[ab\u{e9}\u{1F600}]{0,20}",
            stop in "[ab\u{e9}]{1,3}",
            cuts in proptest::collection::vec(1_usize..4, 0..60),
        ) {
            let mut outlet = StopStringFilter::new(std::slice::from_ref(&stop));
            let (mut left, mut cuts) = (text.as_bytes(), cuts.into_iter());
            let (mut sent, mut is_stopped) = (String::new(), false);
            while !left.is_empty() && !is_stopped {
                let (token, rest) = left.split_at(cuts.next().unwrap_or(1).min(left.len()));
                let released = outlet.push(token);
                sent.push_str(&released.text);
                is_stopped = released.stop_match.is_some();
                left = rest;
            }
            if !is_stopped {
                sent.push_str(&outlet.finish());
            }
            prop_assert_eq!(is_stopped, text.contains(&stop));
            prop_assert_eq!(sent, text.split(&stop).next().unwrap_or_default());
        }
    }
}
