//! `[scrape]`: fetching of web pages for callers.

use std::path::PathBuf;

use money::{Price, PriceUnits};

use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;

pub const SECTION: ConfigSection = ConfigSection {
    name: "scrape",
    form: SectionForm::One,
    doc: "Fetching of web pages for callers.",
    keys: &[
        ConfigKey::with_default(
            "chromium",
            ValueKind::Text,
            "\"auto\"",
            "The browser for pages that need scripts: `auto` searches for it, `off` disables it, \
             or its full path. Without a browser, pages that are empty until scripts have filled \
             them fail and are not charged; short pages with text of their own are read as they \
             are.",
        ),
        ConfigKey::with_default(
            "sandbox",
            ValueKind::Flag,
            "true",
            "Uses the browser's sandbox, for which the kernel must allow user namespaces. Disable \
             it only in containers that have none and isolate the browser themselves.",
        ),
        ConfigKey::with_default(
            "respect_robots",
            ValueKind::Flag,
            "true",
            "Skips pages that a site's robots.txt disallows.",
        ),
        ConfigKey::with_default(
            "price_usd",
            ValueKind::Decimal,
            "\"0.01\"",
            "Price per page in USD. Failed pages are not charged.",
        ),
        ConfigKey::with_default(
            "document_price_usd",
            ValueKind::Decimal,
            "\"0.01\"",
            "Price per parsed document in USD.",
        ),
        ConfigKey::with_default(
            "allow_private_addresses",
            ValueKind::Flag,
            "false",
            "Allows callers to reach private addresses. For tests only.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScrapeConfig {
    pub chromium: ChromiumSetting,
    pub sandbox: bool,
    pub respect_robots: bool,
    pub price: Price,
    pub document_price: Price,
    pub allow_private_addresses: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChromiumSetting {
    Auto,
    Off,
    At(PathBuf),
}

pub(crate) fn read_scrape_config(reader: &TableReader<'_>) -> Option<ScrapeConfig> {
    let chromium = reader.text("chromium").and_then(|written| parse_chromium(reader, written));
    let (sandbox, respect_robots) = (reader.flag("sandbox"), reader.flag("respect_robots"));
    let one = |text: &str| Price::parse(text, PriceUnits::One);
    let price = reader.decimal("price_usd", one);
    let document_price = reader.decimal("document_price_usd", one);
    let allow_private_addresses = reader.flag("allow_private_addresses");
    Some(ScrapeConfig {
        chromium: chromium?,
        sandbox: sandbox?,
        respect_robots: respect_robots?,
        price: price?,
        document_price: document_price?,
        allow_private_addresses: allow_private_addresses?,
    })
}

fn parse_chromium(reader: &TableReader<'_>, written: String) -> Option<ChromiumSetting> {
    match written.as_str() {
        "auto" => Some(ChromiumSetting::Auto),
        "off" => Some(ChromiumSetting::Off),
        path if path.starts_with('/') => Some(ChromiumSetting::At(PathBuf::from(path))),
        _ => {
            let message = format!(
                "`chromium` in [scrape] must be \"auto\", \"off\" or a full path, not {written:?}"
            );
            reader.report_fault("chromium", message);
            None
        }
    }
}
