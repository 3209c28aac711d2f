//! Internet addresses: `example.com/a`, `me@example.org`.

use std::sync::LazyLock;

use regex::Regex;

use super::rewrite::{compile_pattern, rewrite_matches};

pub(super) fn read_addresses(text: &str) -> String {
    static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
        let ends = "com|org|net|edu|gov|io|co|uk|de|fr|info|biz|us|ca|au|tv|me|ly|ai|dev|app";
        compile_pattern(&format!(
            r"\b(https?://|ftp://)?((?:[\w.+-]+@)?(?:[\w-]+\.)+(?:{ends})\b(?:/[\w./~%-]*)?)"
        ))
    });
    rewrite_matches(text, &ADDRESS, |found| {
        let address = found.group(2);
        // A dot at the end of an address ends the sentence.
        let named = address.trim_end_matches(['.', '/']);
        let dots = &address[named.len()..].replace('/', "");
        Some(format!("{}{dots}", spell_address(named)))
    })
}

fn spell_address(address: &str) -> String {
    let mut spoken = String::new();
    for (position, label) in address.split_inclusive(['.', '/', '@', '_', '~', '%']).enumerate() {
        let name = label.trim_end_matches(['.', '/', '@', '_', '~', '%']);
        let name = if position == 0 && name.eq_ignore_ascii_case("www") { "w w w" } else { name };
        let sign = match label[label.len().min(name.len())..].chars().next() {
            _ if name == "w w w" => " dot ",
            Some('.') => " dot ",
            Some('/') => " slash ",
            Some('@') => " at ",
            _ => " ",
        };
        spoken.push_str(&name.replace('-', " dash "));
        spoken.push_str(sign);
    }
    spoken.trim_end().to_owned()
}
