//! `[scrape]`: fetching of web pages for callers.

use std::path::PathBuf;

use money::{Per, Price};

use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;

pub const SECTION: Section = Section {
    name: "scrape",
    form: Form::One,
    doc: "Fetching of web pages for callers.",
    keys: &[
        Key::with_default(
            "chromium",
            Kind::Text,
            "\"auto\"",
            "The browser for pages that need scripts: `auto` searches for it, `off` disables it, \
             or its full path. Without a browser, pages that are empty until scripts have filled \
             them fail and are not charged; short pages with text of their own are read as they \
             are.",
        ),
        Key::with_default(
            "sandbox",
            Kind::Flag,
            "true",
            "Uses the browser's sandbox, for which the kernel must allow user namespaces. Disable \
             it only in containers that have none and isolate the browser themselves.",
        ),
        Key::with_default(
            "respect_robots",
            Kind::Flag,
            "true",
            "Skips pages that a site's robots.txt disallows.",
        ),
        Key::with_default(
            "price_usd",
            Kind::Decimal,
            "\"0.01\"",
            "Price per page in USD. Failed pages are not charged.",
        ),
        Key::with_default(
            "document_price_usd",
            Kind::Decimal,
            "\"0.01\"",
            "Price per parsed document in USD.",
        ),
        Key::with_default(
            "allow_private_addresses",
            Kind::Flag,
            "false",
            "Allows callers to reach private addresses. For tests only.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scrape {
    pub chromium: Chromium,
    pub sandbox: bool,
    pub respect_robots: bool,
    pub price: Price,
    pub document_price: Price,
    pub allow_private_addresses: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chromium {
    Auto,
    Off,
    At(PathBuf),
}

pub(crate) fn read(reader: &Reader<'_>) -> Option<Scrape> {
    let chromium = reader.text("chromium").and_then(|written| chromium(reader, written));
    let (sandbox, respect_robots) = (reader.flag("sandbox"), reader.flag("respect_robots"));
    let one = |text: &str| Price::parse(text, Per::One);
    let price = reader.decimal("price_usd", one);
    let document_price = reader.decimal("document_price_usd", one);
    let allow_private_addresses = reader.flag("allow_private_addresses");
    Some(Scrape {
        chromium: chromium?,
        sandbox: sandbox?,
        respect_robots: respect_robots?,
        price: price?,
        document_price: document_price?,
        allow_private_addresses: allow_private_addresses?,
    })
}

fn chromium(reader: &Reader<'_>, written: String) -> Option<Chromium> {
    match written.as_str() {
        "auto" => Some(Chromium::Auto),
        "off" => Some(Chromium::Off),
        path if path.starts_with('/') => Some(Chromium::At(PathBuf::from(path))),
        _ => {
            let message = format!(
                "`chromium` in [scrape] must be \"auto\", \"off\" or a full path, not {written:?}"
            );
            reader.fault("chromium", message);
            None
        }
    }
}
