//! Removes URLs, host names and file paths from an upstream's messages, so that callers do not
//! learn where engines run.

use std::net::{IpAddr, Ipv4Addr};

/// Stands for what was removed.
pub(super) const HIDDEN: &str = "[…]";
/// Top-level directories of file paths on servers. A JSON pointer such as `/messages/0` starts with
/// none of them.
const FOLDERS: [&str; 17] = [
    "app",
    "data",
    "dev",
    "etc",
    "home",
    "lib",
    "mnt",
    "models",
    "opt",
    "proc",
    "root",
    "run",
    "srv",
    "tmp",
    "usr",
    "var",
    "workspace",
];
/// Lower numbers after a colon are indexes and sizes, not ports.
const PORT_MIN: u16 = 80;
const INNER_SUFFIXES: [&str; 5] = [".internal", ".local", ".lan", ".svc", ".localdomain"];
/// Names of fields with a host, as in `host='vllm'`.
const HOST_FIELDS: [&str; 5] = ["host", "hostname", "server", "addr", "address"];

pub(super) fn without_addresses(text: &str) -> String {
    let is_separator = |it: char| it.is_whitespace() || "'\"`()<>,;=|{}".contains(it);
    let mut clean = String::with_capacity(text.len());
    let mut before = WordContext::default();
    let mut rest = text;
    while !rest.is_empty() {
        let word_end = rest.find(is_separator).unwrap_or(rest.len());
        let (word, after) = rest.split_at(word_end);
        // An address may be followed by the punctuation of the sentence.
        let core = word.trim_end_matches(['.', ':', '!', '?']);
        if is_address(core) || before.makes_address(core) {
            clean.push_str(HIDDEN);
        } else {
            clean.push_str(&without_inner_addresses(core));
        }
        clean.push_str(&word[core.len()..]);
        let mut characters = after.chars();
        let separator = characters.next();
        clean.extend(separator);
        rest = characters.as_str();
        before.advance(word, separator);
    }
    clean
}

/// The word before the present one, and whether an equals sign is between them.
#[derive(Default)]
struct WordContext<'a> {
    word: &'a str,
    has_equals: bool,
}

impl<'a> WordContext<'a> {
    fn advance(&mut self, word: &'a str, separator: Option<char>) {
        // Two separators in a row have an empty word between them.
        if !word.is_empty() {
            *self = WordContext { word, has_equals: false };
        }
        self.has_equals |= separator == Some('=');
    }

    /// True if the word is an address because of the word before it.
    fn makes_address(&self, word: &str) -> bool {
        let field = self.word.to_ascii_lowercase();
        let is_host_field = HOST_FIELDS.contains(&field.as_str());
        if word.is_empty() {
            return false;
        }
        if self.has_equals {
            return is_host_field || (field == "port" && is_port(word));
        }
        is_host_field && word.rsplit_once(':').is_some_and(|(_, port)| is_port(port))
    }
}

fn is_port(text: &str) -> bool {
    matches!(text.parse::<u16>(), Ok(PORT_MIN..))
}

/// True if the path starts with one of `FOLDERS` and has a further component, or begins at a home
/// folder, at a drive or at a server.
fn is_file(path: &str) -> bool {
    let folder = path.strip_prefix('/').and_then(|rest| rest.split_once('/'));
    let is_absolute = folder.is_some_and(|(first, _)| FOLDERS.contains(&first));
    let is_at_home = path.starts_with("~/");
    let drive = path.split_once(":\\").map(|(drive, _)| drive);
    let is_on_drive =
        drive.is_some_and(|it| it.len() == 1 && it.as_bytes()[0].is_ascii_lowercase());
    // One letter is an escape sequence: `\\d\\w`.
    let server = path.strip_prefix("\\\\").and_then(|rest| rest.split_once('\\'));
    let is_on_server = server.is_some_and(|(name, _)| 2 <= name.len());
    is_absolute || is_at_home || is_on_drive || is_on_server
}

fn is_address(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    // A path may have a scheme: `unix:/run/x.sock`.
    let path = lower.split_once(":/").map_or("", |(scheme, _)| &lower[scheme.len() + 1..]);
    if lower.contains("://") || is_file(&lower) || is_file(path) || names_its_number(&lower) {
        return true;
    }
    let host = lower.split('/').next().unwrap_or_default();
    let (name, has_port) = match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') || name.ends_with(']') => (name, is_port(port)),
        _ => (host, false),
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    let is_inner = INNER_SUFFIXES.iter().any(|suffix| name.ends_with(suffix));
    let is_number = name.parse::<IpAddr>().is_ok();
    is_number || is_inner || name == "localhost" || (has_port && name.contains('.'))
}

/// True for names that clouds give by address, such as `ip-10-0-0-6.ec2`.
fn names_its_number(word: &str) -> bool {
    word.match_indices("ip-").any(|(start, prefix)| {
        let rest = word[start + prefix.len()..].split(['.', ':', '/']).next().unwrap_or_default();
        rest.replace('-', ".").parse::<Ipv4Addr>().is_ok()
    })
}

/// Replaces IP addresses inside a word, as in `addr:10.0.0.9` and `tcp/10.0.0.9/80`.
fn without_inner_addresses(word: &str) -> String {
    let mut clean = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(start) = rest.find(|it: char| it.is_ascii_digit() || it == '[') {
        let (before, from) = rest.split_at(start);
        clean.push_str(before);
        let end = match from.strip_prefix('[') {
            Some(inner) => inner.find(']').map_or(1, |end| end + 2),
            None => from.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(from.len()),
        };
        let (candidate, after) = from.split_at(end);
        let number = candidate.trim_matches(['[', ']', '.']);
        clean.push_str(if number.parse::<IpAddr>().is_ok() { HIDDEN } else { candidate });
        rest = after;
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_blotted_out_and_other_words_stay() {
        for (said, kept) in [
            ("cannot load http://10.0.0.5:8000/v1/x. Try again", "cannot load […]. Try again"),
            (
                "HTTPConnectionPool(host='10.1.2.3', port=9)",
                "HTTPConnectionPool(host='[…]', port=9)",
            ),
            ("no route to vllm-0.gpu.svc:8000/v1", "no route to […]"),
            ("at [fd00::1]:80, ::1 and localhost:9000", "at […], […] and […]"),
            ("File \"/opt/vllm/engine.py\", line 3", "File \"[…]\", line 3"),
            ("redis.internal refused", "[…] refused"),
            ("Pool(host='vllm77', port=8000)", "Pool(host='[…]', port=[…])"),
            ("cannot connect to host vllm77:8000", "cannot connect to host […]"),
            ("addr:10.77.0.9 hosts:10.77.0.5,", "addr:[…] hosts:[…],"),
            ("host_10.77.0.5_x via tcp/10.77.0.9/80", "host_[…]_x via tcp/[…]/80"),
            ("addr:[fd00::1]:80 messages[0] a[", "addr:[…]:80 messages[0] a["),
            ("unix:/run/x.sock and /dev/shm/a", "[…] and […]"),
            ("~/x, C:\\x and \\\\srv\\x", "[…], […] and […]"),
            ("ip-10-77-0-6.ec2 and ip-10-77-0-7", "[…] and […]"),
            ("max_tokens:4096 min:1.5:2", "max_tokens:4096 min:1.5:2"),
            ("the host refused: model=x", "the host refused: model=x"),
            ("matches \\\\d\\\\w and a\\nb", "matches \\\\d\\\\w and a\\nb"),
            ("a:\"b\" ratio 16:9, support=8000", "a:\"b\" ratio 16:9, support=8000"),
            ("loc:/messages/0 flip-10-2 ~1.5", "loc:/messages/0 flip-10-2 ~1.5"),
            ("at /messages/0/content: too long", "at /messages/0/content: too long"),
            ("model qwen3:4b has no tools", "model qwen3:4b has no tools"),
            ("max_tokens: 100000 is above 4096.", "max_tokens: 100000 is above 4096."),
            ("loc: body.messages:0, got 1.5", "loc: body.messages:0, got 1.5"),
            ("version 1.2.3 and either/or", "version 1.2.3 and either/or"),
        ] {
            assert_eq!(without_addresses(said), kept, "{said}");
        }
    }
}
