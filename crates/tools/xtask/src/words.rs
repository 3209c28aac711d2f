//! `cargo xtask words`: figures about the language of the code, to look at and not to enforce.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::tree::{self, TextFile};

/// First words of doc comments that ask instead of naming the item.
const QUESTIONS: [&str; 12] = [
    "What", "Whether", "Who", "Whom", "Whose", "Where", "How", "When", "Why", "Which", "Whoever",
    "Whatever",
];
/// Phrases that hide who or what is meant.
const VAGUE: [&str; 9] = [
    "whoever",
    "somebody",
    "nobody",
    "so many",
    "so much",
    "unless said",
    "of late",
    "is told",
    "are told",
];
const TYPE_KEYWORDS: [&str; 4] = ["struct ", "enum ", "trait ", "union "];
/// Names with this many definitions are listed.
const DEFINITIONS_MIN: usize = 3;
const NAMES_SHOWN: usize = 12;

pub(crate) fn build_report() -> Result<String, String> {
    let mut figures = WordingStatistics::default();
    for file in tree::text_files(&tree::workspace_root())? {
        if is_measured(&file) {
            figures.add(&file.text);
        }
    }
    Ok(figures.summary())
}

/// True for Rust sources that are not tests.
fn is_measured(file: &TextFile) -> bool {
    let path = &file.path;
    let is_test = ["/tests/", "crates/tools/it/"].iter().any(|it| path.contains(it));
    path.starts_with("crates/") && path.ends_with(".rs") && !is_test && !path.ends_with("tests.rs")
}

#[derive(Debug, Default)]
struct WordingStatistics {
    type_definitions: BTreeMap<String, usize>,
    functions: usize,
    one_word_functions: usize,
    doc_comments: usize,
    questions: usize,
    vague_phrases: usize,
}

impl WordingStatistics {
    fn add(&mut self, text: &str) {
        let mut is_after_doc = false;
        for line in text.lines().map(str::trim_start) {
            if line.starts_with("#[cfg(test)]") && text.contains("mod tests {") {
                return;
            }
            if let Some(comment) = line.strip_prefix("//") {
                let comment = comment.to_lowercase();
                self.vague_phrases += VAGUE.iter().filter(|it| comment.contains(*it)).count();
            }
            if let Some(doc) = line.strip_prefix("///") {
                if !is_after_doc {
                    self.doc_comments += 1;
                    let first = doc.split_whitespace().next().unwrap_or_default();
                    self.questions += usize::from(QUESTIONS.contains(&first));
                }
                is_after_doc = true;
                continue;
            }
            is_after_doc = false;
            self.add_definition(line);
        }
    }

    fn add_definition(&mut self, line: &str) {
        let code = without_visibility(line);
        if let Some(name) = TYPE_KEYWORDS.iter().find_map(|it| code.strip_prefix(it)) {
            *self.type_definitions.entry(parse_identifier(name).to_owned()).or_default() += 1;
        }
        let before_fn = ["", "const ", "async ", "unsafe ", "const unsafe ", "async unsafe "];
        let function = before_fn
            .iter()
            .find_map(|it| code.strip_prefix(it).and_then(|rest| rest.strip_prefix("fn ")));
        if let Some(name) = function {
            self.functions += 1;
            self.one_word_functions += usize::from(!parse_identifier(name).contains('_'));
        }
    }

    fn summary(&self) -> String {
        let types: usize = self.type_definitions.values().sum();
        let one_word = self.type_definitions.iter().filter(|(name, _)| is_one_word(name));
        let one_word: usize = one_word.map(|(_, count)| count).sum();
        let mut repeated: Vec<(&usize, &String)> =
            self.type_definitions.iter().map(|(name, count)| (count, name)).collect();
        repeated.retain(|(count, _)| DEFINITIONS_MIN <= **count);
        repeated.sort_by(|a, b| b.0.cmp(a.0).then(a.1.cmp(b.1)));
        let named =
            repeated.iter().take(NAMES_SHOWN).map(|(count, name)| format!("{name} {count}"));
        let named = named.collect::<Vec<_>>().join(", ");
        let mut lines = String::new();
        let mut line = |label: &str, figure: String| {
            // Writing to a string does not fail.
            let _ = writeln!(lines, "{label:<42}{figure}");
        };
        line("type names of one word", format_percent(one_word, types));
        let repeated = format!("{} {named}", repeated.len());
        line("type names with 3 or more definitions", repeated.trim_end().to_owned());
        line("function names of one word", format_percent(self.one_word_functions, self.functions));
        line(
            "doc comments that begin with a question",
            format_percent(self.questions, self.doc_comments),
        );
        line("vague phrases in comments", self.vague_phrases.to_string());
        lines.trim_end().to_owned()
    }
}

fn without_visibility(line: &str) -> &str {
    let Some(rest) = line.strip_prefix("pub") else { return line };
    match rest.strip_prefix('(') {
        Some(inner) => inner.split_once(") ").map_or(line, |(_, code)| code),
        None => rest.trim_start(),
    }
}

fn parse_identifier(code: &str) -> &str {
    let end = code.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(code.len());
    &code[..end]
}

fn is_one_word(name: &str) -> bool {
    name.chars().filter(char::is_ascii_uppercase).count() <= 1
}

fn format_percent(part: usize, whole: usize) -> String {
    let tenths = (part * 1_000).checked_div(whole).unwrap_or(0);
    format!("{}.{} %", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_first_words_are_counted() {
        let mut figures = WordingStatistics::default();
        figures.add(
            "//! A file.\n\n/// What is kept,\n/// whoever asks.\npub(crate) struct Kept;\n\n\
             /// The bytes of a file.\npub struct FileBytes {\n    kept: Kept,\n}\n\n\
             impl FileBytes {\n    pub async fn read(&self) {}\n    fn read_all(&self) {}\n}\n",
        );
        expect_test::expect![[r"
            type names of one word                    50.0 %
            type names with 3 or more definitions     0
            function names of one word                50.0 %
            doc comments that begin with a question   50.0 %
            vague phrases in comments                 1"]]
        .assert_eq(&figures.summary());
    }
}
