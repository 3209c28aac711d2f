//! Decides from a chat message whether to search the web, and extracts its URLs.

/// Maximum URLs taken from one message.
pub const ADDRESSES_MAX: usize = 5;
/// Maximum query length of search services.
pub const QUERY_CHARS_MAX: usize = 400;
/// Shorter messages are greetings.
const WORDS_MIN: usize = 3;
/// Longer messages are texts to work on, which contain their own context.
const WORDS_MAX: usize = 120;

/// Words that refer to the present.
const NOW: [&str; 22] = [
    "today",
    "tonight",
    "yesterday",
    "tomorrow",
    "currently",
    "latest",
    "newest",
    "recent",
    "recently",
    "nowadays",
    "news",
    "headline",
    "headlines",
    "weather",
    "forecast",
    "price",
    "prices",
    "stock",
    "score",
    "release",
    "released",
    "election",
];
const PHRASES: [&str; 13] = [
    "right now",
    "this week",
    "this month",
    "this year",
    "last week",
    "last month",
    "last year",
    "search the web",
    "search for",
    "look up",
    "look it up",
    "on the internet",
    "find out",
];
/// Verbs for work on text that the caller supplied.
const AT_HAND: [&str; 9] = [
    "translate",
    "rewrite",
    "summarize",
    "summarise",
    "proofread",
    "refactor",
    "write me",
    "write a",
    "fix this",
];

/// The decision, and its reason in a word or two for diagnostics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchDecision {
    pub searches: bool,
    pub reason: &'static str,
}

/// Decides by the words of the message alone; `year` is the current year.
pub fn decide_search(message: &str, year: i32) -> SearchDecision {
    let lower = message.to_lowercase();
    let words: Vec<&str> = lower
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let no = |reason| SearchDecision { searches: false, reason };
    let yes = |reason| SearchDecision { searches: true, reason };
    if PHRASES.iter().any(|phrase| lower.contains(phrase)) {
        return yes("asked for in words");
    }
    if words.len() < WORDS_MIN {
        return no("too short to search for");
    }
    if WORDS_MAX < words.len() {
        return no("brings its own text");
    }
    if AT_HAND.iter().any(|phrase| lower.starts_with(phrase)) {
        return no("works on a text at hand");
    }
    if words.iter().any(|word| NOW.contains(word)) {
        return yes("about the present");
    }
    let is_recent =
        |word: &&str| word.parse::<i32>().is_ok_and(|it| (year - 1..=year + 1).contains(&it));
    if words.iter().any(is_recent) {
        return yes("about a recent year");
    }
    no("nothing in it is about the present")
}

/// The URLs in a message, without duplicates, in order.
pub fn extract_urls(message: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for piece in message.split(|letter: char| letter.is_whitespace() || "<>\"`|".contains(letter)) {
        let Some(at) = piece.find("http://").or(piece.find("https://")) else { continue };
        let mut address =
            piece[at..].trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', ']', '}', '*']);
        // A closing bracket that was opened before the URL is not part of it.
        if !address.contains('(') {
            address = address.trim_end_matches([')', '.', ',']);
        }
        if "https://".len() < address.len() && !found.contains(&address) {
            found.push(address);
        }
    }
    found.truncate(ADDRESSES_MAX);
    found
}

/// The message as a search query.
pub fn build_query(message: &str) -> String {
    let words: Vec<&str> = message.split_whitespace().collect();
    words.join(" ").chars().take(QUERY_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_asks_for_the_present_is_searched_for() {
        for (message, searches) in [
            ("What is the weather in Oslo today?", true),
            ("Who won the election?", true),
            ("What changed in Rust in 2026?", true),
            ("Please look up the opening hours of the museum", true),
            ("Hi!", false),
            ("Write a poem about the latest snow", false),
            ("What is the derivative of x squared?", false),
            ("Translate this: today is a good day", false),
            ("What happened in 1848?", false),
        ] {
            assert_eq!(decide_search(message, 2026).searches, searches, "{message}");
        }
        assert!(
            !decide_search(&"today word ".repeat(100), 2026).searches,
            "a text, not a question"
        );
    }

    #[test]
    fn addresses_are_found_without_what_surrounds_them() {
        let message = "See https://a.example/x?y=1, (http://b.example/z) and <https://c.example/>. \
                       Again https://a.example/x?y=1! https://en.example/wiki/Rust_(language) http://";
        assert_eq!(
            extract_urls(message),
            [
                "https://a.example/x?y=1",
                "http://b.example/z",
                "https://c.example/",
                "https://en.example/wiki/Rust_(language)",
            ]
        );
        let many: Vec<String> = (0..9).map(|it| format!("http://{it}.example/")).collect();
        assert_eq!(extract_urls(&many.join(" ")).len(), ADDRESSES_MAX);
        assert_eq!(build_query(" a \n b "), "a b");
    }
}
