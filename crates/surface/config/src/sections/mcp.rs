//! `[mcp]` and `[[mcp_server]]`: servers of the Model Context Protocol whose tools models may call.

use std::time::Duration;

use money::Price;

use crate::key_type::{BASE_URL, FLAG, SECRET, TEXT, TEXTS, UNIT_PRICE, integer, seconds};
use crate::reader::TableReader;
use crate::secret::SecretString;
use crate::section_table::config_section;

/// Labels are part of the names of functions, which have at most 64 characters.
const LABEL_CHARS_MAX: usize = 32;

config_section! {
    /// Tools of MCP servers that models call.
    #[section(One, "mcp")]
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct McpConfig {
        /// Lets callers name servers of their own, by a public https URL. The service then sends
        /// requests to addresses that callers choose, with what a model wrote.
        allow_caller_servers: bool = FLAG, default(false);
        /// Timeout of one call of a tool.
        "call_timeout_s" => call_timeout: Duration = seconds(1, 600), default(60);
        /// Timeout of finding out a server's version and listing its tools.
        "list_timeout_s" => list_timeout: Duration = seconds(1, 600), default(30);
        /// The maximum number of calls in a response. Callers may ask for fewer.
        max_calls: u64 = integer(1, 1000), default(20);
    }
}

config_section! {
    /// An MCP server whose tools callers may use by its label.
    #[section(Many, "mcp_server")]
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct McpServerConfig {
        /// The name that callers use: letters, digits, `-` and `_`.
        label: String = TEXT, required, parse(check_label);
        /// The URL of its streamable HTTP endpoint. It may be inside the operator's network.
        url: String = BASE_URL, required;
        /// The bearer token sent to it, as `env:NAME` or `file:path`.
        authorization: Option<SecretString> = SECRET, optional;
        /// Text for callers, and for models that search for tools.
        description: Option<String> = TEXT, optional;
        /// The tools that callers may use. Default: all.
        allowed_tools: Option<Vec<String>> = TEXTS, optional;
        /// Price of a successful call in USD. Failed calls are not charged.
        "price_per_call_usd" => price_per_call: Option<Price> = UNIT_PRICE, optional;
        /// Set if calls cost nothing. Otherwise `price_per_call_usd` is required.
        free: bool = FLAG, default(false);
    }
    check check_price(price_per_call, free);
}

impl McpServerConfig {
    /// The price of a successful call.
    pub fn price(&self) -> Price {
        self.price_per_call.unwrap_or(Price::FREE)
    }
}

fn check_label(label: String) -> Result<String, String> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_');
    if label.is_empty() || LABEL_CHARS_MAX < label.len() || !label.chars().all(is_plain) {
        return Err(format!("must be at most {LABEL_CHARS_MAX} letters, digits, `-` or `_`"));
    }
    Ok(label)
}

/// Reports a missing price: nothing is free by accident.
fn check_price(reader: &TableReader<'_>, _price: Option<&Price>, free: Option<&bool>) {
    let (is_priced, is_free) = (reader.has_key("price_per_call_usd"), free == Some(&true));
    match (is_priced, is_free) {
        (true, true) => {
            let message = "`free = true` and `price_per_call_usd` contradict each other; leave one \
                           of them out";
            reader.report_fault("free", message.to_owned());
        }
        (false, false) => {
            let message = "`price_per_call_usd` is missing in [[mcp_server]]; write it, or \
                           `free = true`";
            reader.report_fault("price_per_call_usd", message.to_owned());
        }
        (true, false) | (false, true) => {}
    }
}
