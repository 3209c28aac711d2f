//! Lorebooks: facts about a character that are added to the prompt when a chat mentions their
//! keywords.

use serde_json::Value;

/// Further entries are ignored.
const ENTRIES_MAX: usize = 1_000;
const KEYS_MAX: usize = 50;
/// Defaults if the book does not set them.
const SCANNED_TURNS_DEFAULT: usize = 4;
const SCANNED_TURNS_MAX: usize = 50;
const BUDGET_TOKENS_DEFAULT: usize = 512;
const BUDGET_TOKENS_MAX: usize = 4_096;
/// An estimate that fits most languages.
const CHARS_PER_TOKEN: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lorebook {
    scanned_turns: usize,
    budget_tokens: usize,
    entries: Vec<LorebookEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct LorebookEntry {
    keys: Vec<String>,
    /// If not empty, one of these must occur too.
    second_keys: Vec<String>,
    content: String,
    is_case_sensitive: bool,
    is_constant: bool,
    /// Entries with lower values come first in the prompt.
    order: i64,
    /// Entries with lower values are dropped first if the budget is exceeded.
    priority: i64,
}

impl Lorebook {
    pub(crate) fn from_json(value: &Value) -> Option<Lorebook> {
        let number = |name: &str| value.get(name).and_then(Value::as_u64);
        let count = |name: &str| number(name).and_then(|it| usize::try_from(it).ok());
        let entries = value.get("entries")?;
        // V2 has an array; some programs write an object with numbers as keys.
        let listed: Vec<&Value> = match entries {
            Value::Array(entries) => entries.iter().collect(),
            Value::Object(entries) => entries.values().collect(),
            _ => return None,
        };
        let entries =
            listed.into_iter().take(ENTRIES_MAX).filter_map(LorebookEntry::from_json).collect();
        Some(Lorebook {
            scanned_turns: count("scan_depth")
                .unwrap_or(SCANNED_TURNS_DEFAULT)
                .clamp(1, SCANNED_TURNS_MAX),
            budget_tokens: count("token_budget")
                .unwrap_or(BUDGET_TOKENS_DEFAULT)
                .min(BUDGET_TOKENS_MAX),
            entries,
        })
    }

    /// Returns the entries whose keywords occur in the latest turns, within the book's budget and
    /// in its order.
    pub(crate) fn matching_entries(&self, turns: &[&str]) -> Vec<&str> {
        let latest = &turns[turns.len().saturating_sub(self.scanned_turns)..];
        let text = latest.join("\n");
        let lower = text.to_lowercase();
        let mut called: Vec<&LorebookEntry> =
            self.entries.iter().filter(|entry| entry.has_keyword_match(&text, &lower)).collect();
        called.sort_by_key(|entry| (!entry.is_constant, -entry.priority, entry.order));
        let mut left = self.budget_tokens;
        called.retain(|entry| {
            let tokens = entry.content.chars().count().div_ceil(CHARS_PER_TOKEN);
            let fits = tokens <= left;
            left -= if fits { tokens } else { 0 };
            fits
        });
        called.sort_by_key(|entry| entry.order);
        called.into_iter().map(|entry| entry.content.as_str()).collect()
    }
}

impl LorebookEntry {
    fn from_json(value: &Value) -> Option<LorebookEntry> {
        let flag = |name: &str| value.get(name).and_then(Value::as_bool);
        let number = |name: &str| value.get(name).and_then(Value::as_i64).unwrap_or(0);
        let keys = |name: &str| {
            let listed = value.get(name).and_then(Value::as_array);
            let keys = listed.into_iter().flatten().filter_map(Value::as_str);
            keys.map(str::trim)
                .filter(|key| !key.is_empty())
                .take(KEYS_MAX)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let content = value.get("content").and_then(Value::as_str)?.trim().to_owned();
        if flag("enabled") == Some(false) || content.is_empty() {
            return None;
        }
        let is_selective = flag("selective") == Some(true);
        Some(LorebookEntry {
            keys: keys("keys"),
            second_keys: if is_selective { keys("secondary_keys") } else { Vec::new() },
            content,
            is_case_sensitive: flag("case_sensitive") == Some(true),
            is_constant: flag("constant") == Some(true),
            order: number("insertion_order"),
            priority: number("priority"),
        })
    }

    fn has_keyword_match(&self, text: &str, lower: &str) -> bool {
        let is_in = |key: &String| {
            if self.is_case_sensitive {
                text.contains(key)
            } else {
                lower.contains(&key.to_lowercase())
            }
        };
        self.is_constant
            || (self.keys.iter().any(is_in)
                && (self.second_keys.is_empty() || self.second_keys.iter().any(is_in)))
    }
}
