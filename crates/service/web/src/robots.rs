//! Applies a site's robots.txt (RFC 9309).

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::web_address::WebAddress;
use sandbox::CallerId;
use tokio::time::Instant;

use crate::fault::FetchFault;
use crate::fetch::{FetchRequest, WebFetcher};

/// Our product token in robots.txt.
const AGENT: &str = "tollgate";
/// RFC 9309 requires parsers to read at least 500 KiB. The rest of a longer file is ignored.
const FILE_BYTES_MAX: usize = 500 * 1024;
const TIME_MAX: Duration = Duration::from_secs(5);
/// Cache time. RFC 9309 allows at most 24 hours.
const CACHE_LIFETIME: Duration = Duration::from_secs(60 * 60);
/// Memory limit of the cache for all sites.
const KNOWN_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Limits of the rules that are kept per site.
const RULES_MAX: usize = 500;
const RULES_BYTES_MAX: usize = 64 * 1024;
/// Estimated memory of an entry without its texts.
const ENTRY_BYTES: usize = 64;

/// A cache of the rules of sites.
#[derive(Default)]
pub(crate) struct RobotsCache {
    known: Mutex<KnownSites>,
}

/// The rules of sites, limited by their memory.
#[derive(Default)]
struct KnownSites {
    sites: HashMap<String, (Instant, RobotsRules)>,
    /// In the order of insertion, which is the order of eviction.
    order: VecDeque<String>,
    bytes: usize,
}

impl KnownSites {
    fn insert(&mut self, site: String, rules: RobotsRules, now: Instant) {
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
        self.sites.insert(site, (now + CACHE_LIFETIME, rules));
    }

    fn remove(&mut self, site: &str) {
        if let Some((_, rules)) = self.sites.remove(site) {
            self.bytes -= entry_bytes(site, &rules);
        }
    }
}

fn entry_bytes(site: &str, rules: &RobotsRules) -> usize {
    // The name is stored twice.
    2 * (ENTRY_BYTES + site.len()) + rules.bytes()
}

/// The rules of one site that apply to this program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RobotsRules(Vec<(bool, String)>);

impl RobotsCache {
    /// True if the site has no rules or they cannot be fetched. Fails with [`FetchFault::Busy`] if
    /// they were not requested, because too much else is being fetched.
    pub(crate) async fn is_page_allowed(
        &self,
        fetcher: &WebFetcher,
        page: &WebAddress,
        caller: CallerId,
    ) -> Result<bool, FetchFault> {
        let site = page.url().origin().ascii_serialization();
        if let Some(rules) = self.find_rules(&site) {
            return Ok(rules.is_allowed(page.path_and_query()));
        }
        let Ok(address) = page.join("/robots.txt", fetcher.address_scope()) else {
            return Ok(true);
        };
        let ask = FetchRequest::get(caller, "text/plain", FILE_BYTES_MAX, TIME_MAX).cut_at_limit();
        let rules = match fetcher.fetch(&address, &ask).await {
            Ok(fetched) if fetched.is_success() => {
                RobotsRules::parse(&String::from_utf8_lossy(whole_lines(&fetched.body)))
            }
            Err(FetchFault::Busy) => return Err(FetchFault::Busy),
            _ => RobotsRules::default(),
        };
        let is_allowed = rules.is_allowed(page.path_and_query());
        self.cache_rules(site, rules);
        Ok(is_allowed)
    }

    fn find_rules(&self, site: &str) -> Option<RobotsRules> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (until, rules) = known.sites.get(site)?;
        (Instant::now() < *until).then(|| rules.clone())
    }

    fn cache_rules(&self, site: String, rules: RobotsRules) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(site, rules, Instant::now());
    }
}

impl RobotsRules {
    /// Parses the rules for this program, or else those for all programs.
    pub(crate) fn parse(text: &str) -> RobotsRules {
        let (mut ours, mut everybodys) = (None::<RobotsRules>, RobotsRules::default());
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
    pub(crate) fn is_allowed(&self, path: &str) -> bool {
        let fitting = self.0.iter().filter(|(_, pattern)| matches_pattern(pattern, path));
        let best = fitting.max_by_key(|(allows, pattern)| (pattern.len(), *allows));
        best.is_none_or(|(allows, _)| *allows)
    }
}

/// The file without the line that the limit cut off: a part of `Disallow: /private` may be
/// `Disallow: /`.
fn whole_lines(file: &[u8]) -> &[u8] {
    if file.len() < FILE_BYTES_MAX {
        return file;
    }
    let end = file.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(0);
    &file[..end]
}

/// `*` matches any text, and a trailing `$` matches the end.
fn matches_pattern(pattern: &str, path: &str) -> bool {
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
        let rules = RobotsRules::parse(
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
            assert_eq!(rules.is_allowed(path), is_allowed, "{path}");
        }
    }

    #[test]
    fn what_is_kept_of_all_sites_is_bounded_in_bytes() {
        let longest = format!("User-agent: *\nDisallow: /{}\n", "a".repeat(FILE_BYTES_MAX));
        assert_eq!(
            RobotsRules::parse(&longest).bytes(),
            0,
            "a rule that is longer than all may be"
        );
        let long = "Disallow: /".to_owned() + &"a".repeat(1_000) + "\n";
        let rules = RobotsRules::parse(&("User-agent: *\n".to_owned() + &long.repeat(400)));
        assert!((RULES_BYTES_MAX / 2..=RULES_BYTES_MAX).contains(&rules.bytes()));
        let robots = RobotsCache::default();
        for number in 0..2_048 {
            robots.cache_rules(format!("https://{number}.example.com"), rules.clone());
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
        let rules = RobotsRules::parse(text);
        assert!(rules.is_allowed("/y") && !rules.is_allowed("/x"));
        assert!(!RobotsRules::parse("User-agent: *\nDisallow: /\n").is_allowed("/y"));
        assert!(RobotsRules::parse("nonsense\n\u{0}:").is_allowed("/y"));
    }
}
