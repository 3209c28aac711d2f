//! Applies a site's robots.txt (RFC 9309).

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::web_address::WebAddress;
use tokio::time::Instant;

use crate::fetch::{Ask, Fetcher};

/// Our product token in robots.txt.
const AGENT: &str = "tollgate";
/// RFC 9309 requires parsers to read at least 500 KiB.
const FILE_BYTES_MAX: usize = 500 * 1024;
const TIME_MAX: Duration = Duration::from_secs(5);
/// Cache time. RFC 9309 allows at most 24 hours.
const KNOWN_FOR: Duration = Duration::from_secs(60 * 60);
/// Memory limit of the cache for all sites.
const KNOWN_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Limits of the rules that are kept per site.
const RULES_MAX: usize = 500;
const RULES_BYTES_MAX: usize = 64 * 1024;
/// Estimated memory of an entry without its texts.
const ENTRY_BYTES: usize = 64;

/// A cache of the rules of sites.
#[derive(Default)]
pub(crate) struct Robots {
    known: Mutex<KnownSites>,
}

/// The rules of sites, limited by their memory.
#[derive(Default)]
struct KnownSites {
    sites: HashMap<String, (Instant, Rules)>,
    /// In the order of insertion, which is the order of eviction.
    order: VecDeque<String>,
    bytes: usize,
}

impl KnownSites {
    fn keep(&mut self, site: String, rules: Rules, now: Instant) {
        if self.sites.contains_key(&site) {
            self.remove(&site);
            self.order.retain(|it| *it != site);
        }
        let bytes = entry_bytes(&site, &rules);
        while KNOWN_BYTES_MAX < self.bytes + bytes
            && let Some(oldest) = self.order.pop_front()
        {
            self.remove(&oldest);
        }
        self.bytes += bytes;
        self.order.push_back(site.clone());
        self.sites.insert(site, (now + KNOWN_FOR, rules));
    }

    fn remove(&mut self, site: &str) {
        if let Some((_, rules)) = self.sites.remove(site) {
            self.bytes -= entry_bytes(site, &rules);
        }
    }
}

fn entry_bytes(site: &str, rules: &Rules) -> usize {
    // The name is stored twice.
    2 * (ENTRY_BYTES + site.len()) + rules.bytes()
}

/// The rules of one site that apply to this program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rules(Vec<(bool, String)>);

impl Robots {
    /// True if the site has no rules or they cannot be fetched.
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
        let (until, rules) = known.sites.get(site)?;
        (Instant::now() < *until).then(|| rules.clone())
    }

    fn keep(&self, site: String, rules: Rules) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.keep(site, rules, Instant::now());
    }
}

impl Rules {
    /// Parses the rules for this program, or else those for all programs.
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
        let is_within = self.0.len() < RULES_MAX
            && self.bytes() + ENTRY_BYTES + pattern.len() <= RULES_BYTES_MAX;
        if is_within {
            self.0.push((allows, pattern.to_owned()));
        }
    }

    /// Estimated memory of the rules, in bytes.
    fn bytes(&self) -> usize {
        self.0.iter().map(|(_, pattern)| ENTRY_BYTES + pattern.len()).sum()
    }

    /// The longest matching pattern decides; of two equally long, the one that allows.
    pub(crate) fn allow(&self, path: &str) -> bool {
        let fitting = self.0.iter().filter(|(_, pattern)| fits(pattern, path));
        let best = fitting.max_by_key(|(allows, pattern)| (pattern.len(), *allows));
        best.is_none_or(|(allows, _)| *allows)
    }
}

/// `*` matches any text, and a trailing `$` matches the end.
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
    fn what_is_kept_of_all_sites_is_bounded_in_bytes() {
        let longest = format!("User-agent: *\nDisallow: /{}\n", "a".repeat(FILE_BYTES_MAX));
        assert_eq!(Rules::read(&longest).bytes(), 0, "a rule that is longer than all may be");
        let long = "Disallow: /".to_owned() + &"a".repeat(1_000) + "\n";
        let rules = Rules::read(&("User-agent: *\n".to_owned() + &long.repeat(400)));
        assert!((RULES_BYTES_MAX / 2..=RULES_BYTES_MAX).contains(&rules.bytes()));
        let robots = Robots::default();
        for number in 0..2_048 {
            robots.keep(format!("https://{number}.example.com"), rules.clone());
        }
        let known = robots.known.lock().unwrap();
        let held: usize = known.sites.iter().map(|(site, (_, it))| entry_bytes(site, it)).sum();
        assert_eq!((held, known.sites.len()), (known.bytes, known.order.len()));
        assert!((KNOWN_BYTES_MAX / 2..=KNOWN_BYTES_MAX).contains(&held), "{held} bytes");
        assert!(known.sites.contains_key("https://2047.example.com"), "the newest is kept");
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
