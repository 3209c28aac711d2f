//! `[scrape]`: how pages are fetched for a caller.

use std::path::PathBuf;

use money::{Per, Price};

use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;

pub const SECTION: Section = Section {
    name: "scrape",
    form: Form::One,
    doc: "How pages are fetched for a caller.",
    keys: &[
        Key::with_default(
            "chromium",
            Kind::Text,
            "\"auto\"",
            "The browser for pages that need one: `auto` looks for it, `off` does without, \
             or the full path of the program. Without one, pages that are empty until scripts \
             have filled them are errors and cost nothing; short pages that say something without \
             their scripts are read as they are.",
        ),
        Key::with_default(
            "sandbox",
            Kind::Flag,
            "true",
            "Whether the browser confines its pages, for which the kernel must allow user \
             namespaces. `false` is for containers that have none and confine it themselves.",
        ),
        Key::with_default(
            "respect_robots",
            Kind::Flag,
            "true",
            "Whether pages are left alone that a site's robots.txt closes to programs.",
        ),
        Key::with_default(
            "price_usd",
            Kind::Decimal,
            "\"0.01\"",
            "What a page costs, in USD; what fails costs nothing.",
        ),
        Key::with_default(
            "document_price_usd",
            Kind::Decimal,
            "\"0.01\"",
            "What the text of a file costs, in USD.",
        ),
        Key::with_default(
            "allow_private_addresses",
            Kind::Flag,
            "false",
            "Lets callers reach addresses of the private network. Only for tests.",
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
