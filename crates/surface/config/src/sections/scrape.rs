//! `[scrape]`: fetching of web pages for callers.

use std::path::PathBuf;

use money::Price;

use crate::key_type::{FLAG, TEXT, UNIT_PRICE};
use crate::section_table::config_section;

config_section! {
    /// Fetching of web pages for callers.
    #[section(One, "scrape")]
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ScrapeConfig {
        /// The browser for pages that need scripts: `auto` searches for it, `off` disables it,
        /// or its full path. Without a browser, pages that are empty until scripts have filled
        /// them fail and are not charged; short pages with text of their own are read as they
        /// are.
        chromium: ChromiumSetting = TEXT, default("auto"), parse(parse_chromium);
        /// Uses the browser's sandbox, for which the kernel must allow user namespaces. Disable
        /// it only in containers that have none and isolate the browser themselves.
        sandbox: bool = FLAG, default(true);
        /// Skips pages that a site's robots.txt disallows.
        respect_robots: bool = FLAG, default(true);
        /// Price per page in USD. Failed pages are not charged.
        "price_usd" => price: Price = UNIT_PRICE, default("0.01");
        /// Price per parsed document in USD.
        "document_price_usd" => document_price: Price = UNIT_PRICE, default("0.01");
        /// Allows callers to reach private addresses. For tests only.
        allow_private_addresses: bool = FLAG, default(false);
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChromiumSetting {
    Auto,
    Off,
    At(PathBuf),
}

fn parse_chromium(written: String) -> Result<ChromiumSetting, String> {
    match written.as_str() {
        "auto" => Ok(ChromiumSetting::Auto),
        "off" => Ok(ChromiumSetting::Off),
        path if path.starts_with('/') => Ok(ChromiumSetting::At(PathBuf::from(path))),
        _ => Err(format!("must be \"auto\", \"off\" or a full path, not {written:?}")),
    }
}
