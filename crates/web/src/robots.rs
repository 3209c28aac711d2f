//! What a site allows programs to fetch: its robots.txt (RFC 9309).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::web_address::WebAddress;
use tokio::time::Instant;

use crate::fetch::{Ask, Fetcher};

/// The name by which sites may address us.
const AGENT: &str = "tollgate";
/// The standard asks for no more to be read.
const FILE_BYTES_MAX: usize = 500 * 1024;
const TIME_MAX: Duration = Duration::from_secs(5);
/// The standard asks for no longer.
const KNOWN_FOR: Duration = Duration::from_secs(60 * 60);
const KNOWN_MAX: usize = 2_048;
/// Of what one site says, so much is kept.
const RULES_MAX: usize = 500;

/// What sites said, for a while.
#[derive(Default)]
pub(crate) struct Robots {
    known: Mutex<HashMap<String, (Instant, Rules)>>,
}

/// The rules of one site that are meant for us.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rules(Vec<(bool, String)>);

impl Robots {
    /// A site without rules, or whose rules cannot be had, allows everything.
    pub(crate) async fn allow(&self, fetcher: &Fetcher, page: &WebAddress) -> bool {
        let site = page.url().origin().ascii_serialization();
        if let Some(rules) = self.known(&site) {
            return rules.allow(page.path_and_query());
        }
        let Ok(address) = page.join("/robots.txt", fetcher.reach()) else { return true };
        let ask = Ask::get("text/plain", FILE_BYTES_MAX, TIME_MAX);
        let rules = match fetcher.fetch(&address, &ask).await {
            Ok(fetched) if fetched.is_success() => {
                Rules::read(&String::from_utf8_lossy(&fetched.body))
            }
            _ => Rules::default(),
        };
        let is_allowed = rules.allow(page.path_and_query());
        self.keep(site, rules);
        is_allowed
    }

    fn known(&self, site: &str) -> Option<Rules> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (until, rules) = known.get(site)?;
        (Instant::now() < *until).then(|| rules.clone())
    }

    fn keep(&self, site: String, rules: Rules) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if KNOWN_MAX <= known.len() {
            known.retain(|_, (until, _)| now < *until);
        }
        if known.len() < KNOWN_MAX {
            known.insert(site, (now + KNOWN_FOR, rules));
        }
    }
}

impl Rules {
    /// Those for us, or else those for everybody.
    pub(crate) fn read(text: &str) -> Rules {
        let (mut ours, mut everybodys) = (None::<Rules>, Rules::default());
        let (mut is_ours, mut is_everybodys, mut names_agents) = (false, false, false);
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else { continue };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            if key == "user-agent" {
                if !names_agents {
                    (is_ours, is_everybodys, names_agents) = (false, false, true);
                }
                is_ours |= value.eq_ignore_ascii_case(AGENT);
                is_everybodys |= value == "*";
                if is_ours {
                    ours.get_or_insert_default();
                }
                continue;
            }
            let allows = match key.as_str() {
                "allow" => true,
                "disallow" => false,
                _ => continue,
            };
            names_agents = false;
            if value.is_empty() {
                continue;
            }
            if is_ours && let Some(ours) = &mut ours {
                ours.add(allows, value);
            }
            if is_everybodys {
                everybodys.add(allows, value);
            }
        }
        ours.unwrap_or(everybodys)
    }

    fn add(&mut self, allows: bool, pattern: &str) {
        if self.0.len() < RULES_MAX {
            self.0.push((allows, pattern.to_owned()));
        }
    }

    /// The longest pattern that fits decides; of two as long, the one that allows.
    pub(crate) fn allow(&self, path: &str) -> bool {
        let fitting = self.0.iter().filter(|(_, pattern)| fits(pattern, path));
        let best = fitting.max_by_key(|(allows, pattern)| (pattern.len(), *allows));
        best.is_none_or(|(allows, _)| *allows)
    }
}

/// `*` stands for anything, and `$` at the end for the end.
fn fits(pattern: &str, path: &str) -> bool {
    let (pattern, is_whole) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut pieces = pattern.split('*');
    let Some(mut rest) = path.strip_prefix(pieces.next().unwrap_or_default()) else {
        return false;
    };
    let mut ends_open = !pattern.contains('*');
    for piece in pieces {
        ends_open = piece.is_empty();
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    if !is_whole {
        return true;
    }
    if pattern.contains('*') {
        let last = pattern.rsplit('*').next().unwrap_or_default();
        return ends_open || path.ends_with(last);
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_rule_decides() {
        let rules = Rules::read(
            "User-agent: other\nDisallow: /\n\n# everybody\nUser-agent: *\nDisallow: /private/ # no\n\
             Allow: /private/open\nDisallow: /*.pdf$\nDisallow:\n",
        );
        for (path, is_allowed) in [
            ("/", true),
            ("/private/", false),
            ("/private/open/x", true),
            ("/a/b.pdf", false),
            ("/a/b.pdf?c", true),
            ("/a/b.pdfx", true),
        ] {
            assert_eq!(rules.allow(path), is_allowed, "{path}");
        }
    }

    #[test]
    fn what_is_said_to_us_goes_before_what_is_said_to_everybody() {
        let text =
            "User-agent: *\nDisallow: /\nUser-agent: a\nUser-agent: Tollgate\nDisallow: /x\n";
        let rules = Rules::read(text);
        assert!(rules.allow("/y") && !rules.allow("/x"));
        assert!(!Rules::read("User-agent: *\nDisallow: /\n").allow("/y"));
        assert!(Rules::read("nonsense\n\u{0}:").allow("/y"));
    }
}
