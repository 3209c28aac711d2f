//! `[search]`: who answers when a model looks something up.

use super::HTTP;
use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;
use crate::secret::{Secret, Vault};

pub const SECTION: Section = Section {
    name: "search",
    form: Form::One,
    doc: "Who answers when a model looks something up on the web.",
    keys: &[
        Key::with_default(
            "provider",
            Kind::Choice(&["searxng", "brave", "tavily", "off"]),
            "\"off\"",
            "The search service.",
        ),
        Key::optional("url", Kind::Url(HTTP), "Where it answers; SearXNG needs it."),
        Key::optional(
            "api_key",
            Kind::Secret,
            "Brave and Tavily need one: `env:NAME` or `file:path`.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Search {
    Off,
    Searxng { url: String, api_key: Option<Secret> },
    Brave { url: Option<String>, api_key: Secret },
    Tavily { url: Option<String>, api_key: Secret },
}

pub(crate) fn read(reader: &Reader<'_>, vault: &Vault<'_>) -> Option<Search> {
    let provider = reader.choice("provider");
    let url = reader.url("url").map(|url| url.trim_end_matches('/').to_owned());
    let api_key = vault.secret(reader, "api_key");
    let provider = provider?;
    let needed = match provider {
        "searxng" => "url",
        "brave" | "tavily" => "api_key",
        _ => return Some(Search::Off),
    };
    if !reader.has(needed) {
        reader.fault("provider", format!("`{needed}` is missing in [search]: {provider} needs it"));
    }
    match provider {
        "searxng" => Some(Search::Searxng { url: url?, api_key }),
        "brave" => Some(Search::Brave { url, api_key: api_key? }),
        _ => Some(Search::Tavily { url, api_key: api_key? }),
    }
}
